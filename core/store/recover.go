package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/text"
)

// settle reads the journal up to now and rolls forward each change that has no
// mark: its process died between journaling it and being done. The caller holds
// the lock. Nobody was told that such a change succeeded, so it may stand or
// not, but never by half.
func (s *Store) settle(root *os.Root) (notes []string, err error) {
	if err := s.journal.refresh(); err != nil {
		return nil, err
	}
	if err := s.journal.readable(); err != nil {
		return nil, err
	}
	if err := s.journal.pastDamage(); err != nil {
		return nil, err
	}
	if damage := s.journal.damage(); damage != "" {
		notes = append(notes, damage)
	}
	for _, r := range s.journal.unmarked() {
		m := mark{Done: r.ID}
		more, err := s.complete(root, r)
		var damaged *damagedError
		switch {
		case errors.As(err, &damaged):
			// The power went before the record was durable: nothing of it was begun.
			m = mark{Aborted: r.ID}
			more = []string{fmt.Sprintf("The change %s (%s) was interrupted before it began and was not made.", r.ID, r.Title)}
		case err != nil:
			return nil, fmt.Errorf("completing the interrupted change %s (%s): %w", r.ID, r.Title, err)
		}
		notes = append(notes, more...)
		if err := s.journal.mark(m); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// complete rolls one change forward.
func (s *Store) complete(root *os.Root, r *Record) (notes []string, err error) {
	steps, err := s.journal.steps(r)
	if err != nil {
		return nil, err
	}
	a := s.apply(root, nil, nil)
	a.record, a.steps = *r, steps
	defer a.folders.close()
	for _, st := range steps {
		// No mem wrote such a record: whoever did may not write through us.
		if err := memdir.CheckPath(st.Path); err != nil {
			return nil, &damagedError{r.ID, err.Error()}
		}
	}
	for i := range steps {
		if err := a.rollForward(&steps[i]); err != nil {
			return nil, err
		}
	}
	if err := a.folders.sync(steps); err != nil {
		return nil, err
	}
	if !a.drop() {
		return nil, errors.New(strings.Join(a.res.Notes, "; "))
	}
	if r.Amends != "" {
		return a.res.Notes, nil
	}
	return append(a.res.Notes, fmt.Sprintf("The change %s (%s) was interrupted and is now complete.", r.ID, r.Title)), nil
}

// rollForward finishes one step, whatever state the crash left it in.
func (a *application) rollForward(st *step) error {
	d, name, err := a.folderOf(st)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a deletion in a folder that is gone
	}
	if err != nil {
		return err
	}
	if st.Kind == string(change.Append) {
		err = a.finishAppend(d, name, st)
	} else if err = a.lookAtTemps(d, name, st); err == nil {
		err = a.finish(d, name, st)
	}
	var file *memdir.FileError
	var conflict *ConflictError
	var stays *staysError
	switch {
	case errors.As(err, &file):
		a.res.Notes = append(a.res.Notes, fmt.Sprintf("After a crash of mem, %v. It was left as it is.", file))
		return nil
	case (errors.As(err, &conflict) || errors.As(err, &stays)) && !st.stuck:
		a.left(st)
		return nil
	}
	return err
}

func (a *application) left(st *step) {
	a.res.Notes = append(a.res.Notes, fmt.Sprintf("%s was changed by another program after a crash of mem and was left as it is.", st.Path))
}

// finish makes a step whose temporary files were looked at.
func (a *application) finish(d *folder, name string, st *step) error {
	have, info, exists, err := a.readExact(d, name, st)
	if err != nil {
		return err
	}
	a.files[st.Path] = &looked{info: info}
	switch {
	case exists == st.stays && (!exists || have == st.after):
		return nil // done before the crash
	case exists == st.exists && (!exists || have == st.before):
		return a.make(st)
	case !exists || !st.stays:
		a.left(st) // somebody removed or changed it since: theirs stands
		return nil
	}
	merged, conflicts := change.Merge(st.Path, st.before, st.after, have)
	if len(conflicts) > 0 {
		a.left(st)
		return nil
	}
	if have == merged {
		return nil
	}
	again := newStep(st.Path, have, true, merged, true)
	again.Temp = st.Temp
	err = a.make(&again)
	*st = again
	return err
}

// readExact reads the file of a step. Of a rename that changes letter case only, a file
// counts by the name that the folder has: where case does not count, the other one would
// be found under both.
func (a *application) readExact(d *folder, name string, st *step) (content string, info os.FileInfo, exists bool, err error) {
	content, info, exists, err = d.read(name)
	if err != nil || !exists || !slices.ContainsFunc(a.steps, func(x step) bool {
		return x.From != "" && x.From != x.Path && strings.EqualFold(x.From, x.Path) && (x.From == st.Path || x.Path == st.Path)
	}) {
		return content, info, exists, err
	}
	names, err := d.names()
	if err != nil || slices.Contains(names, name) {
		return content, info, exists, err
	}
	return "", nil, false, nil
}

// lookAtTemps removes the temporary files of a step. When a crash came between
// a swap and the look at what it displaced, an outside text is in one: it is
// merged as the live write would have done, given back, or journaled.
func (a *application) lookAtTemps(d *folder, name string, st *step) error {
	if _, ours := tempID(st.Temp); !ours || path.Base(st.Temp) != st.Temp {
		return nil
	}
	for _, temp := range []string{asideName(st.Temp), st.Temp} {
		held, _, exists, err := d.read(temp)
		if err != nil {
			var file *memdir.FileError
			if errors.As(err, &file) {
				return a.giveBackForeign(d, name, temp, file)
			}
			return err
		}
		if !exists {
			continue
		}
		have, _, ok, err := d.read(name)
		if err != nil {
			return err
		}
		switch {
		case held == st.before || held == st.after || strings.HasPrefix(st.after, held) || ok && held == have:
		case !ok:
			// Moved aside to be deleted, or not there any more: it goes back.
			if err := d.putNew(temp, name); err != nil {
				return fmt.Errorf("putting %s back: %w", st.Path, err)
			}
			continue
		case st.stays && have == st.after:
			// It was displaced and nothing came after.
			merged, conflicts := change.Merge(st.Path, st.before, st.after, held)
			if len(conflicts) > 0 {
				if err := a.giveBack(d, name, &step{FileRecord: FileRecord{Path: st.Path, Temp: temp}, before: st.before, after: st.after}, have); err != nil {
					return err
				}
				continue
			}
			if err := a.keepDisplaced(st.Path, held); err != nil {
				return err
			}
			st.after, st.After = merged, text.Hash(merged)
			st.before, st.Before, st.exists = have, text.Hash(have), true
			st.Kind = string(change.Edit)
		default:
			if err := a.keepDisplaced(st.Path, held); err != nil {
				return err
			}
		}
		if err := d.remove(temp); err != nil {
			return err
		}
	}
	return nil
}

// giveBackForeign puts a folder or a link back that a swap brought up.
func (a *application) giveBackForeign(d *folder, name, temp string, why error) error {
	err := d.putNew(temp, name)
	if errors.Is(err, fs.ErrExist) {
		if err = d.swap(temp, name); err == nil {
			err = d.remove(temp)
		}
	}
	return errors.Join(err, why)
}

// finishAppend completes an append of which a part may be there.
func (a *application) finishAppend(d *folder, name string, st *step) error {
	have, _, exists, err := d.read(name)
	if err != nil {
		return err
	}
	tail := ""
	if exists && int64(len(have)) >= st.Offset {
		tail = have[st.Offset:]
	}
	switch {
	case strings.Contains(tail, st.after):
		return nil
	case strings.HasPrefix(st.after, tail):
		return d.appendTo(name, st.after[len(tail):])
	}
	a.left(st) // somebody else appended to the part: nothing was acknowledged
	return nil
}

// sweepAfter is how old a temporary file must be before it counts as litter: a
// failing power supply leaves one whose record it took. One that is younger may
// belong to a mem with another state directory, which looks at it itself.
const sweepAfter = 24 * time.Hour

// sweep removes litter among the names of a folder. What is in it goes to the
// journal first.
func (s *Store) sweep(d *folder, names []string) error {
	for _, name := range names {
		id, ours := tempID(name)
		if !ours || s.opt.Now().Sub(time.UnixMilli(decodeTime(id))) < sweepAfter {
			continue
		}
		content, info, exists, err := d.read(name)
		if err != nil || !exists || time.Since(info.ModTime()) < sweepAfter {
			continue
		}
		if content != "" {
			if err := s.keepDisplaced("", d.at(strings.TrimPrefix(name, tempPrefix)), content); err != nil {
				return err
			}
		}
		if err := d.remove(name); err != nil {
			return err
		}
	}
	return nil
}
