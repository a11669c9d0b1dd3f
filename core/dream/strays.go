package dream

import (
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// without gives the edits that take out the entries of a topic with the details below them.
// Entries of others that stand below move to where the one that goes stood: else they would
// stand below the entry above.
func without(x *memfile.Index, path string) []text.Edit {
	var out []text.Edit
	gone := 0
	for _, e := range x.Remove(path) {
		if e.Start < gone {
			continue // a link among details that go
		}
		for _, at := range x.Entries {
			if at.Span != e.Span || e.New != "" {
				continue
			}
			e.End = max(e.End, detailsOf(x, at).End)
			gone = e.End
			if at.List {
				out = append(out, outdented(x, at, text.Span{Start: e.End, End: below(x, at)}, path)...)
			}
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b text.Edit) int { return a.Start - b.Start })
	return out
}

// outdented gives the edits that let lines which stood below an entry stand where it did.
func outdented(x *memfile.Index, e memfile.Entry, lines text.Span, path string) (out []text.Edit) {
	t := x.Text()
	less := -1
	for _, in := range x.Entries {
		if !in.List || in.Span.Start < lines.Start || in.Span.Start >= lines.End {
			continue
		}
		if in.Target == path {
			return nil // it goes, too, and what is below it
		}
		if n := in.Indent - e.Indent; less < 0 || n < less {
			less = n
		}
	}
	if less <= 0 {
		return nil
	}
	for i := t.LineAt(lines.Start); i < t.Lines() && t.Line(i).Start < lines.End; i++ {
		at := t.Line(i)
		if l := t.Slice(at); len(l)-len(strings.TrimLeft(l, " \t")) >= less {
			out = append(out, text.Edit{Span: text.Span{Start: at.Start, End: at.Start + less}})
		}
	}
	return out
}

// strays takes out of the index what stood below an entry that went and was left behind, so
// that it stands below the entry above, which is about something else: the topic that took
// in the one that went has it then; where none did, it goes with its entry.
func (r *result) strays() {
	if r.index == nil {
		return
	}
	for _, gone := range r.files {
		if gone.stays || len(listed(r.want, gone.Path)) > 0 {
			continue
		}
		for _, e := range listed(r.base, gone.Path) {
			lines, edits := r.straysOf(gone, e)
			after, ok := text.Apply(r.want.Text().String(), edits)
			if !ok || lines == "" {
				continue
			}
			if keep := r.keeperOf(gone); keep != nil {
				taken, ok := withDetails(keep.after, keep.Path, []string{lines})
				file, differs := change.EditFile(keep.Path, keep.before, change.Lines(keep.before, taken))
				if !ok || !differs {
					continue
				}
				keep.after, keep.File, keep.set = taken, file, nil
			}
			r.want = memfile.ParseIndex(after)
		}
	}
}

// keeperOf gives the topic that takes in one that goes, nil where none does.
func (r *result) keeperOf(gone *touchedFile) *touchedFile {
	var g []*touchedFile
	for _, f := range r.files {
		if f.root() == gone.root() {
			g = append(g, f)
		}
	}
	return keptOf(g)
}

// straysOf gives the lines below an entry of the base that the result left below the entry
// before it, and the edits that take them out of there.
func (r *result) straysOf(gone *touchedFile, e memfile.Entry) (lines string, edits []text.Edit) {
	own := map[string]bool{}
	for l := range strings.Lines(r.base.Text().Slice(detailsOf(r.base, e))) {
		own[strings.TrimSpace(l)] = true
	}
	if len(own) == 0 {
		return "", nil
	}
	above := "" // the entry before it that is there still
	for _, b := range r.base.Entries {
		if b.Span.Start >= e.Span.Start {
			break
		}
		if b.List && len(listed(r.want, b.Target)) > 0 {
			above = b.Target
		}
	}
	if f := r.by[above]; above == "" || f != nil && f.root() == gone.root() {
		return "", nil
	}
	had := map[string]bool{} // what was below that one before is its own
	for _, b := range listed(r.base, above) {
		for l := range strings.Lines(r.base.Text().Slice(detailsOf(r.base, b))) {
			had[strings.TrimSpace(l)] = true
		}
	}
	t := r.want.Text()
	for _, w := range listed(r.want, above) {
		at := detailsOf(r.want, w)
		for i := t.LineAt(at.Start); at.Len() > 0 && i < t.Lines() && t.Line(i).Start < at.End; i++ {
			l := t.Slice(t.Line(i))
			if said := strings.TrimSpace(l); own[said] && !had[said] {
				lines += strings.TrimRight(l, "\r\n") + "\n"
				edits = append(edits, text.Edit{Span: t.FullLine(i)})
			}
		}
	}
	return lines, edits
}
