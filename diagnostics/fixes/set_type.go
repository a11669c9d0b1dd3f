package fixes

import (
	"context"
	"fmt"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
)

// SetType is the ID of the fix.
const SetType = "set-type"

func setType() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SetType,
		Summary: "Sets the type of a topic.",
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
			if !memfile.KnownType(arg) {
				return change.Change{}, fmt.Errorf("%s is no type; it is one of %s", memdir.ShownName(arg), strings.Join(memfile.Types, ", "))
			}
			return setKeys(s, f.Path, memfile.KeyValue{Name: "type", Value: arg})
		},
	}
}

// OfferTypes offers each of the four types for a topic, the best guess first.
func OfferTypes(d *diagnostics.Doc) []diagnostics.Offer {
	if !CanSet(d.File, "type", memfile.Types[0]) {
		return nil
	}
	m := d.File.Meta()
	best := typeMeant(m.Type)
	if named := typeInPath(d.Path); named != "" && (best == "" || !spells(m.Type, best)) {
		best = named // says more than a word such as "procedural"
	}
	if best == "" {
		best = GuessType(m.Name, m.Description, d.File.BodyText())
	}
	offers := []diagnostics.Offer{offerType(best)}
	for _, t := range memfile.Types {
		if t != best {
			offers = append(offers, offerType(t))
		}
	}
	return offers
}

func offerType(t string) diagnostics.Offer {
	return diagnostics.Offer{Fix: SetType, Title: "Set the type to " + t, Arg: t}
}
