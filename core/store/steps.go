package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/text"
)

// maxRaces bounds how often a step is tried again because another program
// writes the same file at the same moments; the first ones are made durable
// before they are seen, later ones hurry and are made durable once they stand.
const (
	maxRaces     = 64
	durableTries = 8
)

// make does one step. When it gives an error, the file is as it was, and the
// temporary file holds nothing of another program unless the step is stuck.
func (a *application) make(st *step) error {
	d, name, err := a.folderOf(st)
	if errors.Is(err, fs.ErrNotExist) && !st.stays {
		return nil // somebody deleted the whole folder
	}
	if err != nil {
		return err
	}
	st.without = st.before
	switch st.Kind {
	case string(change.Append):
		return d.appendTo(name, st.after)
	case string(change.Create):
		return a.create(d, name, st)
	case string(change.Delete):
		return a.delete(d, name, st)
	}
	return a.replace(d, name, st)
}

// ready writes the temporary file of a step, unless that is done.
func (a *application) ready(d *folder, st *step, content string, durable bool) error {
	if st.prepared {
		st.prepared = false
		return nil
	}
	err := d.writeTemp(st.Temp, content, a.like(st.Path), a.timeOf(st))
	if err == nil && durable {
		err = d.sync(st.Temp)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", st.Path, err)
	}
	return nil
}

func (a *application) create(d *folder, name string, st *step) error {
	if err := a.ready(d, st, st.after, true); err != nil {
		return err
	}
	err := d.putNew(st.Temp, name)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		theirs, _, exists, readErr := d.read(name)
		switch {
		case readErr != nil:
			err = readErr
		case exists && theirs == st.after:
			err = nil // the same text: all the better
		case exists:
			return errors.Join(conflictWith(st.Path, theirs, []change.Conflict{{Path: st.Path,
				Part: "the whole file, which somebody else just created", Ours: st.after, Theirs: theirs}}), d.remove(st.Temp))
		}
	}
	if err != nil {
		err = fmt.Errorf("creating %s: %w", st.Path, err)
	}
	return errors.Join(err, d.remove(st.Temp))
}

// replace puts the new content in the place of the old. A program that takes
// no lock may have written meanwhile: what the swap displaced is compared and,
// where it is not what was planned for, merged and written again. What is merged
// is always our change and all that others changed, one edit after the other.
func (a *application) replace(d *folder, name string, st *step) error {
	content, expected := st.after, st.before
	for try := range maxRaces {
		if try > 0 {
			// The other program may have written again since: start from that.
			now, _, exists, err := d.read(name)
			if err != nil {
				return errors.Join(err, d.remove(st.Temp))
			}
			if exists && now != expected {
				merged, conflicts := a.withTheirs(st, expected, now)
				if len(conflicts) > 0 {
					return errors.Join(conflictWith(st.Path, now, conflicts), d.remove(st.Temp))
				}
				content, expected = merged, now
				if merged == now { // it wrote again, and from what we had written
					return errors.Join(a.stand(d, name, st, content, expected, false), d.remove(st.Temp))
				}
			}
		}
		if err := a.ready(d, st, content, try < durableTries); err != nil {
			return err
		}
		displaced, held, err := a.swapIn(d, name, st, content, expected)
		if errors.Is(err, fs.ErrExist) {
			continue // deleted and made again, all at this moment
		}
		if err != nil {
			return err
		}
		if !held || displaced == expected {
			return a.stand(d, name, st, content, expected, held)
		}
		a.raced = true
		merged, conflicts := a.withTheirs(st, expected, displaced)
		if len(conflicts) > 0 {
			return errors.Join(conflictWith(st.Path, displaced, conflicts), a.giveBack(d, name, st, content))
		}
		if err := a.store.keepDisplaced(a.record.ID, st.Path, displaced); err != nil {
			return errors.Join(err, a.giveBack(d, name, st, content))
		}
		content, expected = merged, content
	}
	// Nothing stands long enough to be compared. Theirs goes back.
	return errors.Join(fmt.Errorf("replacing %s: another program writes it again and again; try later", st.Path), a.giveBack(d, name, st, expected))
}

// withTheirs takes in that another program made to of from, and gives our change
// together with all that others changed so far. A file seen half written is no
// harm: the rest comes as the next edit.
func (a *application) withTheirs(st *step, from, to string) (merged string, conflicts []change.Conflict) {
	theirs, clash := change.Merge(st.Path, from, st.without, to)
	if len(clash) > 0 {
		theirs = to // the newest; what it does not have is in the history
	}
	if merged, conflicts = change.Merge(st.Path, st.before, st.after, theirs); len(conflicts) == 0 {
		st.without = theirs
	}
	return merged, conflicts
}

// swapIn puts the temporary file in the place of name and gives what stood
// there; that is under the temporary name then, if held is true. A file that
// somebody deleted just now is made again: what we write stands.
func (a *application) swapIn(d *folder, name string, st *step, content, expected string) (displaced string, held bool, err error) {
	err = d.swap(st.Temp, name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.putNew(st.Temp, name); err == nil {
			return "", false, nil
		}
	}
	if err != nil {
		if !errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("replacing %s: %w", st.Path, err)
		}
		return "", false, errors.Join(err, d.remove(st.Temp))
	}
	displaced, info, held, err := d.read(st.Temp)
	if err == nil && held && isFresh(info) && (displaced == "" || displaced != expected) && !a.store.wrote(st.Path, text.Hash(displaced)) {
		displaced, err = d.settled(st.Temp, displaced)
	}
	busy := false
	if err == nil && held {
		// Whoever had the old file open still writes to it, and to nothing else.
		displaced, busy, err = d.released(st.Temp, displaced)
	}
	if err == nil && busy {
		err = fmt.Errorf("another program has %s open and goes on writing to it", st.Path)
	}
	if err != nil { // a folder or a link in the place of the file: it goes back
		err = named(err, st.Path)
		return "", false, errors.Join(err, a.giveBack(d, name, st, content))
	}
	return displaced, held, nil
}

// named gives the error of a file that was read under a temporary name the name
// that people know.
func named(err error, p string) error {
	var file *memdir.FileError
	if errors.As(err, &file) {
		return &memdir.FileError{Path: p, Reason: file.Reason, Hint: file.Hint}
	}
	return err
}

// stand ends a replacement: what was merged, and perhaps written in a hurry, is
// journaled and made durable.
func (a *application) stand(d *folder, name string, st *step, content, displaced string, held bool) error {
	st.held, st.displaced = held, displaced
	if content == st.after {
		return nil
	}
	amended := newStep(st.Path, st.after, true, content, true)
	amended.Temp = st.Temp
	st.after, st.After, st.merged = content, amended.After, true
	if err := errors.Join(a.amend(amended), d.sync(name)); err != nil {
		return errors.Join(err, a.takeBack(st))
	}
	return nil
}

// delete moves the file aside and looks at what it got. The file is removed when
// the whole change stands.
func (a *application) delete(d *folder, name string, st *step) error {
	err := d.rename(name, st.Temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else did
	}
	if err != nil {
		return fmt.Errorf("deleting %s: %w", st.Path, err)
	}
	got, _, _, err := d.read(st.Temp)
	busy := false
	if err == nil {
		got, busy, err = d.released(st.Temp, got)
	}
	err = named(err, st.Path)
	if err == nil && !busy && got == st.before {
		st.held, st.displaced = true, got
		return nil
	}
	if err == nil {
		err = conflictWith(st.Path, got, []change.Conflict{{Path: st.Path, Part: "the whole file, which somebody just changed", Base: st.before, Theirs: got}})
	}
	return errors.Join(err, a.putBack(d, name, st, got))
}

// putBack gives a file that was moved aside its name again. Where that is taken,
// the newer text stays and the older one is kept.
func (a *application) putBack(d *folder, name string, st *step, content string) error {
	st.stuck = true
	err := d.putNew(st.Temp, name)
	if errors.Is(err, fs.ErrExist) && content != st.before {
		err = a.keepDisplaced(st.Path, content)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("putting %s back: %w", st.Path, err)
	}
	st.stuck = false
	return d.remove(st.Temp)
}

// looked is a file as it was found.
type looked struct {
	Current
	info os.FileInfo
}

// look reads a file, once for a change.
func (a *application) look(p string) (*looked, error) {
	if l := a.files[p]; l != nil {
		return l, nil
	}
	d, err := a.folders.of(p, false)
	if errors.Is(err, fs.ErrNotExist) {
		return &looked{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the folder of %s: %w", p, err)
	}
	l, err := a.store.lookIn(d, path.Base(p))
	if err != nil {
		return nil, err
	}
	a.files[p] = l
	return l, nil
}

// lookIn reads a file of a folder, and waits for a program that is rewriting it.
func (s *Store) lookIn(d *folder, name string) (*looked, error) {
	content, info, exists, err := d.read(name)
	if err != nil || !exists {
		return &looked{}, err
	}
	hash := text.Hash(content)
	if isFresh(info) && !s.wrote(d.at(name), hash) {
		if content, err = d.settled(name, content); err != nil {
			return nil, err
		}
		if content, _, err = d.released(name, content); err != nil {
			return nil, err
		}
		hash = text.Hash(content)
	}
	return &looked{Current{Text: content, Hash: hash, Exists: true}, info}, nil
}

// wrote reports whether the newest change to a path left this content.
func (s *Store) wrote(p, hash string) bool {
	_, f := s.journal.lastOf(p)
	return f != nil && f.After == hash
}

// writable says why a file that exists is not to be changed.
func (l *looked) writable(p string) error {
	if l.Exists && l.info.Mode().Perm()&0o200 == 0 {
		return &memdir.FileError{Path: p, Reason: "is read-only", Hint: "make it writable if mem should change it"}
	}
	return nil
}
