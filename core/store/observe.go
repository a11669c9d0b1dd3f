package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// Loss is an acknowledged memory that another program's write made vanish.
type Loss struct {
	ID    string `json:"id"`    // undoing this change puts it back; "" where the history cannot be written
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
	how := "memory_undo with id " + l.ID + " puts it back"
	if l.ID == "" {
		how = "Write it again if it should stay"
	}
	return fmt.Sprintf("%s was written by mem, and another program's write removed %s: %q. %s", l.Path, what, l.Entry, how)
}

// seen is the state of things at the last look, so that a look costs two stats.
type seen struct {
	sync.Mutex
	index   os.FileInfo // nil where there was none
	journal string      // newest record
	valid   bool
}

// Check rolls forward what a crash left half done and reports acknowledged
// memories that vanished. Where another process is writing it leaves that to it.
func (s *Store) Check(ctx context.Context) ([]Loss, []string) {
	pending := s.takeLosses()
	root, err := s.openRoot(false)
	if err != nil {
		return pending, nil
	}
	if !s.changedSince(root) {
		return pending, nil
	}
	root, unlock, ok, err := s.tryLockInProcess()
	if err != nil {
		return pending, []string{fmt.Sprintf("The history was not looked at: %v.", err)}
	}
	if !ok {
		return pending, nil
	}
	defer unlock()
	notes, err := s.settle(root)
	if err != nil {
		return pending, append(notes, fmt.Sprintf("The history was not looked at: %v.", err))
	}
	ds := s.folders(root)
	defer ds.close()
	d, err := ds.of(memfile.IndexName, false)
	if err != nil {
		return pending, append(notes, err.Error())
	}
	index, err := s.lookIn(d, memfile.IndexName)
	if err != nil {
		return pending, notes // the View says what is wrong with it
	}
	losses, more := s.observe(ds, index)
	return append(pending, losses...), append(notes, more...)
}

func (s *Store) tryLockInProcess() (root *os.Root, unlock func(), ok bool, err error) {
	select {
	case s.turn <- struct{}{}:
	default:
		return nil, nil, false, nil
	}
	root, release, ok, err := s.tryLock(false)
	if !ok || err != nil {
		<-s.turn
		return nil, nil, false, err
	}
	return root, func() { release(); <-s.turn }, true, nil
}

// changedSince reports whether the index or the journal changed since the last
// look, or a change is not marked as done.
func (s *Store) changedSince(root *os.Root) bool {
	if s.journal.refresh() != nil || s.journal.readable() != nil {
		return true
	}
	info, err := root.Lstat(memfile.IndexName)
	if err != nil {
		info = nil
	}
	s.seen.Lock()
	defer s.seen.Unlock()
	return !s.seen.valid || !sameState(s.seen.index, info) || s.seen.journal != s.journal.lastID() || len(s.journal.unmarked()) > 0
}

// sameState reports whether a file is what it was.
func sameState(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
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

// keepLosses keeps losses for the next result, where there is none to tell them.
func (s *Store) keepLosses(l []Loss) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losses = append(s.losses, l...)
}

// observe compares the index with what the newest change left and journals
// what vanished, so that it is reported once and can be put back. The caller
// holds the lock.
func (s *Store) observe(ds *folders, index *looked) (losses []Loss, notes []string) {
	valid := true
	if r, f := s.journal.lastOf(memfile.IndexName); r != nil && f.After != index.Hash {
		left, err := s.afterOf(r, memfile.IndexName)
		if err != nil {
			return nil, []string{fmt.Sprintf("Whether memories vanished from the index could not be seen: %v.", err)}
		}
		gone := slices.DeleteFunc(s.vanished(left, index.Text), func(e memfile.Entry) bool { return moved(ds.root, e, left, index.Text) })
		if len(gone) > 0 {
			losses, err = s.noteVanished(ds, left, index.Current, gone)
			if err != nil {
				valid = false // told again until it is in the history
				notes = append(notes, fmt.Sprintf("What vanished could not be noted in the history: %v.", err))
			}
		}
	}
	s.seen.Lock()
	defer s.seen.Unlock()
	// An equal modification time means an equal file only where it is not new.
	s.seen.index, s.seen.journal = index.info, s.journal.lastID()
	s.seen.valid = valid && (index.info == nil || !isFresh(index.info))
	return losses, notes
}

// lostInRace looks whether another program's write, with which a change of ours
// was just merged, made entries vanish that stood before and that our change
// does not remove.
func (s *Store) lostInRace(a *application) []Loss {
	for i, st := range a.steps {
		if st.Path != memfile.IndexName || !st.stays {
			continue
		}
		gone := s.vanished(a.planned[i], st.after)
		if len(gone) == 0 {
			continue
		}
		losses, err := s.noteVanished(a.folders, a.planned[i], Current{Text: st.after, Hash: st.After, Exists: true}, gone)
		a.note(err)
		return losses
	}
	return nil
}

// afterOf gives the text that a change left at a path.
func (s *Store) afterOf(r *Record, p string) (string, error) {
	steps, err := s.journal.steps(r)
	if err != nil {
		return "", err
	}
	for _, st := range steps {
		if st.Path == p {
			return st.after, nil
		}
	}
	return "", nil
}

// vanished gives the entries of left that current lacks and that a change of
// ours had put there.
func (s *Store) vanished(left, current string) []memfile.Entry {
	targets := map[string]bool{}
	for _, e := range memfile.ParseIndex(current).Entries {
		targets[e.Target] = true
	}
	var gone []memfile.Entry
	var ours map[string]bool
	for _, e := range memfile.ParseIndex(left).Entries {
		if targets[e.Target] {
			continue
		}
		targets[e.Target] = true // one loss for each topic
		if ours == nil {
			ours = s.linked()
		}
		if ours[e.Target] {
			gone = append(gone, e)
		}
	}
	return gone
}

// moved reports whether another program gave a topic another name, and its entry
// with it: that is no loss.
func moved(root *os.Root, gone memfile.Entry, left, current string) bool {
	if _, err := root.Lstat(gone.Target); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	before := memfile.ParseIndex(left)
	for _, e := range memfile.ParseIndex(current).Entries {
		if e.Title == gone.Title && before.Entry(e.Target) == nil {
			_, err := root.Lstat(e.Target)
			return err == nil
		}
	}
	return false
}

// linked gives the topics whose entries changes of ours wrote.
func (s *Store) linked() map[string]bool {
	out := map[string]bool{}
	for _, r := range s.journal.all() {
		if r.aborted {
			continue
		}
		for _, f := range r.Files {
			for _, target := range f.Linked {
				out[target] = true
			}
		}
	}
	return out
}

// noteVanished journals the loss as the change from what should be to what is:
// its inverse is the restoration.
func (s *Store) noteVanished(ds *folders, left string, current Current, gone []memfile.Entry) ([]Loss, error) {
	restored := restore(left, current, gone)
	steps := []step{newStep(memfile.IndexName, restored, true, current.Text, current.Exists)}
	var losses []Loss
	for _, e := range gone {
		l := Loss{Path: e.Target, Entry: memfile.EntryLine(e.Title, e.Target, e.Summary)}
		if content, lost := s.lostTopic(ds, e.Target); lost {
			l.Topic = true
			steps = append(steps, newStep(e.Target, content, true, "", false))
		}
		losses = append(losses, l)
	}
	id, err := s.nextID()
	if err != nil {
		return losses, err
	}
	r := Record{ID: id, Time: s.opt.Now(), Op: OpVanished, Actor: "another program",
		Title: fmt.Sprintf("%d acknowledged entries vanished from the index", len(gone))}
	if err := s.journal.append(r, steps); err != nil {
		return losses, err
	}
	for i := range losses {
		losses[i].ID = id
	}
	return losses, errors.Join(s.journal.mark(mark{Done: id}), s.journal.sync())
}

// restore gives the index with the entries that are gone from it. One that was
// emptied as a whole gets its old text.
func restore(left string, current Current, gone []memfile.Entry) string {
	if strings.TrimSpace(current.Text) == "" {
		return left
	}
	var lines []string
	for _, e := range gone {
		lines = append(lines, memfile.EntryLine(e.Title, e.Target, e.Summary))
	}
	// One place for all, found once: an index can lose hundreds. The list that
	// they join may have another mark than "-".
	x := memfile.ParseIndex(current.Text)
	edits := x.Insert(lines[0])
	before, after, _ := strings.Cut(edits[0].New, lines[0][1:])
	mark := before[strings.LastIndexByte(before, '\n')+1:]
	for _, line := range lines[1:] {
		lines[0] += x.Text().EOL() + mark + line[1:]
	}
	edits[0].New = before + lines[0][1:] + after
	restored, _ := text.Apply(current.Text, edits)
	return restored
}

// lostTopic gives the last text we wrote of a topic whose file is gone.
func (s *Store) lostTopic(ds *folders, p string) (string, bool) {
	r, f := s.journal.lastOf(p)
	if r == nil || f.After == "" || f.Kind == string(change.Append) {
		return "", false
	}
	if _, err := ds.root.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	content, err := s.afterOf(r, p)
	return content, err == nil
}
