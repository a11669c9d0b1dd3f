package sessions

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"mem/core/memdir"
	"mem/core/project"
	"mem/core/transcript"
	"mem/core/transcript/index"
)

// update is a run of the index in the background.
type update struct {
	done        chan struct{} // closed when it has ended
	read, total atomic.Int64  // bytes of transcript; all of them until it is known how many are new
	report      index.Report  // after done
	err         error
}

// begin starts an update with these sources, or gives the one that is running: what
// that leaves out comes with the next search.
func (s *Sessions) begin(x *index.Index, sources []index.Source, size int64) *update {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.update != nil {
		select {
		case <-s.update.done:
		default:
			return s.update
		}
	}
	u := &update{done: make(chan struct{})}
	u.total.Store(size)
	s.update = u
	go func() {
		defer close(u.done)
		u.report, u.err = x.Update(s.life, sources, index.UpdateOptions{Progress: func(done, total int64) {
			u.read.Store(done)
			u.total.Store(total)
		}})
	}()
	return u
}

// openIndex opens the index once.
func (s *Sessions) openIndex(ctx context.Context) (*index.Index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return nil, fmt.Errorf("the sessions are closed")
	}
	if s.index != nil {
		return s.index, nil
	}
	dir := index.Dir(s.env)
	if dir == "" {
		return nil, fmt.Errorf("there is no place for the index of transcripts: set HOME or XDG_CACHE_HOME")
	}
	x, err := index.Open(ctx, index.Options{Dir: dir, MaxBytes: s.o.MaxIndex, Guard: s.m.Guard(),
		Open: func(path string) (index.File, error) { return transcript.Open(path) }})
	if err != nil {
		return nil, err
	}
	s.index = x
	return x, nil
}

// shelf is where the transcripts of a search come from.
type shelf struct {
	sources []index.Source
	byPath  map[string]*transcript.Session
	agents  map[string]string // by path
	key     string            // of the project, "" for all
	found   *transcript.Sessions
	size    int64 // of the sessions, in bytes
}

// shelf lists the transcripts to search, subagents' too.
func (s *Sessions) shelf(ctx context.Context, all bool, p Progress) (*shelf, error) {
	o := s.wanted(all, p, "looking for sessions")
	o.Shallow = true
	found, err := transcript.Find(ctx, s.env, o)
	if err != nil {
		return nil, err
	}
	s.places.met(found.List)
	h := &shelf{byPath: map[string]*transcript.Session{}, agents: map[string]string{}, found: found, key: o.Project.Root}
	if len(o.Dirs) > 0 {
		h.key = "folders " + strings.Join(o.Dirs, "\n")
	}
	roots := map[string]string{}
	for _, x := range found.List {
		key := h.key
		if key == "" {
			key = s.rootOf(x.Cwd, roots)
		}
		add := func(path, agent string) {
			if h.byPath[path] == nil {
				h.sources = append(h.sources, index.Source{Path: path, Session: x.ID, Project: key})
				h.byPath[path], h.agents[path] = x, agent
			}
		}
		add(x.Path, "")
		h.size += x.Size
		for _, a := range x.Subagents {
			add(a.Path, a.ID)
		}
	}
	return h, nil
}

// rootOf is the project of a directory, as far as that is still there.
func (s *Sessions) rootOf(cwd string, known map[string]string) string {
	root, ok := known[cwd]
	if !ok {
		root = cwd
		if p, err := project.Find(cwd, s.env.ProjectOptions()); err == nil {
			root = p.Root
		}
		known[cwd] = root
	}
	return root
}

func unreadWords(list []index.Unread) []string {
	var out []string
	for i, u := range list {
		if i == 3 {
			return append(out, fmt.Sprintf("%d more transcripts could not be indexed.", len(list)-i))
		}
		out = append(out, fmt.Sprintf("Not indexed: %s: %s", memdir.ShownName(u.Path), u.Reason))
	}
	return out
}
