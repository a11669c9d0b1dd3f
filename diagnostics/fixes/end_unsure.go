package fixes

import (
	"slices"
	"strings"

	"mem/core/memfile"
)

// endUnsure reports whether what is taken for the closing fence of a topic may be a
// rule further down in its body, so that its frontmatter may hold text of the body:
// a blank line is followed by something that need not be YAML of the frontmatter. No
// key of such a file is changed before its fence is mended.
func endUnsure(f *memfile.File) bool {
	if f.Front == nil || f.Front.YAML.Len() == 0 || !strings.Contains(f.Text.Slice(f.Front.YAML), "\n") {
		return false
	}
	t := f.Text
	line := func(i int) string { return strings.TrimRight(t.Slice(t.Line(i)), " \t\r") }
	first, fence := t.LineAt(f.Front.YAML.Start), t.LineAt(f.Front.YAML.End-1)+1
	rule := fence > first && line(fence-1) == "" // as above a rule; frontmatter ends with a key
	seen := map[string]bool{}
	var last value
	blank, comment := false, false // a blank line is above; and a comment, perhaps a heading
	for i := first; i < fence; i++ {
		l := line(i)
		trimmed := strings.TrimLeft(l, " \t")
		indent := len(l) - len(trimmed)
		if trimmed == "" {
			blank = true
			continue
		}
		if last.goesOn(trimmed, indent) {
			blank = false
			continue
		}
		name, v, isKey := cutKey(trimmed)
		item := trimmed == "-" || strings.HasPrefix(trimmed, "- ")
		switch {
		case trimmed[0] == '#':
			comment = comment || blank && indent == 0
			continue
		case !blank && !rule:
		case isKey && indent > 0:
			if !last.empty && indent != last.indent {
				return true
			}
		case !isKey:
			if blank || !last.empty || !item {
				return true
			}
		case slices.Contains(clientKeys, name):
			if blank && seen[name] { // a body that talks of a key
				return true
			}
		case !word(name) || blank && rule:
			return true
		}
		if isKey {
			last = valueOfKey(v, indent)
			if indent == 0 {
				seen[name] = true
			}
		}
		blank, comment = false, false
	}
	return comment && rule
}

// value is how the value of a key goes on below its line.
type value struct {
	indent int
	empty  bool // keys or items may follow
	text   bool // a block scalar, or a string whose quote is open: all that is indented deeper
	quote  byte
}

func valueOfKey(v string, indent int) value {
	out := value{indent: indent, empty: v == "" || v[0] == '#'}
	switch {
	case v == "":
	case isBlock(v):
		out.text = true
	case v[0] == '"' || v[0] == '\'':
		if n := valueLen(v); n < 2 || v[n-1] != v[0] {
			out.text, out.quote = true, v[0]
		}
	}
	return out
}

// goesOn reports whether a line is text of the value.
func (v *value) goesOn(trimmed string, indent int) bool {
	if !v.text || indent <= v.indent {
		return false
	}
	if v.quote != 0 && trimmed[len(trimmed)-1] == v.quote {
		v.text = false
	}
	return true
}
