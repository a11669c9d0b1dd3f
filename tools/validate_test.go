package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestResultsAreHeldAgainstTheirSchema(t *testing.T) {
	v := &validator{name: "x", schema: schema{req("path", str("")), opt("kind", choice("", "a", "b")), opt("list", list("", schema{req("n", integer(""))}.nested("")))}.object()}
	long := strings.Repeat(`a "quoted" \ text `, 20)
	for _, c := range []struct {
		value any
		wrong string
	}{
		{map[string]any{"path": long, "kind": "a", "list": []any{map[string]any{"n": 1}}}, ""},
		{map[string]any{"path": long, "kind": long}, "kind"},
		{map[string]any{"path": 1}, "path"},
		{map[string]any{"kind": "a"}, "path"},
		{map[string]any{"path": "", long: 1}, "additional"},
		{map[string]any{"path": "", "list": []any{map[string]any{"n": "1"}}}, "list"},
	} {
		b, err := json.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		err = v.checkResult(b)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", b, err)
		}
	}
}

// Emptying long strings changes nothing else of a JSON text.
func TestTextsAreLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.MapOf(rapid.StringN(0, 20, 40), rapid.SliceOf(rapid.OneOf(
			rapid.String().AsAny(), rapid.StringOf(rapid.SampledFrom([]rune{'"', '\\', 'a', '{', '中'})).AsAny(), rapid.Int32().AsAny(), rapid.Bool().AsAny()))).Draw(t, "value")
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string][]any
		if err := json.Unmarshal(withoutTexts(b), &got); err != nil {
			t.Fatalf("%s: %v", withoutTexts(b), err)
		}
		for k, items := range value {
			if enc, _ := json.Marshal(k); k == "" || len(enc) > longText {
				continue // a long name is emptied, too, and takes the place of an empty one
			}
			if len(got[k]) != len(items) {
				t.Fatalf("%q: %v", k, got[k])
			}
			for i, it := range items {
				if s, ok := it.(string); ok {
					if enc, _ := json.Marshal(s); len(enc)-1 > longText {
						it = ""
					}
					if got[k][i] != it {
						t.Fatalf("%q is %q", it, got[k][i])
					}
				}
			}
		}
	})
	for _, s := range []string{"", `"`, `"\`, `"a`, `{"a":"\"`} {
		withoutTexts([]byte(s))
	}
}
