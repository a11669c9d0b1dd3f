package model

import (
	"strings"
	"testing"
)

func TestVeil(t *testing.T) {
	const key, awkward = "sk-test-0123456789abcdef", "sk/+&=%\"<\\key-9"
	for name, c := range map[string]struct{ in, key, want string }{
		"whole":            {"no " + key + " here", key, "no [key] here"},
		"twice":            {key + key, key, "[key][key]"},
		"a beginning":      {"Incorrect API key provided: sk-test-0***********cdef.", key, "Incorrect API key provided: [key]***********cdef."},
		"at the end":       {"you sent sk-test-012345", key, "you sent [key]"},
		"too little of it": {"sk-test is a kind of key", key, "sk-test is a kind of key"},
		"in an address":    {"/v1?k=sk%2F%2B%26%3D%25%22%3C%5Ckey-9", awkward, "/v1?k=[key]"},
		"in JSON":          {`{"sent":"sk/+&=%\"<\\key-9"}`, awkward, `{"sent":"[key]"}`},
		"short key":        {"the key is abcd.", "abcd", "the key is [key]."},
		"a word":           {"the key is abc.", "abc", "the key is abc."},
		"no key":           {"text", "", "text"},
	} {
		if got := Veil(c.in, c.key, "[key]"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := Veil(strings.Repeat("x", 1<<20), key, "[key]"); len(got) != 1<<20 {
		t.Errorf("%d bytes", len(got))
	}
}
