package proposal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
)

// Which selects parts of a proposal; nothing selects all that waits.
type Which struct {
	Units []string // ids
	Files []string // paths; the units that do something to them
}

// Done is what became of a proposal when a person decided.
type Done struct {
	Proposal *Proposal
	Change   string         // id of the change, "" for none
	Result   *memory.Change // nil for none
	Applied  []Unit         // by this call
	Held     []Unit         // could not be applied, with the reason in Note
	Already  []Unit         // were decided before
}

// Apply makes the selected units that wait, as one change. What others wrote since is
// merged; a unit with a conflict stays open, with both texts in its note. Units that are
// applied already are not made again.
//
// A proposal waits for a person: whoever calls this answers for one having said so.
func (p *Proposals) Apply(ctx context.Context, ref string, which Which) (*Done, error) {
	return p.decide(ctx, ref, which, func(x *Proposal, units []*Unit, out *Done) error {
		for _, u := range units {
			u.Note = ""
		}
		var err error
		if out.Result, err = p.make(ctx, x, units); err != nil {
			return err
		}
		if out.Result != nil {
			out.Change = out.Result.ID
		}
		for _, u := range units {
			if u.State == Applied {
				out.Applied = append(out.Applied, *u)
			} else {
				out.Held = append(out.Held, *u)
			}
		}
		return nil
	})
}

// Discard decides that the selected units are not to be made.
func (p *Proposals) Discard(ctx context.Context, ref string, which Which, reason string) (*Done, error) {
	done, err := p.discard(ctx, ref, which, reason)
	if err != nil || len(done.Applied) == 0 || p.hears[done.Proposal.Kind] == nil {
		return done, err
	}
	if err := p.hears[done.Proposal.Kind](ctx, p.m, done.Proposal, done.Applied); err != nil {
		return nil, fmt.Errorf("the units of %s were discarded, but what they came from could not be told, so it may offer them again: %w", done.Proposal.ID, err)
	}
	return done, nil
}

func (p *Proposals) discard(ctx context.Context, ref string, which Which, reason string) (*Done, error) {
	return p.decide(ctx, ref, which, func(x *Proposal, units []*Unit, out *Done) error {
		for _, u := range units {
			u.State, u.Note = Discarded, bounded(reason, maxReason)
			out.Applied = append(out.Applied, *u)
		}
		x.close(p.m.Now())
		return p.write(x)
	})
}

func (p *Proposals) decide(ctx context.Context, ref string, which Which, f func(*Proposal, []*Unit, *Done) error) (*Done, error) {
	id, err := p.resolve(ref)
	if err != nil {
		return nil, err
	}
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	x, err := p.takeUp(ctx, id)
	if err != nil {
		return nil, err
	}
	units, err := x.selected(which)
	if err != nil {
		return nil, err
	}
	out := &Done{Proposal: x}
	var open []*Unit
	for _, u := range units {
		if u.State == Open {
			open = append(open, u)
		} else {
			out.Already = append(out.Already, *u)
		}
	}
	if len(open) == 0 {
		return out, nil
	}
	return out, f(x, open, out)
}

// Select gives copies of the units that are meant.
func (p *Proposal) Select(which Which) ([]Unit, error) {
	units, err := p.selected(which)
	var out []Unit
	for _, u := range units {
		out = append(out, *u)
	}
	return out, err
}

// selected gives the units that are meant.
func (p *Proposal) selected(which Which) ([]*Unit, error) {
	var out []*Unit
	all := len(which.Units) == 0 && len(which.Files) == 0
	used := map[string]bool{}
	for i := range p.Units {
		u := &p.Units[i]
		meant := all
		for _, id := range which.Units {
			if u.ID == id {
				meant, used["u"+id] = true, true
			}
		}
		for _, path := range which.Files {
			if u.is(path) {
				meant, used["f"+path] = true, true
			}
		}
		if meant {
			out = append(out, u)
		}
	}
	for _, id := range which.Units {
		if !used["u"+id] {
			return nil, fmt.Errorf("the proposal %s has no unit %s; its units are 1 to %d", p.ID, memdir.ShownName(id), len(p.Units))
		}
	}
	for _, path := range which.Files {
		if !used["f"+path] {
			return nil, fmt.Errorf("the proposal %s does nothing to %s; it has parts for %s", p.ID, memdir.ShownName(path), strings.Join(p.someFiles(), ", "))
		}
	}
	return out, nil
}

// is reports whether a unit is about a file. Nearly all touch the index; about it are
// those that touch nothing else.
func (u *Unit) is(path string) bool {
	if path == memfile.IndexName {
		return !slices.ContainsFunc(u.Change.Files, func(f change.File) bool { return f.Path != path })
	}
	return touches(u.Change, path)
}

// someFiles names files of a proposal, for an error.
func (p *Proposal) someFiles() []string {
	var out []string
	seen := map[string]bool{}
	for _, u := range p.Units {
		for _, f := range u.Change.Files {
			if !seen[f.Path] && u.is(f.Path) {
				seen[f.Path] = true
				out = append(out, memdir.ShownName(f.Path))
			}
		}
	}
	if len(out) > 20 {
		out = append(out[:20], fmt.Sprintf("and %d more", len(out)-20))
	}
	return out
}
