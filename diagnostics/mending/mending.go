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

// withRoom gives a configuration whose index has so many lines less, and the size of so
// many entries.
func withRoom(c *diagnostics.Config, lines int) *diagnostics.Config {
	if c == nil {
		c = diagnostics.DefaultConfig()
	}
	less := *c
	lines = min(lines, c.Limits.IndexLines/2)
	less.Limits.IndexLines -= lines
	less.Limits.IndexSize -= min(lines*c.Limits.EntryLength, c.Limits.IndexSize/2)
	return &less
}

// Mend runs the rules that are asked for and makes their fixes.
func (f *Fixer) Mend(ctx context.Context, v *memdir.View, o dream.MendOptions) (*dream.Mended, error) {
	opt := diagnostics.FixOptions{Unsafe: o.Unsafe, Accept: f.accept(o.Accept)}
	for _, r := range f.Engine.Rules {
		if (o.Only == nil || slices.Contains(o.Only, r.ID)) && !slices.Contains(o.Skip, r.ID) {
			opt.Rules = append(opt.Rules, r.ID)
		}
	}
	engine, config, cache := f.Engine, f.Config, f.cache
	if o.Room > 0 { // findings are kept for one configuration, and those of other rules are not asked for
		config, cache = withRoom(config, o.Room), diagnostics.NewCache()
		few := *engine
		few.Rules = slices.DeleteFunc(slices.Clone(few.Rules), func(r diagnostics.Rule) bool { return !slices.Contains(opt.Rules, r.ID) })
		engine = &few
	}
	s := diagnostics.NewSnapshot(v, config, f.Guide, f.Stamp, cache)
	fixed, err := engine.FixAll(ctx, s, opt)
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
