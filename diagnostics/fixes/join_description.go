package fixes

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// JoinDescription is the ID of the fix.
const JoinDescription = "join-description"

func joinDescription() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      JoinDescription,
		Summary: "Puts a description on one line.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			d, err := s.Doc(f.Path)
			if err != nil {
				return change.Change{}, err
			}
			e, ok := joinEdit(d.File)
			if !ok {
				return change.Change{}, errors.New("the description cannot be joined as it stands; mend the frontmatter's syntax first")
			}
			return edit(f.Path, d.File.Text, e)
		},
	}
}

// OfferJoin offers the fix for a description of several lines.
func OfferJoin(f *memfile.File) []diagnostics.Offer {
	if _, ok := joinEdit(f); !ok {
		return nil
	}
	return []diagnostics.Offer{{Fix: JoinDescription, Title: "Put the description on one line"}}
}

// blockHead matches the first line of a block scalar that has a comment.
var blockHead = compiled(`^[>|][-+0-9]*[ \t]+(#[^\r\n]*)`)

// joinEdit puts the description on one line; a comment behind it stays. While the
// frontmatter is no YAML, its lines are not known to be the value's.
func joinEdit(f *memfile.File) (text.Edit, bool) {
	k := f.Key("description")
	if k == nil || k.Raw.Len() == 0 || hasProblem(f, memfile.Syntax) || !utf8.ValidString(k.Value) || !isScalar(f, k) {
		return text.Edit{}, false
	}
	raw, joined := f.Text.Slice(k.Raw), memfile.OneLine(k.Value)
	scalar := memfile.Scalar(joined)
	if m := blockHead().FindStringSubmatch(raw); m != nil {
		scalar += " " + m[1]
	}
	e := valueEdit(f.Text, k, valueLen(raw), scalar)
	after, ok := text.Apply(f.Text.String()[:f.Body.Start], []text.Edit{e})
	if !ok {
		return text.Edit{}, false
	}
	// Whatever a parser makes of anchors and tags in the old value: the new one
	// has to give the words, and the rest has to be what it was.
	g := memfile.Parse(after)
	want := f.Meta()
	want.Description = joined
	if g.Front == nil || g.Meta() != want || hasProblem(g, memfile.Syntax) || len(g.Front.Keys) != len(f.Front.Keys) ||
		strings.Contains(e.New, "\n") {
		return text.Edit{}, false
	}
	return e, true
}
