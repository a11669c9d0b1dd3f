package lspserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mem/core/agentmem"
	"mem/core/memdir"
)

// shared gives the memory and the snapshot that the directory is one side of, nil where
// nothing is shared.
func (d *directory) shared() (*agentmem.Shared, error) {
	ws, err := d.opened()
	if err != nil {
		return nil, err
	}
	return ws.Shared()
}

// side is a shared memory as a command or a lens is about it.
type side struct {
	*agentmem.Shared
	d          *directory
	docs       *documents
	store      string // the memory directory as documents in it have it
	inSnapshot bool
	first      bool // there is no snapshot yet
}

// side gives what a directory is one side of, nil where there is no other side.
func (s *server) side(docs *documents, d *directory) (*side, error) {
	if d == nil {
		return nil, nil
	}
	sh, err := d.shared()
	if err != nil || sh == nil {
		return nil, err
	}
	x := &side{Shared: sh, d: d, docs: docs, store: sh.Store, inSnapshot: memdir.PlaceOf(d.path) == memdir.PlaceSnapshot}
	if _, err := os.Lstat(sh.Snapshot); err != nil {
		if x.inSnapshot {
			return nil, nil // it was removed
		}
		x.first = true
	}
	if !x.inSnapshot {
		x.store = d.path
		return x, nil
	}
	for _, doc := range docs.byPath {
		if doc.dir != "" && doc.dir != x.store && sameFolder(doc.dir, x.store) {
			x.store = doc.dir
			break
		}
	}
	return x, nil
}

func sameFolder(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// review compares both sides as they are now, what is typed in open documents included.
func (x *side) review(ctx context.Context) (*agentmem.Review, error) {
	over := map[string]string{}
	for _, doc := range x.docs.in(x.store) {
		if !doc.lost {
			over[doc.rel] = doc.text.String()
		}
	}
	return x.Review(ctx, over)
}

// unsaved gives an open file of the memory whose text is not on disk, "" where all are
// saved.
func (x *side) unsaved() string {
	for _, doc := range x.docs.in(x.store) {
		on := onDisk{}
		if hash := on.read(doc.path); doc.lost || hash != essence(doc.text.String()) {
			return doc.rel
		}
	}
	return ""
}

// sharers gives the open memories of an agent whose snapshot is at dir, and the snapshot
// where dir is such a memory.
func (s *server) sharers(dir string) []string {
	place := memdir.PlaceOf(dir)
	if place != memdir.PlaceSnapshot && place != memdir.PlaceAgent {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for path := range s.dirs {
		if p := memdir.PlaceOf(path); p != place && (p == memdir.PlaceAgent || p == memdir.PlaceSnapshot) && filepath.Base(path) == filepath.Base(dir) {
			out = append(out, path)
		}
	}
	return out
}

// sharedChanged has both sides looked at again, after something was written or decided.
func (s *server) sharedChanged(x *side) {
	s.mu.Lock()
	var dirs []*directory
	for path, d := range s.dirs {
		if path == x.d.path || sameFolder(path, x.Store) || sameFolder(path, x.Snapshot) {
			dirs = append(dirs, d)
		}
	}
	s.mu.Unlock()
	for _, d := range dirs {
		d.mu.Lock()
		d.last = recent{}
		d.mu.Unlock()
		d.typing.Store(false)
		d.again()
	}
	s.refreshLenses()
}

// settled notes what both sides of a memory have in common once a file of it was saved, so
// that what somebody took is not asked again.
func (s *server) settled(doc *document) {
	d := s.directory(doc)
	if d == nil || memdir.PlaceOf(doc.dir) != memdir.PlaceAgent {
		return
	}
	// At once: by the next key the two sides may differ again.
	ctx, cancel := context.WithTimeout(s.ctx, settleWithin)
	defer cancel()
	s.settle(ctx, d)
	if ctx.Err() != nil {
		// Somebody else is at the state: late is better than never, and what lies on disk then is
		// noted. It waits for the lock as long as that is waited for, so that few wait at a time.
		s.running.Go(func() { s.settle(s.ctx, d) })
	}
}

// settleWithin is how long the next message of a client may have to wait for what a save
// has noted: 200 topics take a hundredth of it, another process that holds the state all of it.
const settleWithin = 2 * time.Second

func (s *server) settle(ctx context.Context, d *directory) {
	x, err := s.side(s.documents(), d)
	if err == nil && x != nil && !x.first {
		err = x.Settle(ctx)
	}
	if err != nil && ctx.Err() == nil { // else it is tried once more, or the server ends
		s.logOnce("settle "+err.Error(), "what was taken of the team's could not be noted: %v", err)
	}
	if x != nil {
		s.refreshLenses()
	}
}

// settleAll notes for each shared memory in which something is open what both sides have in
// common on disk: an editor tells nothing of files that it saved and had not opened for the
// server, as those that an edit of ours made.
func (s *server) settleAll() {
	ctx, cancel := context.WithTimeout(s.ctx, grace)
	defer cancel()
	s.mu.Lock()
	docs := s.docs
	var all []*directory
	for path, d := range s.dirs {
		if p := memdir.PlaceOf(path); p == memdir.PlaceAgent || p == memdir.PlaceSnapshot {
			all = append(all, d)
		}
	}
	s.mu.Unlock()
	for _, d := range all {
		x, err := s.side(docs, d)
		if err == nil && x != nil && !x.first {
			err = x.Settle(ctx)
		}
		if err != nil {
			s.logf("what was taken of the team's could not be noted: %v", err)
		}
	}
}

// sideOf finds what the argument of a command names: the URI of a directory in which
// something is open.
func (s *server) sideOf(docs *documents, dir string) (*side, error) {
	path, ok := pathOf(dir)
	if !ok {
		return nil, errors.New("the first argument has to be the URI of a memory directory")
	}
	s.mu.Lock()
	d := s.dirs[path]
	s.mu.Unlock()
	if d == nil {
		return nil, fmt.Errorf("nothing is open in %s: open its MEMORY.md first", shown(path))
	}
	x, err := s.side(docs, d)
	if err == nil && x == nil {
		err = fmt.Errorf("%s is not the memory that an agent has of a project, which is what a team shares, nor the snapshot of one", shown(path))
	}
	return x, err
}
