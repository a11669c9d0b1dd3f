package change

import (
	"github.com/aymanbagabas/go-udiff"

	"mem/core/text"
)

// maxLineDiff is the size past which texts are compared as a whole: a diff by lines
// of larger ones takes seconds where nothing is alike.
const maxLineDiff = 1 << 20

// Lines gives the edits, line by line, that turn from into to.
func Lines(from, to string) []text.Edit {
	if from == to {
		return nil
	}
	if len(from) > maxLineDiff || len(to) > maxLineDiff {
		return text.Diff(from, to)
	}
	var edits []text.Edit
	for _, e := range udiff.Lines(from, to) {
		edits = append(edits, text.Edit{Span: text.Span{Start: e.Start, End: e.End}, New: e.New})
	}
	if out, ok := text.Apply(from, edits); !ok || out != to {
		return text.Diff(from, to)
	}
	return edits
}
