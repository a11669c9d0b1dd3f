package fixes

import (
	"context"
	"errors"

	"mem/core/change"
	"mem/core/memfile"
	"mem/diagnostics"
)

// AddFrontmatter is the ID of the fix.
const AddFrontmatter = "add-frontmatter"

func addFrontmatter() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      AddFrontmatter,
		Summary: "Adds frontmatter with a name and a description.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			if d.File.Front != nil {
				return change.Change{}, errChanged
			}
			kvs := headOf(d)
			if len(kvs) == 0 {
				return change.Change{}, errors.New("neither the file's name nor its body gives a name or a description")
			}
			return setKeys(s, f.Path, kvs...)
		},
	}
}

// OfferFrontmatter offers the fix for a topic that has no frontmatter.
func OfferFrontmatter(d *diagnostics.Doc) []diagnostics.Offer {
	title := "Add frontmatter with name and description"
	switch kvs := headOf(d); {
	case len(kvs) == 0:
		return nil
	case len(kvs) == 1:
		title = "Add frontmatter with the " + kvs[0].Name
	}
	return []diagnostics.Offer{{Fix: AddFrontmatter, Title: title}}
}

// headOf gives what a topic says of itself without frontmatter. Its type is not
// among it: that takes judgement.
func headOf(d *diagnostics.Doc) []memfile.KeyValue {
	var kvs []memfile.KeyValue
	if name := NameFor(d.Path); name != "" {
		kvs = append(kvs, memfile.KeyValue{Name: "name", Value: name})
	}
	if sentence := FirstSentence(d.File.BodyText()); sentence != "" {
		kvs = append(kvs, memfile.KeyValue{Name: "description", Value: sentence})
	}
	return kvs
}
