package fixes

import (
	"context"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// CloseFrontmatter is the ID of the fix.
const CloseFrontmatter = "close-frontmatter"

func closeFrontmatter() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      CloseFrontmatter,
		Summary: "Adds the closing fence of the frontmatter.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			e, ok := closeEdit(d.File)
			if !ok {
				return change.Change{}, errEndUnsure
			}
			return edit(f.Path, d.File.Text, e)
		},
	}
}

// OfferClose offers the fix for frontmatter without a closing fence, where its end
// is clear.
func OfferClose(f *memfile.File) []diagnostics.Offer {
	if _, ok := closeEdit(f); !ok {
		return nil
	}
	return []diagnostics.Offer{{Fix: CloseFrontmatter, Title: "Close the frontmatter after its last key"}}
}

// closeEdit gives the closing fence. It is certain only where the keys are still
// read as they were.
func closeEdit(f *memfile.File) (text.Edit, bool) {
	if f.Front == nil || f.Front.Closed && !hasProblem(f, memfile.Syntax) {
		return text.Edit{}, false
	}
	t := f.Text
	end, ok := frontEnd(t, t.LineAt(f.Front.YAML.Start))
	if !ok || f.Front.Closed && !closedByRule(f, end) {
		return text.Edit{}, false
	}
	at := t.FullLine(end - 1).End
	e := text.Edit{Span: text.Span{Start: at, End: at}, New: "---" + t.EOL()}
	if !strings.HasSuffix(t.String()[:at], "\n") {
		e.New = t.EOL() + "---"
	}
	g := memfile.Parse(t.String()[:at] + e.New)
	if g.Front == nil || !g.Front.Closed {
		return text.Edit{}, false
	}
	read := map[string]bool{"": true}
	for _, k := range g.Front.Keys {
		read[k.Name] = true
	}
	for _, k := range f.Front.Keys { // what was read of the start is read still
		if !read[k.Name] && (k.Span.Start < at || !f.Front.Closed) {
			return text.Edit{}, false
		}
	}
	return e, true
}

// closedByRule reports whether what was taken for the closing fence is a rule of the
// body, which starts at line end behind a blank line: a blank line stands above the
// rule too, and between the two text, and no key that memories have.
func closedByRule(f *memfile.File, end int) bool {
	t := f.Text
	fence := t.LineAt(max(f.Front.Span.End-1, 0))
	blank := func(i int) bool { return strings.Trim(t.Slice(t.Line(i)), " \t\r") == "" }
	if end+1 >= fence || !blank(end) || !blank(fence-1) {
		return false
	}
	text := false
	for i := end; i < fence; i++ {
		name, _, key := cutKey(strings.TrimRight(t.Slice(t.Line(i)), " \t\r"))
		if key && slices.Contains(clientKeys, name) {
			return false
		}
		text = text || !key && !blank(i)
	}
	return text
}

var clientKeys = append([]string{"name", "description", "type", memfile.MetadataKey}, memfile.Stamps...)

// frontEnd gives the line after the last one of frontmatter whose first line is
// first: keys, what continues them, and comments above a key. ok is false where the
// line behind might as well be a key as text.
func frontEnd(t *text.Text, first int) (end int, ok bool) {
	line := func(i int) string { return strings.TrimRight(t.Slice(t.Line(i)), " \t\r") }
	seen := map[string]bool{}
	open, block, blank := false, false, false // the value goes on below; as a block scalar; behind a blank line
	plain := false                            // the value is text without quotes
	for i := first; i < t.Lines(); i++ {
		l := line(i)
		trimmed := strings.TrimLeft(l, " \t")
		switch name, value, isKey := cutKey(l); {
		case trimmed == "":
			blank = true
			continue
		case isKey:
			switch known := slices.Contains(clientKeys, name); {
			case known && seen[name] && blank:
				return end, true // a body that talks of a key
			case known || !blank && word(name):
			case blank && !word(name):
				return end, end > 0
			default:
				return end, false
			}
			seen[name] = true
			plain = value != "" && strings.IndexByte("\"'>|&!*[{#", value[0]) < 0
			open, block = value == "" || value[0] == '>' || value[0] == '|', value != "" && (value[0] == '>' || value[0] == '|')
		case trimmed != l: // indented
			_, _, nestedKey := cutKey(trimmed)
			switch {
			case !blank || block:
			case open && nestedKey:
			case plain && strings.HasPrefix(trimmed, "- "): // no value goes on as a list
				return end, true
			default:
				return end, false
			}
		case trimmed[0] == '#':
			// A comment stands above a key; else it is the body's first heading.
			j := i
			for j < t.Lines() && strings.HasPrefix(line(j), "#") {
				j++
			}
			if j == t.Lines() {
				return end, end > 0
			}
			if name, _, isKey := cutKey(line(j)); !isKey || blank && !slices.Contains(clientKeys, name) {
				return end, end > 0
			}
			i = j - 1
			continue
		case open && !blank && (trimmed == "-" || strings.HasPrefix(trimmed, "- ")):
		default:
			return end, end > 0
		}
		end, blank = i+1, false
	}
	return end, end > 0
}

// cutKey splits a line "key: value" that is not indented.
func cutKey(l string) (name, value string, ok bool) {
	i := strings.IndexByte(l, ':')
	if i < 1 || strings.IndexByte(" \t#-?,[]{}&*!|>%@`<(", l[0]) >= 0 || i+1 < len(l) && l[i+1] != ' ' && l[i+1] != '\t' {
		return "", "", false
	}
	if name = strings.Trim(l[:i], `"' `); len(strings.Fields(name)) > 3 {
		return "", "", false
	}
	return name, strings.Trim(l[i+1:], " \t"), true
}

// word reports whether a key is written as keys are, and not as the start of a
// sentence: one word that starts with a small letter.
func word(name string) bool {
	return name != "" && name[0] >= 'a' && name[0] <= 'z' && !strings.ContainsAny(name, " \t")
}
