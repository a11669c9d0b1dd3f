package fixes

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// InsertStructure is the ID of the fix.
const InsertStructure = "insert-structure"

// What InsertStructure is to add.
const (
	StructureWhy  = "why"
	StructureHow  = "how"
	StructureBoth = "why,how"
)

func insertStructure() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      InsertStructure,
		Summary: "Adds the lines that say why and how to apply a memory.",
		Manual:  true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			why, how := "**Why:** ", "**How to apply:** "
			if chinese(d.File.BodyText()) {
				why, how = "**原因：** ", "**如何应用：** "
			}
			var lines []string
			switch arg {
			case StructureWhy:
				lines = []string{why}
			case StructureHow:
				lines = []string{how}
			case StructureBoth:
				lines = []string{why, how}
			default:
				return change.Change{}, fmt.Errorf("%q is not one of %s, %s and %s", arg, StructureWhy, StructureHow, StructureBoth)
			}
			return edit(f.Path, d.File.Text, appendLines(d.File.Text, lines))
		},
	}
}

// appendLines adds a paragraph at the end of a document. Whether that ends with a
// newline stays as it is.
func appendLines(t *text.Text, lines []string) text.Edit {
	eol := t.EOL()
	src := t.String()
	end := len(strings.TrimRight(src, " \t\r\n"))
	tail := src[end:]
	at := len(src)
	added := strings.Join(lines, eol)
	switch breaks := strings.Count(tail, "\n"); {
	case breaks == 0:
		added = eol + eol + added
	case breaks == 1:
		added = eol + added + eol
	default:
		added += eol
	}
	return text.Edit{Span: text.Span{Start: at, End: at}, New: added}
}

// chinese reports whether a text is written in Chinese characters more than in
// Latin letters; a word of these has some four letters.
func chinese(s string) bool {
	han, latin := 0, 0
	for _, r := range s {
		switch {
		case r < 0x80:
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				latin++
			}
		case unicode.Is(unicode.Han, r):
			han++
		}
	}
	return han > latin/4
}
