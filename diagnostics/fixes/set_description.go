package fixes

import (
	"context"
	"errors"

	"mem/core/change"
	"mem/core/memfile"
	"mem/diagnostics"
)

// SetDescription is the ID of the fix.
const SetDescription = "set-description"

func setDescription() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SetDescription,
		Summary: "Gives a topic its first sentence as description.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			sentence := FirstSentence(d.File.BodyText())
			if sentence == "" {
				return change.Change{}, errors.New("the body has no sentence to take")
			}
			return setKeys(s, f.Path, memfile.KeyValue{Name: "description", Value: sentence})
		},
	}
}

// OfferDescription offers the fix for a topic that has no description.
func OfferDescription(d *diagnostics.Doc) []diagnostics.Offer {
	sentence := FirstSentence(d.File.BodyText())
	if !CanSet(d.File, "description", sentence) {
		return nil
	}
	return []diagnostics.Offer{{Fix: SetDescription, Title: "Set the description to " + inQuotes(sentence)}}
}
