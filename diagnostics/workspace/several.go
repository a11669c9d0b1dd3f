package workspace

import (
	"container/list"
	"context"
	"sync"

	"mem/core/memdir"
	"mem/core/settings"
	"mem/diagnostics"
)

const (
	// maxSeveral bounds the directories that are kept; one takes about 1 MB with 200
	// topics. A project has one and some for its agents.
	maxSeveral = 100
	// severalBytes bounds the texts that each of them keeps.
	severalBytes = 256 << 10
)

// Several keeps directories under check, the ones last looked at, for those who look
// at many of them time and again. It is safe for concurrent use.
type Several struct {
	mu     sync.Mutex
	byPath map[string]*list.Element
	recent *list.List // of *Directory, the last one first
}

// Look reads a directory and counts what rules find in it, by severity. Secrets are
// not searched. env and origin are those of the first call for a directory.
func (s *Several) Look(ctx context.Context, env settings.Env, project, dir string) (*memdir.View, map[string]int, error) {
	d, err := s.open(env, project, dir)
	if err != nil {
		return nil, nil, err
	}
	snap, err := d.Snapshot(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	r, err := d.Engine.Check(ctx, snap, diagnostics.Scope{})
	if err != nil {
		return nil, nil, err
	}
	counts := map[string]int{}
	for _, f := range r.Findings {
		counts[f.Severity.String()] += 1 + f.More
	}
	return snap.View, counts, nil
}

// open gives a directory under check. One that makes room for another is closed by
// the collector: calls under way keep it.
func (s *Several) open(env settings.Env, project, dir string) (*Directory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byPath[dir]; e != nil {
		s.recent.MoveToFront(e)
		return e.Value.(*Directory), nil
	}
	d, err := Open(dir, Options{Env: env, Project: project, BodyBytes: severalBytes})
	if err != nil {
		return nil, err
	}
	if s.byPath == nil {
		s.byPath, s.recent = map[string]*list.Element{}, list.New()
	}
	s.byPath[dir] = s.recent.PushFront(d)
	if s.recent.Len() > maxSeveral {
		last := s.recent.Back()
		delete(s.byPath, s.recent.Remove(last).(*Directory).Path())
	}
	return d, nil
}
