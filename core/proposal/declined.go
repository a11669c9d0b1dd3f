package proposal

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// Key tells what a unit does to which texts: two units of one key are one and the same to
// whoever decides. Of the index it is what is taken out and put in that counts, since the
// rest of it changes all the time.
func Key(u Unit) string {
	var b strings.Builder
	for _, f := range u.Change.Files {
		after, stays, err := f.After()
		if err != nil {
			stays = false
		}
		fmt.Fprintf(&b, "%s %q %q ", f.Kind, f.Path, f.To)
		if f.Path == memfile.IndexName && f.Kind == change.Edit {
			t := text.New(f.Base)
			for _, e := range f.Edits {
				fmt.Fprintf(&b, "%q %q ", strings.TrimSpace(t.Slice(e.Span)), strings.TrimSpace(e.New))
			}
			continue
		}
		fmt.Fprintf(&b, "%s %s %t\n", f.BaseHash(), text.Hash(after), stays)
	}
	return text.Hash(b.String())
}

// crowdedOut is why a proposal was discarded that nobody decided about.
var crowdedOut = fmt.Sprintf("more than %d proposals waited", MaxOpen)

// Declined gives the keys of the units of a kind of job that somebody discarded, as long as
// proposals are kept: whoever said no is not to be asked the same again.
func (p *Proposals) Declined(kind string) (map[string]bool, error) {
	list, _, err := p.List(ListOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, x := range list {
		for _, u := range x.Units {
			if x.Kind == kind && u.State == Discarded && u.Note != crowdedOut {
				out[Key(u)] = true
			}
		}
	}
	return out, nil
}

// Same gives the open proposal of a kind of which just these units wait, "" where there is
// none.
func (p *Proposals) Same(kind string, units []Unit) (string, error) {
	list, _, err := p.List(ListOptions{Open: true})
	if err != nil {
		return "", err
	}
	want := keysOf(units)
	for _, x := range list {
		var open []Unit
		for _, u := range x.Units {
			if u.State == Open {
				open = append(open, u)
			}
		}
		if x.Kind == kind && slices.Equal(keysOf(open), want) {
			return x.ID, nil
		}
	}
	return "", nil
}

func keysOf(units []Unit) []string {
	out := make([]string, len(units))
	for i, u := range units {
		out[i] = Key(u)
	}
	slices.Sort(out)
	return out
}
