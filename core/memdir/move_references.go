package memdir

import (
	"path"
	"slices"
	"strings"

	"mem/core/memfile"
	"mem/core/text"
)

// references gives what else than a link in the body of a file leads to a file and can
// follow it. A footnote leads nowhere for most readers, and a URL stays.
func references(f *memfile.File, links []memfile.Link, outline func() memfile.Outline) []memfile.Reference {
	all := memfile.References(f.Text, f.Body, links, outline)
	return slices.DeleteFunc(all, func(r memfile.Reference) bool {
		return r.Path() == "" || r.Kind == memfile.Footnote || r.Kind == memfile.Autolink ||
			r.Kind == memfile.HTML && strings.ContainsAny(f.Text.Slice(r.Dest), ", \n") // "srcset" names several
	})
}

// retargetReferences is retarget for what is no link of Markdown.
func retargetReferences(f *memfile.File, links []memfile.Link, outline func() memfile.Outline, from, old, new string) []text.Edit {
	var edits []text.Edit
	for _, r := range references(f, links, outline) {
		if path.Join(path.Dir(from), r.Path()) == old {
			edits = append(edits, referenceEdit(f.Text, r, Relative(path.Dir(from), new)))
		}
	}
	return edits
}

// attribute writes a path as the value of an attribute, with quotation marks around it
// or without.
var attribute = strings.NewReplacer(append([]string{"&", "&amp;", `"`, "%22", "'", "%27", "`", "%60", "=", "%3D", "?", "%3F"},
	"%", "%25", "#", "%23", "<", "%3C", ">", "%3E", "\n", "%0A", "\r", "%0D", " ", "%20", "\t", "%09")...)

// referenceEdit is destEdit for a reference.
func referenceEdit(t *text.Text, r memfile.Reference, dest string) text.Edit {
	if r.Kind != memfile.HTML {
		return destEdit(t, r.Link, dest)
	}
	_, anchor := memfile.SplitDest(t.Slice(r.Dest))
	return text.Edit{Span: r.Dest, New: attribute.Replace(dest) + anchor}
}

// apart sorts edits and leaves out those that overlap others: a link may stand in the
// words of another.
func apart(edits []text.Edit) []text.Edit {
	slices.SortStableFunc(edits, func(a, b text.Edit) int { return a.Start - b.Start })
	var out []text.Edit
	for _, e := range edits {
		if n := len(out); n == 0 || out[n-1].End <= e.Start {
			out = append(out, e)
		}
	}
	return out
}
