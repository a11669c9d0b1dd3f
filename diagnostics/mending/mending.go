// Package mending lends the rules and fixes to the jobs of core, which may not know them:
// it makes a dream.Fixer of an engine.
package mending

import (
	"context"
	"slices"

	"mem/core/change"
	"mem/core/dream"
	"mem/core/memdir"
	"mem/diagnostics"
)

// Fixer mends by the rules of an engine.
type Fixer struct {
	Engine *diagnostics.Engine
	// Config and Guide are those of the memory's project; Stamp is for topics that are made.
	Config *diagnostics.Config
	Guide  *diagnostics.Guide
	Stamp  memdir.Stamp
	// Accept refuses what may not be written, such as a copy of a secret; nil accepts all.
	Accept func(change.Change) error

	cache *diagnostics.Cache
}

// New makes a Fixer. config and guide may be nil.
func New(e *diagnostics.Engine, config *diagnostics.Config, guide *diagnostics.Guide, stamp memdir.Stamp) *Fixer {
	return &Fixer{Engine: e, Config: config, Guide: guide, Stamp: stamp, cache: diagnostics.NewCache()}
}

var _ dream.Fixer = (*Fixer)(nil)

// accept asks both: the one who lends the rules, and the one who uses them.
func (f *Fixer) accept(asked func(change.Change) error) func(change.Change) error {
	if f.Accept == nil || asked == nil {
		if asked == nil {
			return f.Accept
		}
		return asked
	}
	return func(c change.Change) error {
		if err := f.Accept(c); err != nil {
			return err
		}
		return asked(c)
	}
}

// Mend runs the rules that are asked for and makes their fixes.
func (f *Fixer) Mend(ctx context.Context, v *memdir.View, o dream.MendOptions) (*dream.Mended, error) {
	opt := diagnostics.FixOptions{Unsafe: o.Unsafe, Accept: f.accept(o.Accept)}
	for _, r := range f.Engine.Rules {
		if (o.Only == nil || slices.Contains(o.Only, r.ID)) && !slices.Contains(o.Skip, r.ID) {
			opt.Rules = append(opt.Rules, r.ID)
		}
	}
	s := diagnostics.NewSnapshot(v, f.Config, f.Guide, f.Stamp, f.cache)
	fixed, err := f.Engine.FixAll(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	out := &dream.Mended{Change: fixed.Change}
	for _, x := range fixed.Applied {
		out.Made = append(out.Made, dream.Mend{Rule: x.Rule, Fix: x.Fix, Path: x.Path, Line: x.Line, Words: x.Title})
	}
	for _, x := range fixed.Refused {
		out.Refused = append(out.Refused, dream.Mend{Rule: x.Rule, Fix: x.Fix, Path: x.Path, Line: x.Line, Words: x.Reason})
	}
	for _, x := range fixed.Left {
		if x.Severity < diagnostics.Information {
			continue
		}
		out.Left = append(out.Left, dream.Mend{Rule: x.Rule, Path: x.Path, Line: x.Text.LineAt(x.Span.Start) + 1, Words: x.Message})
	}
	return out, nil
}
