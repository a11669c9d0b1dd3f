package fixes

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// setKeys gives the change that gives keys of a topic their values, in the form
// of its file, or in that of its folder where it has none of its own.
func setKeys(s *diagnostics.Snapshot, path string, kvs ...memfile.KeyValue) (change.Change, error) {
	d, err := s.Doc(path)
	if err != nil {
		return change.Change{}, err
	}
	if endUnsure(d.File) {
		return change.Change{}, errEndUnsure
	}
	edits, err := d.File.SetKeys(kvs, s.View.Form())
	if err != nil {
		return change.Change{}, err
	}
	return edit(path, d.File.Text, edits...)
}

// CanSet reports whether a key of the file can be given a value without anything
// else of its frontmatter being rewritten, so that no fix is offered in vain.
func CanSet(f *memfile.File, name, value string) bool {
	if name == "" || value == "" || endUnsure(f) {
		return false
	}
	edits, err := f.SetKey(name, value, memfile.FormFlat)
	return err == nil && len(edits) > 0
}

// errChanged is what a fix says whose finding is not in the file any more.
var errChanged = errors.New("the file does not hold this any more; check it again")

// errEndUnsure is what a fix of a key says where the frontmatter may end above it.
var errEndUnsure = errors.New("it is not clear where the frontmatter ends; add a line --- after its last key")

// keyAt gives the key of the frontmatter whose value stands at a span, nil when
// there is none.
func keyAt(f *memfile.File, value text.Span) *memfile.Key {
	if f.Front == nil {
		return nil
	}
	for i := range f.Front.Keys {
		if k := &f.Front.Keys[i]; k.Raw == value {
			return k
		}
	}
	return nil
}

// valueEdit puts a scalar in place of the first n bytes of a key's value.
func valueEdit(t *text.Text, k *memfile.Key, n int, scalar string) text.Edit {
	if t.String()[k.Raw.Start-1] == ':' {
		scalar = " " + scalar
	}
	return text.Edit{Span: text.Span{Start: k.Raw.Start, End: k.Raw.Start + n}, New: scalar}
}

// valueLen gives how many bytes of a value as it is written are the value: what
// follows is a comment. Block scalars are taken whole.
func valueLen(raw string) int {
	lead := len(raw) - len(strings.TrimLeft(raw, " \t\r\n"))
	if lead == len(raw) || isBlock(raw[lead:]) {
		return len(raw)
	}
	if q := raw[lead]; q == '"' || q == '\'' {
		for i := lead + 1; i < len(raw); i++ {
			switch {
			case q == '"' && raw[i] == '\\':
				i++
			case raw[i] == q && q == '\'' && i+1 < len(raw) && raw[i+1] == q:
				i++
			case raw[i] == q:
				return i + 1
			}
		}
		return len(raw)
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && (i == 0 || strings.IndexByte(" \t\n", raw[i-1]) >= 0) {
			return len(strings.TrimRight(raw[:i], " \t\r\n"))
		}
	}
	return len(raw)
}

// isBlock reports whether a value is a block scalar: its text stands below a ">"
// or "|", and a "#" in it is text.
func isBlock(raw string) bool { return raw != "" && (raw[0] == '>' || raw[0] == '|') }

// Multiline reports whether a value takes more than one line of the file, or
// holds a line break. Comments below it are no part of it.
func Multiline(f *memfile.File, k *memfile.Key) bool {
	raw := f.Text.Slice(k.Raw)
	return strings.Contains(raw[:valueLen(raw)], "\n") || strings.ContainsAny(strings.TrimSpace(k.Value), "\r\n")
}

// isScalar reports whether a YAML parser takes the value of a key for text, not for
// a list or a mapping.
func isScalar(f *memfile.File, k *memfile.Key) bool {
	var n yaml.Node
	lines := strings.Split(f.Text.Slice(k.Span), "\n")
	for i, l := range lines { // a key below another one is indented
		lines[i] = l[min(k.Indent, len(l)-len(strings.TrimLeft(l, " \t"))):]
	}
	if yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &n) != nil || len(n.Content) != 1 {
		return false
	}
	m := n.Content[0]
	return m.Kind == yaml.MappingNode && len(m.Content) == 2 && m.Content[1].Kind == yaml.ScalarNode
}

// hasProblem reports whether parsing a file found a problem of that kind.
func hasProblem(f *memfile.File, code memfile.ProblemCode) bool {
	for _, p := range f.Problems {
		if p.Code == code {
			return true
		}
	}
	return false
}

// inQuotes quotes a value for the title of an offer.
func inQuotes(s string) string { return `"` + memdir.Shown(s, 60) + `"` }
