package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/text"
)

// Make gives the change that an offer of a finding stands for.
func (e *Engine) Make(ctx context.Context, s *Snapshot, f Finding, o Offer) (c change.Change, err error) {
	s.cache.servedBy(e)
	fix := e.Fix(o.Fix)
	if fix == nil {
		return change.Change{}, fmt.Errorf("there is no fix named %q", o.Fix)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the fix %s broke down: %v; please report this with: %s", o.Fix, r, frames())
		}
	}()
	c, err = fix.Make(ctx, s, f, o.Arg)
	if err != nil {
		return change.Change{}, fmt.Errorf("%s: %w", o.Title, err)
	}
	c.Op = "fix"
	if c.Title == "" {
		c.Title = o.Title
	}
	return c, nil
}

// FixOptions says what FixAll mends.
type FixOptions struct {
	Rules  []string // only findings of these rules; nil means all
	Paths  []string // only findings in these files; nil means all
	Unsafe bool     // with fixes that need judgement, too
	// Accept may refuse a change, such as one that would copy a secret; nil
	// accepts all.
	Accept func(change.Change) error
}

// Fixed is what FixAll came to.
type Fixed struct {
	Change  change.Change // all of it, from the files as they were; empty when nothing is to be mended
	Applied []Applied
	Refused []Refused
	Left    []Finding // after the change, with what cannot be mended
	Result  *Result   // the check after the change
	Passes  int
}

// Applied is one fix that was made.
type Applied struct {
	Rule, Fix, Path string
	Line            int // from 1, in the text in which it was found
	Title           string
}

// Refused is one fix that could not be made, and why.
type Refused struct {
	Rule, Fix, Path string
	Line            int
	Reason          string
}

// errMoved is why a fix that goes by a file's time is not made there.
var errMoved = errors.New("a fix has just put this text into the file, whose time does not say when it was written: look when that was, and write the date by hand")

// maxPasses bounds how often FixAll looks again: a fix may bring up something that
// another one mends. Rules and fixes of ours settle in three.
const maxPasses = 12

// FixAll mends what can be mended: it makes the first fix offered for each finding
// that the options admit, looks at the result, and goes on until nothing is left to
// mend. Nothing is written.
func (e *Engine) FixAll(ctx context.Context, s *Snapshot, o FixOptions) (*Fixed, error) {
	out := &Fixed{Change: change.Change{Op: "fix"}}
	changed := map[string]string{}  // path → text
	original := map[string]string{} // path → text, of files that existed
	moved := map[string]bool{}      // files that have text of another file by now
	for now := s; ; {
		r, err := e.check(ctx, now, Scope{Late: true})
		if err != nil {
			return nil, err
		}
		out.Result, out.Left = r, o.Chosen(r.Findings)
		// A refusal is told where it stands at the end: what another fix changed may
		// have taken its reason away.
		var made []candidate
		if made, out.Refused, err = e.round(ctx, now.keepingDocs(), out.Left, moved, o); err != nil {
			return nil, err
		}
		if len(made) == 0 || out.Passes == maxPasses {
			break
		}
		out.Passes++
		for _, c := range made {
			out.Applied = append(out.Applied, Applied{c.Rule, c.offer.Fix, c.Path, c.line, c.offer.Title})
			for _, to := range c.change.Files {
				if to.Kind == change.Create || e.Fix(c.offer.Fix).Kind == Extract && to.Path != c.Path {
					moved[to.Path] = true
				}
			}
		}
		for path, f := range together(made).files {
			after, ok := f.after()
			if !ok {
				return nil, fmt.Errorf("the fixes of %s do not fit together; please report this", memdir.ShownName(path))
			}
			if _, seen := changed[path]; !seen && !f.create {
				original[path] = f.base
			}
			changed[path] = after
		}
		if now, err = s.over(ctx, changed); err != nil {
			return nil, err
		}
	}
	out.Result.bound()
	out.Left = o.Chosen(out.Result.Findings)
	for _, p := range slices.Sorted(maps.Keys(changed)) {
		base, existed := original[p]
		switch {
		case !existed:
			out.Change.Files = append(out.Change.Files, change.File{Path: p, Kind: change.Create, New: changed[p]})
		case base != changed[p]:
			if f, ok := change.EditFile(p, base, lineEdits(base, changed[p])); ok {
				out.Change.Files = append(out.Change.Files, f)
			}
		}
	}
	out.Change.Title = fmt.Sprintf("mend %d findings", len(out.Applied))
	if len(out.Applied) == 1 {
		out.Change.Title = out.Applied[0].Title
	}
	return out, nil
}

// over gives the Snapshot of the same memory with other texts in some files.
func (s *Snapshot) over(ctx context.Context, texts map[string]string) (*Snapshot, error) {
	buffers := map[string]memdir.Buffer{}
	for p, t := range texts {
		b := memdir.Buffer{Text: t, ModTime: s.Now()}
		if t := s.View.Topic(p); t != nil {
			b.ModTime = t.ModTime // mending is not touching: what counts from this time stays the same
		}
		buffers[p] = b
	}
	v, err := s.View.Over(ctx, buffers)
	if err != nil {
		return nil, err
	}
	next := NewSnapshot(v, s.Config, s.Guide, s.Stamp, s.cache)
	next.Beside = s.Beside
	return next, nil
}

// Chosen gives the findings that the options admit.
func (o FixOptions) Chosen(all []Finding) []Finding {
	var out []Finding
	for _, f := range all {
		if (o.Rules == nil || slices.Contains(o.Rules, f.Rule)) && (o.Paths == nil || slices.Contains(o.Paths, f.Path)) {
			out = append(out, f)
		}
	}
	return out
}

// pick gives the first offer that the options admit.
func (e *Engine) pick(f Finding, o FixOptions) (Offer, bool) {
	for _, offer := range f.Offers {
		if fix := e.Fix(offer.Fix); fix.admitted(o) {
			return offer, true
		}
	}
	return Offer{}, false
}

// admitted reports whether FixAll makes a fix.
func (f *Fix) admitted(o FixOptions) bool {
	return f != nil && !f.Manual && (f.Safe || o.Unsafe)
}

// lineEdits gives edits of as few lines as turn from into to.
func lineEdits(from, to string) []text.Edit {
	var edits []text.Edit
	for _, e := range udiff.Lines(from, to) {
		edits = append(edits, text.Edit{Span: text.Span{Start: e.Start, End: e.End}, New: e.New})
	}
	return edits
}
