package fixes

import (
	"strings"
	"testing"
	"time"

	"mem/core/memfile"
	"mem/internal/cputime"
)

func TestEndUnsure(t *testing.T) {
	for name, tt := range map[string]struct {
		yaml string
		want bool
	}{
		"keys":                     {"name: a\ntype: user\n", false},
		"blank lines between keys": {"name: a\n\ntype: user\n\nown: x\n", false},
		"above the fence":          {"name: a\nmetadata:\n  type: user\n\n", false},
		"a block":                  {"name: a\ndescription: |\n  one\n\n  two\ntype: user\n", false},
		"a string":                 {"name: \"a\n\n  b\"\ntype: user\n", false},
		"siblings":                 {"metadata:\n\n  a: x\n\n  b: y\n", false},
		"items":                    {"tags:\n- a\n- b\n\n", false},
		"a comment":                {"name: a\n\n# of two words\ntype: user\n", false},
		"text":                     {"name: a\n\nMore text.\n\n", true},
		"a text with a colon":      {"name: a\n\nDeploy: now\n", true},
		"a word with a colon":      {"name: a\n\ndeploy: now\n\n", true},
		"a list":                   {"name: a\n\n  - one\n", true},
		"a list at the margin":     {"name: a\ntype:\n\n- one\n", true},
		"a key again":              {"name: a\n\nname: is what one is called\n", true},
		"a heading":                {"name: a\n\n# Title\n\n", true},
		"no blank line but below":  {"name: a\nText.\n\n", true},
		"code":                     {"name: a\n\n    make: it\n", true},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			src := strings.ReplaceAll("---\n"+tt.yaml+"---\nRest\n", "\n", eol)
			if got := endUnsure(memfile.Parse(src)); got != tt.want {
				t.Errorf("%s, %q: %v", name, src, got)
			}
		}
	}
}

// To close frontmatter costs time in proportion to its keys.
func TestCloseIsLinear(t *testing.T) {
	f := memfile.Parse("---\n" + strings.Repeat("name: a\n", 50_000))
	took := cputime.Of(t, func() {
		if _, ok := closeEdit(f); !ok {
			t.Error("it is not closed")
		}
	})
	if took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}
