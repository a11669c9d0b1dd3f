package proposal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/store"
)

// maxTries bounds how often a change is made anew because others write meanwhile.
const maxTries = 5

// make applies units of a proposal as one change, those that can be. What each became
// stands in the unit: applied, or open with the reason. The lock is held. A unit is
// marked before its change is made and again after, so that a process that dies in
// between leaves word of it.
func (p *Proposals) make(ctx context.Context, x *Proposal, units []*Unit) (*memory.Change, error) {
	if _, err := p.readApplied(); err != nil { // before anything is changed
		return nil, err
	}
	for range maxTries {
		rest := p.sift(x, units)
		if len(rest) == 0 {
			return nil, p.write(x)
		}
		c, taken, clashes := join(rest)
		for u, v := range clashes {
			u.Note = bounded(v.note(), maxNote)
		}
		x.Attempts++
		attempt := fmt.Sprintf("%s.%d", x.ID, x.Attempts)
		for _, u := range taken {
			u.Attempt = attempt
		}
		if err := p.write(x); err != nil {
			return nil, err
		}
		c.Title, c.Op = bounded(x.Title, maxTitle)+mark(attempt), opOf(x.Kind)
		made, err := p.m.ApplyAs(ctx, c, x.Origin)
		for _, u := range taken {
			u.Attempt = ""
		}
		if err == nil {
			for _, u := range taken {
				u.State, u.Applied, u.Note = Applied, made.ID, ""
			}
			x.close(p.m.Now())
			return made, errors.Join(p.remember(x.Kind, made.ID, taken), p.write(x))
		}
		if units = p.blame(err, taken); len(units) == 0 {
			if faultOf(err) {
				err = nil // it is noted at the units
			}
			return nil, errors.Join(err, p.write(x))
		}
	}
	for _, u := range units {
		if u.State == Open && u.Note == "" {
			u.Note = "other programs kept writing the same files. Apply it later"
		}
	}
	return nil, p.write(x)
}

// sift gives the units that can be made now. Those that are made already are marked so,
// those that cannot be get the reason.
func (p *Proposals) sift(x *Proposal, units []*Unit) []*Unit {
	var rest []*Unit
	for _, u := range units {
		if u.State != Open {
			continue
		}
		v := p.examine(*u)
		switch {
		case v.done:
			u.State, u.Note = Applied, "the memory is so already"
		case !v.fits():
			u.Note = bounded(v.note(), maxNote)
		default:
			rest = append(rest, u)
		}
	}
	x.close(p.m.Now())
	return rest
}

// blame notes at the units what a failed change says of their files, and gives those
// that are worth another try; none where the failure is no fault of single units.
func (p *Proposals) blame(err error, units []*Unit) (again []*Unit) {
	var conflict *store.ConflictError
	var refused *store.RefusedError
	var file *memdir.FileError
	path := ""
	switch {
	case errors.As(err, &conflict):
		return units // they are examined anew
	case errors.As(err, &refused):
		path = refused.Path
	case errors.As(err, &file):
		path = file.Path
	default:
		return nil
	}
	for _, u := range units {
		if touches(u.Change, path) {
			u.Note = bounded(err.Error(), maxNote)
		} else {
			again = append(again, u)
		}
	}
	if len(again) == len(units) { // no single one's fault
		for _, u := range units {
			u.Note = bounded(err.Error(), maxNote)
		}
		return nil
	}
	return again
}

// faultOf reports whether a failure is one of the texts, which a person can look at in
// the proposal, and not of the machine.
func faultOf(err error) bool {
	var refused *store.RefusedError
	var file *memdir.FileError
	return errors.As(err, &refused) || errors.As(err, &file)
}

// touches reports whether a change does something to a file.
func touches(c change.Change, path string) bool {
	return slices.ContainsFunc(c.Files, func(f change.File) bool {
		return f.Path == path || f.Target() == path
	})
}

// opOf is the operation that the history names for the result of a job.
func opOf(kind string) string {
	if kind == "" {
		return "proposal"
	}
	return kind
}

// bounded puts words of a proposal within their bounds, lines kept.
func bounded(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
