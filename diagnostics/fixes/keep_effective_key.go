package fixes

import (
	"context"
	"errors"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// KeepEffectiveKey is the ID of the fix.
const KeepEffectiveKey = "keep-effective-key"

func keepEffectiveKey() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      KeepEffectiveKey,
		Summary: "Keeps the one of several keys that readers take.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			edits, ok := keepEffective(d.File, arg)
			if !ok {
				return change.Change{}, errors.New("the keys cannot be told apart safely; remove one of them by hand")
			}
			return edit(f.Path, d.File.Text, edits...)
		},
	}
}

// OfferEffective offers the fix for a problem with several keys of one name. Its
// argument is the key's path where it stands twice, its name where two places
// disagree about it.
func OfferEffective(f *memfile.File, p memfile.Problem) []diagnostics.Offer {
	if _, ok := keepEffective(f, p.Key); !ok {
		return nil
	}
	title := "Keep the last " + memdir.ShownName(p.Key)
	if p.Code == memfile.KeyConflict {
		title = "Keep the " + memdir.ShownName(p.Key) + " below " + memfile.MetadataKey
	}
	return []diagnostics.Offer{{Fix: KeepEffectiveKey, Title: title, Arg: p.Key}}
}

// keepEffective gives the edits that remove the keys of a path that no reader
// takes: all but the last, or, where that is the only one at the top level, the one
// that is overridden below metadata. What the file says stays the same.
func keepEffective(f *memfile.File, path string) ([]text.Edit, bool) {
	if f.Front == nil || !f.Front.Closed || path == memfile.MetadataKey {
		return nil, false // the keys below each metadata count
	}
	var same []*memfile.Key
	var nested *memfile.Key
	for i := range f.Front.Keys {
		k := &f.Front.Keys[i]
		if k.Path() == path {
			same = append(same, k)
		}
		if k.Parent == memfile.MetadataKey && k.Name == path {
			nested = k
		}
	}
	drop := len(same) - 1
	kept := nested
	if drop > 0 {
		kept = same[drop]
	} else if drop == 0 && nested != nil {
		drop = 1
	}
	if drop < 1 || kept.Raw.Len() == 0 {
		return nil, false // to keep an empty one would lose what another says
	}
	var edits []text.Edit
	for _, k := range same[:drop] {
		edits = append(edits, removeKey(f, k)...)
	}
	after, ok := text.Apply(f.Text.String()[:f.Body.Start], edits)
	if !ok {
		return nil, false
	}
	g := memfile.Parse(after)
	if g.Front == nil || !g.Front.Closed || g.Meta() != f.Meta() || len(g.Front.Keys) != len(f.Front.Keys)-drop ||
		hasProblem(g, memfile.Syntax) && !hasProblem(f, memfile.Syntax) {
		return nil, false
	}
	before := lastValues(f)
	for p, v := range lastValues(g) {
		if before[p] != v {
			return nil, false
		}
	}
	return edits, true
}

// lastValues gives the value of each key that counts in its mapping.
func lastValues(f *memfile.File) map[string]string {
	values := map[string]string{}
	for _, k := range f.Front.Keys {
		if k.Name != memfile.MetadataKey {
			values[k.Path()] = k.Value
		}
	}
	return values
}

// removeKey takes the lines of a key out. Comments between and below the lines of
// a value in which they are no text are left.
func removeKey(f *memfile.File, k *memfile.Key) []text.Edit {
	t := f.Text
	raw := t.Slice(k.Raw)
	start := k.Span.Start
	if start == 0 && t.HasBOM() {
		start = len(text.BOM)
	}
	if lead := strings.TrimLeft(raw, " \t\r\n"); isBlock(lead) || strings.HasPrefix(lead, `"`) || strings.HasPrefix(lead, "'") {
		return []text.Edit{{Span: text.Span{Start: start, End: k.Span.End}}}
	}
	var edits []text.Edit
	for i := t.LineAt(start); i < t.Lines() && t.FullLine(i).Start < k.Span.End; i++ {
		if strings.HasPrefix(strings.TrimLeft(t.Slice(t.Line(i)), " \t"), "#") {
			continue
		}
		line := t.FullLine(i)
		line.Start = max(line.Start, start)
		if n := len(edits); n > 0 && edits[n-1].End == line.Start {
			edits[n-1].End = line.End
			continue
		}
		edits = append(edits, text.Edit{Span: line})
	}
	return edits
}
