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
	// Changed holds the sorted paths of the fields that differ. A list is treated as a single field.
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

// Transitions returns at most limit different transitions that the schema and its CEL rules allow. Each transition
// changes one field. Every field is changed once before any field is changed again. The result depends only on the
// schema and the seed.
func (s *Schema) Transitions(seed uint64, limit int) []Transition {
	random := rand.New(rand.NewPCG(seed, 0))
	moves := make([][]move, len(s.fields))
	for i, f := range s.fields {
		moves[i] = f.moves(random)
	}
	var transitions []Transition
	seen := map[string]bool{}
	for round, left := 0, true; left; round++ {
		left = false
		for i, f := range s.fields {
			if len(transitions) == limit {
				return transitions
			}
			if round >= len(moves[i]) {
				continue
			}
			left = true
			from, to := asObject(f.with(f.context, moves[i][round].from)), asObject(f.with(f.context, moves[i][round].to))
			key, changed := keyOf([]any{from, to}), changedFields(from, to)
			if seen[key] || len(changed) == 0 || !s.rules.allows(from, to) {
				continue
			}
			seen[key] = true
			t := Transition{From: from, To: to}
			for _, field := range changed {
				t.Changed = append(t.Changed, field.Path)
			}
			transitions = append(transitions, t)
		}
	}
	return transitions
}

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
