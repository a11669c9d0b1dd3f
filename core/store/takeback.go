package store

import (
	"errors"
	"fmt"
	"io/fs"

	"mem/core/change"
)

// staysError says that a file has what another program wrote meanwhile.
type staysError struct{ path string }

func (e *staysError) Error() string {
	return e.path + " was written by another program at the same moment and stays so"
}

// giveBack undoes a swap: what stood there goes back, and what somebody wrote in
// between stays, which is a *staysError.
func (a *application) giveBack(d *folder, name string, st *step, ours string) error {
	st.stuck = true // until the temporary file is known to hold nothing of theirs
	var newer error
	for range maxRaces {
		err := d.swap(st.Temp, name)
		if errors.Is(err, fs.ErrNotExist) {
			if err = d.putNew(st.Temp, name); err == nil {
				st.stuck = false // ours was deleted
				return newer
			}
			if errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		if err != nil {
			return fmt.Errorf("giving %s back: %w", st.Path, err)
		}
		got, _, exists, err := d.read(st.Temp)
		if err == nil && (!exists || got == ours) {
			st.stuck = false
			return errors.Join(newer, d.remove(st.Temp))
		}
		// Somebody replaced ours: that is the newest and has to stay; what was
		// just given back is older. The next swap puts them so.
		older, _, _, readErr := d.read(name)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		if older != st.before {
			if err := a.keepDisplaced(st.Path, older); err != nil {
				return err
			}
		}
		ours = older
		newer = &staysError{st.Path}
	}
	return fmt.Errorf("giving %s back: another program writes it again and again", st.Path)
}

// restore takes a step back whose content stands at name.
func (a *application) restore(d *folder, name string, st *step, content string) error {
	back := newStep(st.Path, content, true, st.without, true)
	back.Temp, back.without = st.Temp, content
	now, _, exists, err := d.read(name)
	if err != nil || !exists || now == st.without {
		return errors.Join(err, d.remove(st.Temp))
	}
	if now != content {
		merged, conflicts := change.Merge(st.Path, content, st.without, now)
		if len(conflicts) > 0 {
			return errors.Join(&staysError{st.Path}, d.remove(st.Temp))
		}
		back = newStep(st.Path, now, true, merged, true)
		back.Temp, back.without = st.Temp, now
	}
	err = a.replaceOnce(d, name, &back)
	st.stuck = back.stuck
	return err
}

// replaceOnce is replace without another try: what does not fit is given back.
func (a *application) replaceOnce(d *folder, name string, st *step) error {
	if err := a.ready(d, st, st.after, true); err != nil {
		return err
	}
	displaced, held, err := a.swapIn(d, name, st, st.after, st.before)
	switch {
	case err != nil:
		return err
	case !held:
		return nil
	case displaced != st.before:
		return errors.Join(&staysError{st.Path}, a.giveBack(d, name, st, st.after))
	}
	return d.remove(st.Temp)
}

// takeBack undoes a step that was made. It takes no room on the disk unless
// another program wrote in between.
func (a *application) takeBack(st *step) error {
	d, name, err := a.folderOf(st)
	if err != nil {
		return err
	}
	switch {
	case st.Kind == string(change.Append):
		return d.cutAppended(name, st.Offset, st.after)
	case st.Kind == string(change.Create):
		made := *st
		made.before = st.after
		err := a.delete(d, name, &made)
		st.stuck = made.stuck
		var conflict *ConflictError
		if errors.As(err, &conflict) {
			return &staysError{st.Path}
		}
		if err != nil {
			return err
		}
		return d.remove(st.Temp)
	case st.Kind == string(change.Delete):
		if !st.held {
			return nil // nothing was there
		}
		return a.putBack(d, name, st, st.before)
	case st.held && !st.merged:
		if now, _, _, err := d.read(name); err == nil && now == st.after {
			return a.giveBack(d, name, st, st.after) // the old file itself goes back
		}
	}
	return a.restore(d, name, st, st.after)
}
