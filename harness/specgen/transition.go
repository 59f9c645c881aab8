package specgen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operator-assay/assay/harness/diff"
)

// Transition is a change to a resource's spec.
type Transition struct {
	From, To map[string]any
	// Changed holds the sorted paths of the fields that differ. A list is a single field.
	Changed []string
}

// String returns a description such as "spec.image: nginx:1 → nginx:2, spec.replicas: absent → 3".
func (t Transition) String() string {
	var changes []string
	for _, field := range changedFields(t.From, t.To) {
		changes = append(changes, fmt.Sprintf("%s: %s → %s", field.Path, show(field.From), show(field.To)))
	}
	return strings.Join(changes, ", ")
}

// Transitions returns at most limit different transitions that the schema and its CEL rules allow. Each of the first ones
// changes a different field of the usual spec. The remaining ones are random changes of several fields. The result
// depends only on the schema and the seed.
func (s *Schema) Transitions(seed uint64, limit int) []Transition {
	random := rand.New(rand.NewPCG(seed, 0))
	chosen := collection{rules: s.rules, limit: limit, seen: map[string]bool{}}
	moves := make([][]move, len(s.fields))
	for i, f := range s.fields {
		moves[i] = f.moves(random)
	}
	for round, left := 0, true; left && !chosen.full(); round++ {
		left = false
		for i, f := range s.fields {
			if round < len(moves[i]) {
				left = true
				chosen.add(f.with(f.context, moves[i][round].from), f.with(f.context, moves[i][round].to))
			}
		}
	}
	var movable []*field
	for _, f := range s.fields {
		if len(f.choices) > 1 {
			movable = append(movable, f)
		}
	}
	for tries := 0; len(movable) > 1 && tries < triesPerPair*limit && !chosen.full(); tries++ {
		chosen.add(s.combine(movable, random), s.combine(movable, random))
	}
	return chosen.transitions
}

const (
	// triesPerPair limits the number of random attempts for each requested transition.
	triesPerPair = 20
	// combined is the maximum number of fields that a random spec sets. Few bugs need more than two fields.
	combined = 5
)

type move struct{ from, to any }

func (f *field) moves(random *rand.Rand) []move {
	var found []move
	for i, from := range f.choices {
		for j, to := range f.choices {
			if i != j {
				found = append(found, move{from, to})
			}
		}
	}
	random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	return found
}

func (s *Schema) combine(movable []*field, random *rand.Rand) any {
	spec := s.fields[0].values[0]
	for range 1 + random.IntN(combined) {
		f := movable[random.IntN(len(movable))]
		if next := f.with(spec, f.choices[random.IntN(len(f.choices))]); s.rules.check(next) == nil {
			spec = next
		}
	}
	return spec
}

type collection struct {
	rules       schemaValidator
	limit       int
	seen        map[string]bool
	transitions []Transition
}

func (c *collection) full() bool { return len(c.transitions) >= c.limit }

func (c *collection) add(from, to any) {
	before, after := asObject(from), asObject(to)
	key := keyOf([]any{before, after})
	found := changedFields(before, after)
	if c.full() || c.seen[key] || len(found) == 0 || !c.rules.allows(before, after) {
		return
	}
	c.seen[key] = true
	var changed []string
	for _, field := range found {
		changed = append(changed, field.Path)
	}
	c.transitions = append(c.transitions, Transition{From: before, To: after, Changed: changed})
}

func asObject(spec any) map[string]any {
	object, _ := runtime.DeepCopyJSONValue(spec).(map[string]any)
	return object
}

func changedFields(from, to map[string]any) []diff.Field {
	return diff.Comparison{WholeLists: true}.Fields(specField, from, to)
}

const maxShown = 40 // characters of a value

func show(value any) string {
	if value == absent {
		return "absent"
	}
	text := keyOf(value)
	if word, isText := value.(string); isText {
		text = fmt.Sprintf("%q", word)
	}
	if runes := []rune(text); len(runes) > maxShown {
		return fmt.Sprintf("%s… (%d characters)", string(runes[:maxShown]), len(runes))
	}
	return text
}
