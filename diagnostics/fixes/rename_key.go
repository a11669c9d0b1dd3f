package fixes

import (
	"context"
	"fmt"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// RenameKey is the ID of the fix. Its argument is the name that the key is to have.
const RenameKey = "rename-key"

func renameKey() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      RenameKey,
		Summary: "Writes a key of the frontmatter as readers look for it.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			at, ok := MisspelledKey(d.File, arg)
			if !ok {
				return change.Change{}, errChanged
			}
			return edit(f.Path, d.File.Text, text.Edit{Span: at, New: arg})
		},
	}
}

// MisspelledKey gives the place of a key that differs from a name only by case, where
// the file has no key of that name: YAML and every reader tell the two apart.
func MisspelledKey(f *memfile.File, name string) (text.Span, bool) {
	if f.Front == nil || f.Key(name) != nil || f.Value(name) != "" {
		return text.Span{}, false
	}
	for i := range f.Front.Keys {
		k := &f.Front.Keys[i]
		if k.Value == "" || !strings.EqualFold(k.Name, name) {
			continue
		}
		at := text.Span{Start: k.Span.Start + k.Indent, End: k.Span.Start + k.Indent + len(k.Name)}
		if at.End <= k.Span.End && f.Text.Slice(at) == k.Name { // not one in quotes
			return at, true
		}
	}
	return text.Span{}, false
}

// MisspelledFinding gives the finding of such a key.
func MisspelledFinding(f *memfile.File, name string) (diagnostics.Finding, bool) {
	at, ok := MisspelledKey(f, name)
	if !ok {
		return diagnostics.Finding{}, false
	}
	return diagnostics.Finding{
		Span:    at,
		Message: fmt.Sprintf("The key is spelled %s, and readers look for %s. Write %s.", memdir.ShownName(f.Text.Slice(at)), name, name),
		Offers:  []diagnostics.Offer{{Fix: RenameKey, Title: "Write the key as " + name, Arg: name}},
	}, true
}
