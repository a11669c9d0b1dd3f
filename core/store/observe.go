package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// Loss is an acknowledged memory that another program's write made vanish.
type Loss struct {
	ID    string `json:"id"`    // undoing this change puts it back
	Path  string `json:"path"`  // the topic
	Entry string `json:"entry"` // its line in the index
	Topic bool   `json:"topic"` // whether the topic file is gone as well
}

// String says what happened and what to do.
func (l Loss) String() string {
	what := "its entry"
	if l.Topic {
		what = "it and its entry"
	}
	return fmt.Sprintf("%s was written by mem, and another program's write removed %s: %q. memory_undo with id %s puts it back", l.Path, what, l.Entry, l.ID)
}

// seen is the state of things at the last look, so that a look costs two stats.
type seen struct {
	sync.Mutex
	indexSize, indexTime int64
	journal              string // newest record
	valid                bool
}

// Check rolls forward what a crash left half done and reports acknowledged
// memories that vanished. Where another process is writing it leaves that to it.
func (s *Store) Check(ctx context.Context) ([]Loss, []string) {
	root, err := s.openRoot(false)
	if err != nil {
		return nil, nil
	}
	pending := s.takeLosses()
	if !s.changedSince(root) {
		return pending, nil
	}
	unlock, ok, err := s.tryLockInProcess()
	if err != nil {
		return pending, []string{err.Error()}
	}
	if !ok {
		return pending, nil
	}
	defer unlock()
	notes, err := s.settle(root)
	if err != nil {
		return pending, append(notes, err.Error())
	}
	return append(pending, s.observe(root)...), notes
}

func (s *Store) tryLockInProcess() (func(), bool, error) {
	select {
	case s.turn <- struct{}{}:
	default:
		return nil, false, nil
	}
	unlock, ok, err := s.tryLock()
	if !ok || err != nil {
		<-s.turn
		return nil, false, err
	}
	return func() { unlock(); <-s.turn }, true, nil
}

// changedSince reports whether the index or the journal changed since the last
// look, or a change is not marked as done.
func (s *Store) changedSince(root *os.Root) bool {
	if s.journal.refresh() != nil {
		return true
	}
	size, mtime := statOf(root, memfile.IndexName)
	open := len(s.journal.unmarked()) > 0
	s.seen.Lock()
	defer s.seen.Unlock()
	return open || !s.seen.valid || s.seen.indexSize != size || s.seen.indexTime != mtime || s.seen.journal != idOf(s.journal.last())
}

func idOf(r *Record) string {
	if r == nil {
		return ""
	}
	return r.ID
}

func (s *Store) takeLosses() []Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.losses
	s.losses = nil
	return l
}

// observe compares the index with what the newest change left and journals
// what vanished, so that it is reported once and can be put back. The caller
// holds the lock. What it cannot read it reports at the next look.
func (s *Store) observe(root *os.Root) []Loss {
	size, mtime := statOf(root, memfile.IndexName)
	losses, ok := s.findLosses(root)
	s.seen.Lock()
	defer s.seen.Unlock()
	s.seen.indexSize, s.seen.indexTime, s.seen.journal, s.seen.valid = size, mtime, idOf(s.journal.last()), ok
	return losses
}

// noteSeen takes what a change of ours left for seen. The caller holds the
// lock and looked before the change.
func (s *Store) noteSeen(root *os.Root) {
	size, mtime := statOf(root, memfile.IndexName)
	s.seen.Lock()
	defer s.seen.Unlock()
	s.seen.indexSize, s.seen.indexTime, s.seen.journal = size, mtime, idOf(s.journal.last())
}

func (s *Store) findLosses(root *os.Root) (losses []Loss, ok bool) {
	r, f := s.journal.lastOf(memfile.IndexName)
	if r == nil {
		return nil, true
	}
	d, err := openFolder(root, ".", false)
	if err != nil {
		return nil, false
	}
	defer func() { _ = d.close() }()
	current, _, exists, err := d.read(memfile.IndexName)
	if err != nil {
		return nil, false
	}
	if hashOf(current, exists) == f.After {
		return nil, true
	}
	left, ok := s.afterOf(r, memfile.IndexName)
	if !ok {
		return nil, false
	}
	gone := s.vanished(left, current)
	if len(gone) == 0 {
		return nil, true
	}
	return s.noteVanished(d, current, exists, gone), true
}

// lostInRace looks whether another program's write, with which a change of ours
// was just merged, made entries vanish that stood before and that our change
// does not remove.
func (s *Store) lostInRace(a *application) []Loss {
	for i, st := range a.steps {
		if st.Path != memfile.IndexName || !st.stays {
			continue
		}
		d, err := a.folders.of(memfile.IndexName, false)
		if err != nil {
			return nil
		}
		if gone := s.vanished(a.planned[i], st.after); len(gone) > 0 {
			return s.noteVanished(d, st.after, true, gone)
		}
	}
	return nil
}

func (s *Store) afterOf(r *Record, p string) (string, bool) {
	steps, err := s.journal.steps(r)
	if err != nil {
		return "", false
	}
	for _, st := range steps {
		if st.Path == p {
			return st.after, true
		}
	}
	return "", false
}

// vanished gives the entries of left that current lacks and that a change of
// ours had put there.
func (s *Store) vanished(left, current string) []memfile.Entry {
	now := memfile.ParseIndex(current)
	var gone []memfile.Entry
	var ours map[string]bool
	for _, e := range memfile.ParseIndex(left).Entries {
		if now.Entry(e.Target) != nil {
			continue
		}
		if ours == nil {
			ours = map[string]bool{}
			for _, r := range s.journal.all() {
				for _, f := range r.Files {
					for _, target := range f.Linked {
						ours[target] = true
					}
				}
			}
		}
		if ours[e.Target] {
			gone = append(gone, e)
		}
	}
	return gone
}

// noteVanished journals the loss as the change from what should be to what is:
// its inverse is the restoration.
func (s *Store) noteVanished(d *folder, current string, exists bool, gone []memfile.Entry) []Loss {
	restored := current
	for i := len(gone) - 1; i >= 0; i-- {
		e := gone[i]
		x := memfile.ParseIndex(restored)
		line := memfile.EntryLine(e.Title, e.Target, e.Summary)
		if after, ok := text.Apply(restored, x.Insert(line)); ok {
			restored = after
		}
	}
	steps := []step{newStep(memfile.IndexName, restored, true, current, true)}
	if !exists {
		steps = []step{newStep(memfile.IndexName, restored, true, "", false)}
	}
	var losses []Loss
	for _, e := range gone {
		l := Loss{Path: e.Target, Entry: memfile.EntryLine(e.Title, e.Target, e.Summary)}
		if content, lost := s.lostTopic(d, e.Target); lost {
			l.Topic = true
			steps = append(steps, newStep(e.Target, content, true, "", false))
		}
		losses = append(losses, l)
	}
	id, err := s.nextID()
	if err != nil {
		return nil
	}
	r := Record{ID: id, Time: s.opt.Now(), Op: OpVanished, Actor: "another program",
		Title: fmt.Sprintf("%d acknowledged entries vanished from the index", len(gone))}
	if s.journal.append(&r, steps, true) != nil || s.journal.mark(mark{Done: id}) != nil {
		return nil
	}
	for i := range losses {
		losses[i].ID = id
	}
	return losses
}

// lostTopic gives the last text we wrote of a topic whose file is gone.
func (s *Store) lostTopic(d *folder, p string) (string, bool) {
	if _, err := d.root.Lstat(path.Clean(p)); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	r, f := s.journal.lastOf(p)
	if r == nil || f.After == "" || f.Kind == string(change.Append) {
		return "", false
	}
	return s.afterOf(r, p)
}
