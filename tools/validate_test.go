package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
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
		{map[string]any{"path": "", long: 1}, "there is no property"},
		{map[string]any{"path": "", "list": []any{map[string]any{"n": "1"}}}, `the property "list.0.n" must be of type integer, not string`},
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

// What is wrong with arguments is said in words that an agent can act on, all of it at once.
func TestArgumentsAreNamed(t *testing.T) {
	v := &validator{name: "x", schema: schema{
		req("path", str("")), req("b", boolean("")), opt("kind", choice("", "a", "b")), opt("n", atLeast("1", "")), opt("r", number("")),
		opt("top", `{"type":"integer","maximum":9}`), opt("any", `{"type":["string","null"]}`), opt("list", list("", schema{req("n", integer(""))}.nested(""))), opt("counts", `{"type":"object","additionalProperties":{"type":"integer"}}`),
	}.object()}
	for args, want := range map[string]string{
		`{"path":"","b":true}`: "",
		`{"path":"\"}","b":false,"kind":"\u0061","n":1,"r":1,"top":9e0,"any":null,"list":[{"n":1.0},{"n":-3}],"counts":{"x":1,"\"":2}}`: "",
		`{}`:                                            `the argument "path" is missing; the argument "b" is missing`,
		`[]`:                                            `the arguments must be of type object, not array`,
		`"{"`:                                           `the arguments must be of type object, not string`,
		`{"path":1,"b":"x"}`:                            `the argument "path" must be of type string, not number; the argument "b" must be of type boolean, not string`,
		`{"path":{"a":[]},"b":[1,{}]}`:                  `the argument "path" must be of type string, not object; the argument "b" must be of type boolean, not array`,
		`{"path":"","b":null,"pth":1,"<":2}`:            `the argument "b" must be of type boolean, not null; there is no argument "pth", "<"`,
		`{"path":"","b":true,"kind":"c"}`:               `the argument "kind" is "c"; it must be one of "a", "b"`,
		`{"path":"","b":true,"kind":1}`:                 `the argument "kind" must be of type string, not number; the argument "kind" is "1"; it must be one of "a", "b"`,
		`{"path":"","b":true,"n":0}`:                    `the argument "n" is 0; it must be at least 1`,
		`{"path":"","b":true,"n":1.5}`:                  `the argument "n" must be of type integer, not number`,
		`{"path":"","b":true,"n":-1e400}`:               `the argument "n" must be of type integer, not number`,
		`{"path":"","b":true,"top":10}`:                 `the argument "top" is 10; it must be at most 9`,
		`{"path":"","b":true,"any":1}`:                  `the argument "any" must be of type string or null, not number`,
		`{"path":"","b":true,"list":[{"n":1},{}]}`:      `the argument "list.1.n" is missing`,
		`{"path":"","b":true,"list":[{"n":1,"m":2}]}`:   `there is no argument "m"`,
		`{"path":"","b":true,"counts":{"x":"1","y":2}}`: `the argument "counts.x" must be of type integer, not string`,
	} {
		err := v.check([]byte(args))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != "x: "+want) {
			t.Errorf("%s\n got %v\nwant %s", args, err, want)
		}
		if ok := reference(t, "x", v.schema).Validate(decoded(t, args)) == nil; ok != (want == "") {
			t.Errorf("%s: the reference says %v", args, ok)
		}
	}
}

func decoded(t interface{ Fatal(...any) }, text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(text, err)
	}
	return v
}

// However much is wrong, and however long it is, what is told stays short.
func TestFaultsAreBounded(t *testing.T) {
	v := &validator{name: "x", schema: schema{opt("a", list("", integer("")))}.object()}
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, `"%s%d":1,`, strings.Repeat("k", 500), i)
	}
	for _, args := range []string{
		`{"a":[` + strings.Repeat(`"x",`, 100_000) + `1]}`, `{` + strings.TrimSuffix(many.String(), ",") + `}`, `{"` + strings.Repeat("ä", 1<<20) + `":1}`,
	} {
		err := v.check([]byte(args))
		if err == nil || len(err.Error()) > 10_000 {
			t.Errorf("%.40s: %.200v", args, err)
		}
	}
	if err := v.check([]byte(`{"b":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`)); err == nil {
		t.Error("an unknown argument was let pass")
	}
}

// A demand that is not understood must not be taken for none.
func TestUnknownKeywordsAreRefused(t *testing.T) {
	for _, s := range []string{`{"pattern":"x"}`, `{"type":"text"}`, `{"type":["string","x"]}`, `{"enum":[1]}`, `{"required":["a"]}`, `{"properties":{"a":{"minLength":1}}}`,
		`{"items":{"$ref":"#"}}`, `{"additionalProperties":{"oneOf":[]}}`, `true`, `{`} {
		if _, err := newShape(json.RawMessage(s)); err == nil {
			t.Errorf("%s is understood", s)
		}
	}
}

// What is admitted is what JSON Schema says, for any schema of the keywords that are known.
func TestChecksAgreeWithTheReference(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", `q"\`, "<é>"})
	words := rapid.SampledFrom([]string{"", "x", `"`, `\`, `{"a":[`, "ü", strings.Repeat(`\"`, 40)})
	var shapes func(depth int) *rapid.Generator[map[string]any]
	shapes = func(depth int) *rapid.Generator[map[string]any] {
		return rapid.Custom(func(t *rapid.T) map[string]any {
			kinds := []string{"string", "choice", "integer", "number", "boolean", "null", "several", "any"}
			if depth > 0 {
				kinds = append(kinds, "array", "object", "object", "object")
			}
			switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
			case "any":
				return map[string]any{}
			case "several":
				return map[string]any{"type": rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"string", "null", "integer", "object", "array"}), 1, 3, rapid.ID).Draw(t, "types")}
			case "choice":
				return map[string]any{"type": "string", "enum": rapid.SliceOfNDistinct(words, 1, 3, rapid.ID).Draw(t, "enum")}
			case "integer", "number":
				s := map[string]any{"type": kind}
				if rapid.Bool().Draw(t, "bounded") {
					s["minimum"], s["maximum"] = rapid.IntRange(-2, 0).Draw(t, "min"), rapid.IntRange(0, 2).Draw(t, "max")
				}
				return s
			case "array":
				return map[string]any{"type": kind, "items": shapes(depth-1).Draw(t, "items")}
			case "object":
				props := map[string]any{}
				var required []string
				for _, name := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(t, "names") {
					props[name] = shapes(depth-1).Draw(t, "property")
					if rapid.Bool().Draw(t, "required") {
						required = append(required, name)
					}
				}
				s := map[string]any{"type": kind, "properties": props}
				if required != nil {
					s["required"] = required
				}
				switch rapid.IntRange(0, 2).Draw(t, "others") {
				case 0:
					s["additionalProperties"] = false
				case 1:
					s["additionalProperties"] = shapes(depth-1).Draw(t, "other")
				}
				return s
			default:
				return map[string]any{"type": kind}
			}
		})
	}
	var values func(depth int) *rapid.Generator[any]
	values = func(depth int) *rapid.Generator[any] {
		plain := []*rapid.Generator[any]{words.AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil), rapid.IntRange(-3, 3).AsAny(),
			rapid.SampledFrom([]json.Number{"1.0", "1.5", "1e1", "-0.0", "25e-1", "10e-1", "123456789012345678901234567890"}).AsAny()}
		if depth > 0 {
			plain = append(plain, rapid.SliceOfN(values(depth-1), 0, 3).AsAny(), rapid.MapOfN(names, values(depth-1), 0, 3).AsAny(), rapid.MapOfN(names, values(depth-1), 1, 4).AsAny())
		}
		return rapid.OneOf(plain...)
	}
	// meant draws a value that nearly meets a schema.
	var meant func(t *rapid.T, s map[string]any) any
	meant = func(t *rapid.T, s map[string]any) any {
		if rapid.IntRange(0, 11).Draw(t, "off") == 0 {
			return values(2).Draw(t, "value")
		}
		switch kind := s["type"]; kind {
		case "object":
			out := map[string]any{}
			for name, inner := range s["properties"].(map[string]any) {
				if rapid.IntRange(0, 7).Draw(t, "left out") > 0 {
					out[name] = meant(t, inner.(map[string]any))
				}
			}
			return out
		case "array":
			out := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				out = append(out, meant(t, s["items"].(map[string]any)))
			}
			return out
		case "string":
			if enum, ok := s["enum"].([]string); ok {
				return rapid.SampledFrom(enum).Draw(t, "word")
			}
			return words.Draw(t, "word")
		case "integer", "number":
			return rapid.IntRange(-2, 2).Draw(t, "number")
		case "boolean":
			return true
		case "null":
			return nil
		}
		return values(2).Draw(t, "value")
	}
	valid, wrong := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		drawn := shapes(3).Draw(rt, "schema")
		text, err := json.Marshal(drawn)
		if err != nil {
			rt.Fatal(err)
		}
		s, err := newShape(text)
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		ref := reference(t, "drawn", text)
		for range 5 {
			b, err := json.Marshal(meant(rt, drawn))
			if err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "spread out") {
				var spread bytes.Buffer
				if err := json.Indent(&spread, b, " ", "\t"); err != nil {
					rt.Fatal(err)
				}
				b = spread.Bytes()
			}
			said, err := s.check(b, "property")
			refused := ref.Validate(decoded(rt, string(b)))
			if err != nil || (said == "") != (refused == nil) {
				rt.Fatalf("%s\nof %s\nours: %q %v\nreference: %v", b, text, said, err, refused)
			}
			if refused == nil {
				valid++
			} else {
				wrong++
			}
		}
	})
	if valid < 50 || wrong < 50 {
		t.Errorf("%d valid values and %d others are too few to say anything", valid, wrong)
	}
}

// A check reads anything, ends, and takes no JSON for broken.
func FuzzCheck(f *testing.F) {
	s, err := newShape(schema{req("a", str("")), opt("b", list("", schema{req("n", integer(""))}.nested(""))), opt("c", choice("", "x")), opt("d", `{"additionalProperties":{"type":"number"}}`)}.object())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", `"`, `"\`, `{`, `{"a"`, `{"a":`, `{"a":"`, `{"a":"x",`, `{"b":[`, `{"b":[{"n":1},`, `[[`, `]`, `{"a":"x"} x`, ` {"a" : "x" , "b" : [ ] } `, `{"c":"\u0078","d":{"\"":1e5}}`, `{"a":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if said, err := s.check(b, "property"); err != nil && json.Valid(b) {
			t.Errorf("%q: %q %v", b, said, err)
		}
	})
}

func BenchmarkCheckResult(b *testing.B) {
	v := &validator{name: "memory_read", schema: memoryRead().out.object()}
	text := strings.Repeat("The part is deployed on \"Tuesdays\" by the release team.\n", 36)
	encoded, err := json.Marshal(map[string]any{"path": "topic.md", "hash": strings.Repeat("a", 64), "text": text, "directory": "/home/x/memory"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = v.checkResult(encoded) // what it says is not measured
	}
}
