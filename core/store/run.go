package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/text"
)

// run journals the planned steps and makes them. When one fails, those before
// it are taken back.
func (a *application) run(c change.Change, how How) error {
	s := a.store
	order(a.steps)
	id, err := s.nextID()
	if err != nil {
		return err
	}
	for i := range a.steps {
		a.steps[i].Temp = tempName(id, i)
		a.planned = append(a.planned, a.steps[i].after)
	}
	a.record = Record{ID: id, Time: s.opt.Now(), Op: c.Op, Title: c.Title, Origin: s.opt.Origin, Actor: s.opt.Actor, Undoes: how.Undoes}
	if how.Origin != "" {
		a.record.Origin = how.Origin
	}
	if err := s.journal.append(&a.record, a.steps, true); err != nil {
		return explain(err)
	}
	for i := range a.steps {
		if err := a.make(&a.steps[i]); err != nil {
			return a.fail(i, err)
		}
	}
	if err := a.folders.sync(); err != nil {
		return a.fail(len(a.steps), err)
	}
	a.res.ID = id
	a.report()
	if a.raced {
		a.res.Losses = append(a.res.Losses, s.lostInRace(a)...)
	}
	defer s.noteSeen(a.root)
	// The change is done and durable. Without the mark the next process looks
	// again and finds it so.
	if err := s.journal.mark(mark{Done: id}); err != nil {
		a.res.Notes = append(a.res.Notes, err.Error())
	}
	if err := s.journal.trim(s.opt.Now(), s.opt.JournalAge, s.opt.JournalSize); err != nil {
		a.res.Notes = append(a.res.Notes, err.Error())
	}
	return nil
}

func tempName(id string, i int) string { return tempPrefix + id + "-" + strconv.Itoa(i) + tempSuffix }

// report brings the result up to what was written, merges included.
func (a *application) report() {
	for _, st := range a.steps {
		for i := range a.res.Files {
			if r := &a.res.Files[i]; r.Path == st.Path && r.Action != "unchanged" {
				r.Merged = r.Merged || (st.After != r.Hash && st.Kind != string(change.Append))
				r.After = st.after
				r.Hash = st.After
			}
		}
	}
}

// make does one step.
func (a *application) make(st *step) error {
	d, err := a.folders.of(st.Path, st.stays)
	if err != nil {
		return fmt.Errorf("opening the folder of %s: %w", st.Path, err)
	}
	name := path.Base(st.Path)
	switch st.Kind {
	case string(change.Append):
		if err := d.appendTo(name, st.after); err != nil {
			return fmt.Errorf("appending to %s: %w", st.Path, err)
		}
		return nil
	case string(change.Create):
		return a.create(d, name, st)
	case string(change.Delete):
		return a.delete(d, name, st)
	}
	return a.replace(d, name, st)
}

func (a *application) create(d *folder, name string, st *step) error {
	if err := d.writeTemp(st.Temp, st.after, a.infos[st.Path], true); err != nil {
		return fmt.Errorf("writing %s: %w", st.Path, err)
	}
	err := d.putNew(st.Temp, name)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		theirs, _, exists, readErr := d.read(name)
		if readErr == nil && exists && theirs != st.after {
			err = conflictWith(st.Path, theirs, []change.Conflict{{Path: st.Path, Part: "the whole file, which somebody else just created", Ours: st.after, Theirs: theirs}})
		} else if readErr == nil && exists {
			err = nil // the same text: all the better
		}
	}
	if err != nil {
		err = fmt.Errorf("creating %s: %w", st.Path, err)
	}
	return errors.Join(err, d.remove(st.Temp))
}

// maxRaces bounds how often a step is tried again because another program
// writes the same file at the same moments.
const maxRaces = 64

// replace puts the new content in the place of the old. A program that takes
// no lock may have written meanwhile: what the exchange displaced is compared
// and, where it is not what was planned for, merged and written again.
func (a *application) replace(d *folder, name string, st *step) error {
	content, expected := st.after, st.before
	for try := range maxRaces {
		if try > 0 {
			// The other program may have written again since: start from that.
			now, _, exists, err := d.read(name)
			if err != nil {
				return fmt.Errorf("replacing %s: %w", st.Path, err)
			}
			if exists && now != expected {
				merged, conflicts := change.Merge(st.Path, st.before, st.after, now)
				if len(conflicts) > 0 {
					return conflictWith(st.Path, now, conflicts)
				}
				content, expected = merged, now
			}
		}
		// Only the first try is made durable before it is seen: later ones hurry,
		// since the other program is writing, and are synced once they stand.
		if err := d.writeTemp(st.Temp, content, a.infos[st.Path], try == 0); err != nil {
			return fmt.Errorf("writing %s: %w", st.Path, err)
		}
		displaced, held, err := d.swapIn(st.Temp, name)
		if errors.Is(err, fs.ErrNotExist) {
			// Somebody deleted it just now; what we write stands.
			err = d.putNew(st.Temp, name)
			displaced, held = expected, false
		}
		if err != nil {
			return errors.Join(fmt.Errorf("replacing %s: %w", st.Path, err), d.remove(st.Temp))
		}
		if displaced == expected {
			return a.stand(d, name, st, content, expected, held)
		}
		a.raced = true
		if held {
			if displaced, err = d.settled(st.Temp, displaced); err != nil {
				return fmt.Errorf("reading what the write to %s displaced: %w", st.Path, err)
			}
		}
		// What is merged is always our change and the newest outside text: an
		// older one may be a file seen half written.
		merged, conflicts := change.Merge(st.Path, st.before, st.after, displaced)
		if len(conflicts) > 0 {
			return a.giveBack(d, name, content, st, displaced, conflicts)
		}
		if err := a.store.keepDisplaced(a.record.ID, st.Path, displaced); err != nil {
			_, _, back := d.swapIn(st.Temp, name)
			return errors.Join(err, back, d.remove(st.Temp))
		}
		content, expected = merged, content
	}
	return fmt.Errorf("replacing %s: another program writes it again and again. Try later", st.Path)
}

// stand ends a replacement: what was displaced is dropped, and what was merged
// and written in a hurry is journaled and made durable.
func (a *application) stand(d *folder, name string, st *step, content, displaced string, held bool) error {
	if held {
		if err := a.dropHeld(d, st.Temp, displaced); err != nil {
			return err
		}
	}
	if content == st.after {
		return nil
	}
	amended := newStep(st.Path, st.after, true, content, true)
	amended.Temp = st.Temp
	st.after, st.After = content, amended.After
	return errors.Join(a.amend(amended), d.syncFile(name), a.store.journal.sync())
}

// dropHeld removes what an exchange displaced, unless the program that had it
// open wrote to it once more: then its text is kept in the journal.
func (a *application) dropHeld(d *folder, temp, expected string) error {
	now, _, exists, err := d.read(temp)
	if err == nil && exists && now != expected {
		if err := a.keepDisplaced(now); err != nil {
			return err
		}
	}
	return d.remove(temp)
}

// amend journals what a change became together with an outside write.
func (a *application) amend(st step) error {
	r := a.record
	r.Amends, r.Op, r.Title = a.record.ID, "merge", "merge with a write of another program"
	var err error
	if r.ID, err = a.store.nextID(); err != nil {
		return err
	}
	return a.store.journal.append(&r, []step{st}, false)
}

func conflictWith(p, now string, conflicts []change.Conflict) error {
	return &ConflictError{Conflicts: conflicts, Current: map[string]Current{p: {Text: now, Hash: text.Hash(now), Exists: true}}}
}

// nextID gives an id later than those of all changes.
func (s *Store) nextID() (string, error) {
	return newID(s.opt.Now(), idOf(s.journal.last()), s.opt.Rand)
}

// keepDisplaced journals a text that another program wrote and that no file
// has any more, so that it can be looked up.
func (a *application) keepDisplaced(content string) error {
	return a.store.keepDisplaced(a.record.ID, a.steps[0].Path, content)
}

func (s *Store) keepDisplaced(amends, p, content string) error {
	id, err := s.nextID()
	if err != nil {
		return err
	}
	r := Record{ID: id, Time: s.opt.Now(), Op: OpDisplaced, Title: "text of another program that a write displaced", Actor: s.opt.Actor, Amends: amends}
	if err := s.journal.append(&r, []step{newStep(p, content, true, "", false)}, false); err != nil {
		return err
	}
	return s.journal.mark(mark{Done: id})
}

// giveBack undoes an exchange that turned out to be in conflict: what stood
// there goes back, and what somebody wrote in between stays too.
func (a *application) giveBack(d *folder, name, ours string, st *step, displaced string, conflicts []change.Conflict) error {
	put, want := displaced, ours
	for range maxRaces {
		if err := d.writeTemp(st.Temp, put, a.infos[st.Path], true); err != nil {
			return fmt.Errorf("giving %s back: %w", st.Path, err)
		}
		got, _, err := d.swapIn(st.Temp, name)
		if err != nil {
			return fmt.Errorf("giving %s back: %w", st.Path, err)
		}
		if got == want {
			break
		}
		if err := a.store.keepDisplaced(a.record.ID, st.Path, put); err != nil {
			return err
		}
		put, want = got, put // written once more: that is the newest
	}
	return errors.Join(conflictWith(st.Path, put, conflicts), d.remove(st.Temp))
}

// delete moves the file aside, looks at what it got, and removes it.
func (a *application) delete(d *folder, name string, st *step) error {
	if err := d.remove(st.Temp); err != nil {
		return fmt.Errorf("deleting %s: %w", st.Path, err)
	}
	err := d.root.Rename(d.at(name), d.at(st.Temp))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else did
	}
	if err != nil {
		return fmt.Errorf("deleting %s: %w", st.Path, err)
	}
	got, _, _, err := d.read(st.Temp)
	if err != nil {
		return fmt.Errorf("deleting %s: %w", st.Path, err)
	}
	if got == st.before {
		return d.remove(st.Temp)
	}
	conflict := conflictWith(st.Path, got, []change.Conflict{{Path: st.Path, Part: "the whole file, which somebody just changed", Base: st.before, Theirs: got}})
	if err := d.putNew(st.Temp, name); err != nil {
		// The name is taken again: the newer text stays, the older is kept.
		return errors.Join(conflict, a.store.keepDisplaced(a.record.ID, st.Path, got), d.remove(st.Temp))
	}
	return conflict
}

// fail takes back the steps before the one that failed and says why.
func (a *application) fail(failed int, cause error) error {
	var errs []error
	for i := failed - 1; i >= 0; i-- {
		st := a.steps[i]
		if st.Kind == string(change.Append) {
			continue // logs only grow
		}
		back := newStep(st.Path, st.after, st.stays, st.before, st.exists)
		back.Temp = st.Temp
		if err := a.make(&back); err != nil {
			errs = append(errs, fmt.Errorf("taking back %s: %w", st.Path, err))
		}
	}
	errs = append(errs, a.folders.sync(), a.store.journal.mark(mark{Aborted: a.record.ID}))
	return errors.Join(append([]error{explain(cause)}, errs...)...)
}

// explain adds the way out to the errors that people meet.
func explain(err error) error {
	var conflict *ConflictError
	var file *memdir.FileError
	switch {
	case errors.As(err, &conflict):
		return conflict
	case errors.As(err, &file):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w. Nothing was changed. Free some space and try again", err)
	case errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "read-only file system"):
		return fmt.Errorf("%w. Nothing was changed. Make the memory directory writable for this user", err)
	}
	return err
}

func hashOf(content string, exists bool) string {
	if !exists {
		return ""
	}
	return text.Hash(content)
}

// statOf gives size and modification time of a file, size -1 when there is none.
func statOf(root *os.Root, p string) (size int64, mtime int64) {
	info, err := root.Lstat(p)
	if err != nil {
		return -1, 0
	}
	return info.Size(), info.ModTime().UnixNano()
}
