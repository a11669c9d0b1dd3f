package diagnostics

import (
	"context"
	"fmt"
	"slices"

	"mem/core/memdir"
)

// tryFile is checkFile for a goroutine of the check's own, whose breakdown nobody else
// would live to report.
func (e *Engine) tryFile(ctx context.Context, s *Snapshot, p string, late bool) (en *entry, err error) {
	defer func() {
		if r := recover(); r != nil {
			en, err = nil, fmt.Errorf("reading %s broke down: %v; please report this with: %s", memdir.ShownName(p), r, frames())
		}
	}()
	return e.checkFile(ctx, s, p, late)
}

// checkFile runs the rules that look at one file, or gives what they found when
// it was the same. It gives nil for a path that is no file of the memory.
func (e *Engine) checkFile(ctx context.Context, s *Snapshot, p string, late bool) (*entry, error) {
	id, kind, ok := s.identity(p)
	if !ok {
		return nil, nil
	}
	want := s.wanted(late)
	if kept := s.kept(p, id, want); kept != nil {
		return kept, nil
	}
	d, err := s.read(p)
	if err != nil {
		return nil, err
	}
	en := factsOf(id, d)
	en.checked = want
	pass := new(Pass) // of each rule in turn
	for i := range e.Rules {
		rule := &e.Rules[i]
		if rule.File == nil || rule.Late && !late || !slices.Contains(rule.Kinds, kind) || s.Config.severity(rule, rule.Severity) == Off {
			continue
		}
		*pass = Pass{Snapshot: s, Context: ctx, Doc: d, rule: rule}
		fs, fail := run(pass, rule.File)
		en.found = append(en.found, fs...)
		en.failed = append(en.failed, fail...)
	}
	if ctx.Err() != nil { // a rule may have ended early
		return nil, ctx.Err()
	}
	s.cache.mu.Lock()
	s.cache.entries[p] = en
	s.cache.mu.Unlock()
	return en, nil
}

// Found gives what the rules that look at one file find in it, the late ones aside,
// and nothing silences: for those who must know of one file before they say something
// of another. A file that cannot be read has none, nor has one before the first check.
func (s *Snapshot) Found(ctx context.Context, p string) []Finding {
	s.cache.mu.Lock()
	e := s.cache.engine
	s.cache.mu.Unlock()
	if e == nil {
		return nil
	}
	en, err := e.checkFile(ctx, s, p, false)
	if err != nil || en == nil || len(en.found) == 0 {
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(en.found), func(f Finding) bool { return e.isLate(f.Rule) })
	found, _ = e.obey(ctx, s, p, en, found, func(string) bool { return false })
	return found
}
