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

// OfferEffective offers the fix for a key that stands twice, or in two places that
// disagree. Its argument is the key's path, as the problem has it.
func OfferEffective(f *memfile.File, p memfile.Problem) []diagnostics.Offer {
	if _, ok := keepEffective(f, p.Key); !ok {
		return nil
	}
	title := "Keep the last " + memdir.ShownName(p.Key)
	if kept, _ := effective(f, p.Key); kept.Path() != p.Key {
		title = "Keep the " + memdir.ShownName(p.Key) + " below " + memfile.MetadataKey
	}
	return []diagnostics.Offer{{Fix: KeepEffectiveKey, Title: title, Arg: p.Key}}
}

// effective gives the key of a path that readers take, and those that they do not:
// the last one counts, but for keys at the top level that metadata overrides.
func effective(f *memfile.File, path string) (kept *memfile.Key, others []*memfile.Key) {
	var nested *memfile.Key
	for i := range f.Front.Keys {
		k := &f.Front.Keys[i]
		if k.Path() == path {
			others = append(others, k)
		}
		if k.Parent == memfile.MetadataKey && k.Name == path {
			nested = k
		}
	}
	n := len(others)
	if n == 0 {
		return nil, nil
	}
	// A name or description below metadata is no memory's.
	if nested != nil && path != "name" && path != "description" && nested.Value != others[n-1].Value {
		return nested, others
	}
	return others[n-1], others[:n-1]
}

// keepEffective gives the edits that remove the keys of a path that no reader takes.
// What the file says stays the same.
func keepEffective(f *memfile.File, path string) ([]text.Edit, bool) {
	if f.Front == nil || !f.Front.Closed || path == memfile.MetadataKey || endUnsure(f) {
		return nil, false // the keys below each metadata count
	}
	kept, others := effective(f, path)
	if len(others) == 0 {
		return nil, false
	}
	var edits []text.Edit
	for _, k := range others {
		if kept.Value == "" && (k.Value != "" || kept.Raw.Len() == 0 && k.Raw.Len() > 0) {
			return nil, false // readers take nothing, and this says something
		}
		edits = append(edits, removeKey(f, k)...)
	}
	after, ok := text.Apply(f.Text.String()[:f.Body.Start], edits)
	if !ok {
		return nil, false
	}
	g := memfile.Parse(after)
	if g.Front == nil || !g.Front.Closed || g.Meta() != f.Meta() || len(g.Front.Keys) != len(f.Front.Keys)-len(others) ||
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
