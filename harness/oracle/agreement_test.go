package oracle_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operator-assay/assay/harness/oracle"
)

func TestAgreements(t *testing.T) {
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	secret := func(password string) string { return fmt.Sprintf(`{"data":{"password":%q}}`, encoded(password)) }
	data := func(text string) string { return fmt.Sprintf(`{"data":{"value":%q}}`, text) }
	// The reference consists of three fault-free states with two objects each. The random value differs between these
	// states.
	same := func(of func(string) string) func(string) [2]string {
		return func(random string) [2]string { return [2]string{secret(random), of(random)} }
	}
	both := func(of func(string) string) func(string) [2]string {
		return func(random string) [2]string { return [2]string{of(random), of(random)} }
	}
	random := []string{"kX3vPq9LmN2c", "aB7dWz5RtY8u", "gH4jSe6FoK1i"}
	for name, test := range map[string]struct {
		state     func(random string) [2]string
		faulty    [2]string
		disagrees string
	}{
		"two Secrets differ":     {same(secret), [2]string{secret("one-value"), secret("another")}, "Secret/a data.password, B/b data.password"},
		"two Secrets are equal":  {same(secret), [2]string{secret("one-value"), secret("one-value")}, ""},
		"encoded and plain text": {same(data), [2]string{secret("one-value"), data("another")}, "Secret/a data.password, B/b data.value"},
		"encoded text is equal":  {same(data), [2]string{secret("x"), data("x\n")}, ""},
		"value in an encoded file": {
			same(func(r string) string { return secret("user: app\npassword: " + r + "\n") }),
			[2]string{secret("one-value"), secret("user: app\npassword: another\n")}, "Secret/a data.password, B/b data.password",
		},
		"URL with an equal value": { // the value also starts the word "postgres"
			same(func(r string) string { return data("postgres://app:" + r + "@db/app") }),
			[2]string{secret("post"), data("postgres://app:post@db/app")}, "",
		},
		"encoded value in a file": {
			same(func(r string) string { return data("auth: " + encoded(r)) }),
			[2]string{secret("one-value"), data("auth: " + encoded("another"))}, "Secret/a data.password, B/b data.value",
		},
		"encoded twice": {
			same(func(r string) string { return secret(encoded(r)) }),
			[2]string{secret("one-value"), secret(encoded("another"))}, "Secret/a data.password, B/b data.password",
		},
		"six characters":             {func(r string) [2]string { return same(data)(r[:6]) }, [2]string{secret("one-value"), data("another")}, "Secret/a data.password, B/b data.value"},
		"five characters":            {func(r string) [2]string { return same(data)(r[:5]) }, [2]string{secret("one-value"), data("another")}, ""},
		"start of a longer word":     {same(func(r string) string { return data(r + "x") }), [2]string{secret("one-value"), data("another")}, ""},
		"end of a longer word":       {same(func(r string) string { return data("1" + r) }), [2]string{secret("one-value"), data("another")}, ""},
		"values with the same end":   {same(data), [2]string{secret("ax"), data("x")}, "Secret/a data.password, B/b data.value"},
		"value of B/b is missing":    {same(secret), [2]string{secret("one-value"), `{"data":{}}`}, ""},
		"value of Secret/a is null":  {same(data), [2]string{`{"data":{"password":null}}`, data("one-value")}, ""},
		"values that are not equal":  {func(r string) [2]string { return [2]string{secret(r), secret(r[6:] + r[:6])} }, [2]string{secret("one-value"), secret("another")}, ""},
		"values that are not random": {func(string) [2]string { return [2]string{secret("password"), secret("password")} }, [2]string{secret("one-value"), secret("another")}, ""},
		"times and counts":           {both(func(r string) string { return data(fmt.Sprint(1764250000 + int(r[0]))) }), [2]string{data("1764250001"), data("1764250002")}, ""},
		"placeholders":               {both(func(r string) string { return data("<uid of Job " + r + ">") }), [2]string{data("<uid of Job a>"), data("<uid of Job b>")}, ""},
		"phase that varies by chance": {both(func(r string) string {
			return data(map[bool]string{true: "Pending", false: "Running"}[r == random[1]])
		}), [2]string{data("Pending"), data("Running")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := func(objects [2]string) oracle.Snapshot {
				return oracle.Snapshot{"Secret/a": objects[0], "B/b": objects[1]}
			}
			var n oracle.Nondeterminism
			var states []oracle.Snapshot
			for _, r := range random {
				states = append(states, snapshot(test.state(r)))
				n.Learn(states[0], states[len(states)-1])
			}
			var got []string
			for _, broken := range n.Disagreements(n.Agreements(states...), snapshot(test.faulty)) {
				for _, field := range append(broken.Others, broken.Value) {
					got = append(got, field.String())
				}
			}
			slices.Sort(got)
			slices.Reverse(got)
			if joined := strings.Join(got, ", "); joined != test.disagrees {
				t.Errorf("got a disagreement of %q, want %q", joined, test.disagrees)
			}
		})
	}
}

// A generated value may contain special characters, which are escaped in URLs. Some runs may generate none.
func TestEscapedValuesAgree(t *testing.T) {
	const special, other = "a+b%c&d e", "x/y=z"
	random := []string{"kX3vPq9LmN2c", "aB7dWz5RtY8u", "gH4jSe6FoK1i"}
	ofURL := func(value string) string { return "postgres://" + url.UserPassword("app", value).String() + "@db" }
	ofBase64 := func(value string) string { return base64.URLEncoding.EncodeToString([]byte(value)) }
	verbatim := func(value string) string { return value }
	forURLs := strings.NewReplacer("+", "-", "/", "_").Replace // the bytes are not text
	for name, test := range map[string]struct {
		text         func(string) string
		random       []string
		value, other string
		disagrees    bool
	}{
		"plain values in a URL agree":           {ofURL, random, "one-value", "one-value", false},
		"plain values in a URL differ":          {ofURL, random, "one-value", "another", true},
		"value decodes to bytes, not text":      {ofURL, random, "football", "another", true},
		"value decodes to a control character":  {ofURL, random, "a2V5AWFi", "another", true},
		"special characters in a URL":           {ofURL, random, special, special, false},
		"an escaped query parameter":            {url.QueryEscape, random, special, special, false},
		"an escaped path":                       {url.PathEscape, random, special, special, false},
		"base64 for URLs agrees":                {ofBase64, random, "one-value???", "one-value???", false},
		"base64 for URLs differs":               {ofBase64, random, "one-value", "another", true},
		"special characters sometimes":          {verbatim, append(random[:2:2], special), special, other, true},
		"special characters for the first time": {verbatim, random, special, other, true},
		"base64 of bytes agrees":                {forURLs, random, "kX3+Pq9/mN2c", "kX3+Pq9/mN2c", false},
	} {
		for _, object := range []string{"Before/b", "Web/b"} { // the Agreement's Value is the first object of the two
			t.Run(name+"/"+object, func(t *testing.T) {
				snapshot := func(value, other string) oracle.Snapshot {
					return oracle.Snapshot{"Secret/a": fmt.Sprintf(`{"data":%q}`, value), object: fmt.Sprintf(`{"data":%q}`, test.text(other))}
				}
				var n oracle.Nondeterminism
				var states []oracle.Snapshot
				for i, value := range test.random {
					states = append(states, snapshot(value, value))
					n.Learn(states[0], states[i])
				}
				if got := n.Disagreements(n.Agreements(states...), snapshot(test.value, test.other)); len(got) > 0 != test.disagrees {
					t.Errorf("got %v, want a disagreement: %t", got, test.disagrees)
				}
			})
		}
	}
}

func TestAgreementsBetweenSeveralValues(t *testing.T) {
	const token = "eyJhbGciOiJIUzI1NiJ9.x" // base64 up to the period, as in a JWT
	var n oracle.Nondeterminism
	var states []oracle.Snapshot
	for i, r := range []string{"kX3vPq9LmN2c", "aB7dWz5RtY8u", "gH4jSe6FoK1i"} {
		field := func(value string) string {
			return fmt.Sprintf(`{"v":%q,"status":{"conditions":[{"message":%q}]}}`, value, r)
		}
		states = append(states, oracle.Snapshot{
			"A/a": field(r), "B/b": field("url:" + r), "C/c": field("url:" + r), // the value precedes the longer texts
			"D/d": field(token + r), "E/e": field(token + r),
			"F/f": field("url:third" + r), "G/g": field("url:third" + r),
			// The text of F/f is not searched for in I/i, because its colon may be escaped.
			"H/h": field("third" + r), "I/i": field("of url:third" + r),
			"Pod/p": field(r), "ReplicaSet.apps/r": field(r), "Web/w #1": field(r), // textsOf omits these objects
		})
		n.Learn(states[0], states[i])
	}
	var got []string
	for _, agreement := range n.Agreements(states...) {
		got = append(got, fmt.Sprint(agreement.Value, agreement.Others))
	}
	want := []string{"A/a v [B/b v C/c v]", "B/b v [C/c v]", "D/d v [E/e v]", "F/f v [G/g v]", "H/h v [F/f v G/g v I/i v]"}
	if !slices.Equal(got, want) { // without the messages of conditions, which are not compared
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAgreementsWithinVaryingFields(t *testing.T) {
	state := oracle.Snapshot{"A/a": `{"map":{"v":"random"},"list":["random"],"text":"random","mapper":"random",".list":"random"}`}
	var n oracle.Nondeterminism
	n.Learn(state, oracle.Snapshot{"A/a": `{"mapper":"random",".list":"random"}`}) // map, list and text vary
	got := n.Agreements(state)
	if len(got) != 1 || fmt.Sprint(got[0].Value, got[0].Others) != "A/a list[0] [A/a map.v A/a text]" {
		t.Errorf("got %v, want one agreement of list[0] with map.v and text, because only these vary", got)
	}
}

func TestAgreementIgnoresListsWhoseOrderVaries(t *testing.T) {
	snapshot := func(random string) oracle.Snapshot {
		return oracle.Snapshot{"Secret/a": fmt.Sprintf(`{"data":{"value":%q}}`, random), "B/b": fmt.Sprintf(`{"args":["middle",%q]}`, random)}
	}
	states := []oracle.Snapshot{snapshot("kX3vPq9LmN2c"), snapshot("xB7dWz5RtY8u"), snapshot("zH4jSe6FoK1i")}
	var n, other oracle.Nondeterminism
	n.Learn(states[0], states[1])
	n.Learn(states[0], states[2])
	agreements := n.Agreements(states...)
	reordered := oracle.Snapshot{"Secret/a": `{"data":{"value":"another"}}`, "B/b": `{"args":["another","middle"]}`}
	if len(n.Disagreements(agreements, reordered)) == 0 {
		t.Fatal("got no disagreement, want one while the order is not known to vary")
	}
	other.Learn(oracle.Snapshot{"B/b": `{"args":["one","two"]}`}, oracle.Snapshot{"B/b": `{"args":["two","one"]}`})
	n.Adopt(&other)
	if got := n.Disagreements(agreements, reordered); len(got) > 0 {
		t.Errorf("got %v, want no disagreement", got)
	}
}

func TestTimesAreNotGeneratedValues(t *testing.T) {
	zone := time.FixedZone("CET", 3600) // "+0000" also matches the layouts with a named zone, but "+0100" does not
	const goTime = "2006-01-02 15:04:05.999999999 -0700 MST"
	for _, layout := range []string{time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate, time.RFC3339, goTime, goTime + " m=+0.012345"} {
		var n oracle.Nondeterminism
		var states []oracle.Snapshot
		for i := range 3 {
			object := fmt.Sprintf(`{"data":{"value":%q}}`, time.Date(2026, 2, 3, 4, 5, 6+i, 7, zone).Format(layout))
			states = append(states, oracle.Snapshot{"A/a": object, "B/b": object})
			n.Learn(states[0], states[i])
		}
		if got := n.Agreements(states...); len(got) > 0 {
			t.Errorf("%s: got %v, want no agreement", layout, got)
		}
	}
}
