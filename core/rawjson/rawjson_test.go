package rawjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mem/core/rawjson"
)

// valid are texts that are JSON; broken ones none.
var valid = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `-1.5e+3`, `1E9`, `true`, `false`, `null`, ` {"a" : [ 1 , {"b":"c"} ] , "":"" } `,
	`"\"\\\/\b\f\n\r\t\u00e9\uD83d\ude00"`, `"12345678\\"`, `"1234567\\\""`, `["\\","\\\""]`, `{"a":"}]\"{["}`, `{"\u0061":1,"a":2}`,
	"\"\x7f\xff\"", `[[[[[]]]],{"a":{"b":{}}}]`, "\t[\r\n1\n]", `"部署 😀 und noch mehr"`,
}

var broken = []string{
	``, ` `, `{`, `[`, `"`, `"\`, `"\"`, `"\\\"`, `"\x"`, `"\u12g4"`, `"\u123`, "\"\n\"", `01`, `-`, `1.`, `.5`, `1e`, `+1`, `tru`, `nul`, `{"a"}`, `{"a":}`,
	`{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1}}`, `[1]]`, `]`, `}`, `,`, `:`, `{"a":1]`, `[}`, `1 2`, `{"a"::1}`, `"a""b"`,
	`[[[`, `{"a":{"b":1}`, `{1:2}`,
}

func TestValid(t *testing.T) {
	var s rawjson.Scanner
	for _, text := range valid {
		if !json.Valid([]byte(text)) || !s.Valid([]byte(text)) {
			t.Errorf("%q is JSON", text)
		}
	}
	for _, text := range broken {
		if json.Valid([]byte(text)) || s.Valid([]byte(text)) {
			t.Errorf("%q is no JSON", text)
		}
	}
	for _, depth := range []int{9_999, 10_000, 10_001} {
		text := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		if got, want := s.Valid(text), json.Valid(text); got != want {
			t.Errorf("%d deep: %v, encoding/json says %v", depth, got, want)
		}
	}
}

// Both ways through a text, and encoding/json, find the same in each that is JSON.
func TestBothWaysAgree(t *testing.T) {
	for _, text := range slices.Concat(valid, broken) {
		agree(t, []byte(text))
	}
}

func FuzzRawJSON(f *testing.F) {
	for _, text := range slices.Concat(valid, broken) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agree(t, text) })
}

// agree holds what is found in a text against encoding/json. Of one that is no JSON, it holds that nothing panics, and that
// places lie in it.
func agree(t *testing.T, text []byte) {
	t.Helper()
	var s rawjson.Scanner
	ok := json.Valid(text)
	if got := s.Valid(text); got != ok {
		t.Fatalf("%q: Valid is %v, encoding/json says %v", text, got, ok)
	}
	for i := -1; i <= len(text); i++ {
		for name, end := range map[string]int{"Value": rawjson.Value(text, i), "String": rawjson.String(text, i)} {
			if end != -1 && (end <= i || end > len(text)) {
				t.Fatalf("%q: %s at %d gives %d", text, name, i, end)
			}
		}
	}
	from := rawjson.Space(text, 0)
	jumped := walked(text, from)
	if !ok {
		return
	}
	to := from + len(bytes.TrimSpace(text))
	if end := rawjson.Value(text, from); end != to {
		t.Fatalf("%q: Value gives %d, want %d", text, end, to)
	}
	checked := scanned(t, &s, text, from, 0)
	if jumped != checked {
		t.Fatalf("%q: the jumping walk found %s, the checking one %s", text, jumped, checked)
	}
	if want := decoded(t, text); checked != want {
		t.Fatalf("%q: found %s, encoding/json %s", text, checked, want)
	}
}

// walked writes down what lies at i: what is in an object or array one by one, each value as it stands.
func walked(text []byte, i int) string {
	if i >= len(text) {
		return "nothing"
	}
	var out strings.Builder
	end := -1
	switch text[i] {
	case '{':
		end = rawjson.Members(text, i, func(name, value []byte) bool {
			fmt.Fprintf(&out, "%q:%s,", rawjson.Unescape(slices.Concat([]byte{'"'}, name, []byte{'"'})), walked(value, 0))
			return true
		})
	case '[':
		end = rawjson.Elements(text, i, func(value []byte) bool {
			out.WriteString(walked(value, 0) + ",")
			return true
		})
	default:
		if end = rawjson.Value(text, i); end > 0 {
			out.Write(leaf(text[i:end]))
		}
	}
	if end < 0 {
		return "nothing"
	}
	return out.String()
}

func scanned(t *testing.T, s *rawjson.Scanner, text []byte, i, depth int) string {
	t.Helper()
	var out strings.Builder
	end := s.Value(text, i)
	var again int
	switch text[i] {
	case '{':
		again = s.Object(text, i, depth, func(key []byte, i int) int {
			end := s.Value(text, i)
			fmt.Fprintf(&out, "%q:%s,", key, scanned(t, &rawjson.Scanner{}, text, i, depth+1))
			return end
		})
	case '[':
		again = s.Array(text, i, depth, func(i int) int {
			end := s.Value(text, i)
			out.WriteString(scanned(t, &rawjson.Scanner{}, text, i, depth+1) + ",")
			return end
		})
	default:
		again = end
		out.Write(leaf(text[i:end]))
	}
	if again != end {
		t.Fatalf("%q: Value at %d ends at %d, its members at %d", text, i, end, again)
	}
	return out.String()
}

// leaf is a value that holds no other one: strings by their text, which may be written in several ways.
func leaf(value []byte) []byte {
	if value[0] == '"' {
		return fmt.Appendf(nil, "%q", rawjson.Text(value))
	}
	return value
}

// decoded writes down what encoding/json finds.
func decoded(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return next(t, d)
}

func next(t *testing.T, d *json.Decoder) string {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	switch v := token.(type) {
	case json.Delim:
		for d.More() {
			if v == '{' {
				name, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%q:", name)
			}
			out.WriteString(next(t, d) + ",")
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
	case string:
		fmt.Fprintf(&out, "%q", v)
	case nil:
		out.WriteString("null")
	default:
		fmt.Fprint(&out, v)
	}
	return out.String()
}

// What jumps over values still minds what stands between them.
func TestNoWalkTakesBroken(t *testing.T) {
	for _, text := range []string{`{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a"::1}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":1`, `{"a":1]`, `{`, ``, `[1]`, `{"a":"}`, `{"a":tr"ue"}`} {
		if end := rawjson.Members([]byte(text), 0, func(_, _ []byte) bool { return true }); end != -1 {
			t.Errorf("%q: the object ends at %d", text, end)
		}
	}
	for _, text := range []string{`[1,]`, `[,]`, `[1 2]`, `[1`, `[1}`, `[`, ``, `{}`, `["]`, `[1:2]`} {
		if end := rawjson.Elements([]byte(text), 0, func(_ []byte) bool { return true }); end != -1 {
			t.Errorf("%q: the array ends at %d", text, end)
		}
	}
	seen := 0
	if end := rawjson.Elements([]byte(`[1,2,3]`), 0, func(_ []byte) bool { seen++; return seen < 2 }); end != -1 || seen != 2 {
		t.Errorf("ended by the visit: %d, after %d", end, seen)
	}
	if end := rawjson.Members([]byte(`{"a":1,"b":2}`), 0, func(_, _ []byte) bool { seen++; return seen < 4 }); end != -1 || seen != 4 {
		t.Errorf("ended by the visit: %d, after %d", end, seen)
	}
}

func TestText(t *testing.T) {
	for value, want := range map[string]string{
		`"a"`: "a", `""`: "", `"\u0061\n"`: "a\n", "\"\xff\"": "\ufffd", `"a`: "", `"\x"`: "", `12`: "", `{"a":"b"}`: "", ``: "", `"`: "",
	} {
		if got := rawjson.Text([]byte(value)); got != want {
			t.Errorf("%q says %q, want %q", value, got, want)
		}
	}
	if rawjson.Unescape([]byte(`"\x"`)) != nil {
		t.Error("what is no string has a text")
	}
}

// A value that many brackets make deep is jumped over without a stack.
func TestJumpAllocatesNothing(t *testing.T) {
	deep := []byte(`{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"b":"` + strings.Repeat(`\\\"`, 1000) + `"}`)
	if n := testing.AllocsPerRun(10, func() {
		if rawjson.Value(deep, 0) != len(deep) || rawjson.Members(deep, 0, func(_, _ []byte) bool { return true }) != len(deep) {
			t.Error("it does not end where it ends")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
