package fixes

import (
	"context"
	"errors"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
)

// SetName is the ID of the fix.
const SetName = "set-name"

func setName() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SetName,
		Summary: "Gives a topic the name that its file has.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			name := NameFor(f.Path)
			if name == "" {
				return change.Change{}, errors.New("the file's name holds no letter or digit to make a name of")
			}
			return setKeys(s, f.Path, memfile.KeyValue{Name: "name", Value: name})
		},
	}
}

// NameFor gives the name that a topic takes from its file, "" where that holds
// neither letters nor digits. Links to the file's name still lead to it.
func NameFor(path string) string { return Kebab(memdir.Stem(path)) }

// OfferName offers the fix for a topic that has no name.
func OfferName(d *diagnostics.Doc) []diagnostics.Offer {
	name := NameFor(d.Path)
	if !CanSet(d.File, "name", name) {
		return nil
	}
	return []diagnostics.Offer{{Fix: SetName, Title: "Set the name to " + inQuotes(name)}}
}
