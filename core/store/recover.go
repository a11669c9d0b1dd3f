package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"mem/core/change"
	"mem/core/text"
)

// settle reads the journal up to now and, rolls forward each
// change that has no mark: its process died between journaling it and being done. The
// caller holds the lock. Nobody was told that such a change succeeded, so it
// may stand or not, but never by half.
func (s *Store) settle(root *os.Root) (notes []string, err error) {
	if err := s.journal.refresh(); err != nil {
		return nil, err
	}
	for _, r := range s.journal.unmarked() {
		more, err := s.complete(root, r)
		if err != nil {
			return nil, fmt.Errorf("recovering the change %s (%s): %w", r.ID, r.Title, err)
		}
		notes = append(notes, more...)
		if err := s.journal.mark(mark{Done: r.ID}); err != nil {
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
	a := &application{store: s, root: root, folders: &folders{root: root, open: map[string]*folder{}}, res: &Result{}, infos: map[string]os.FileInfo{}, record: *r, steps: steps}
	defer a.folders.close()
	for i := range steps {
		note, err := a.rollForward(&steps[i])
		if err != nil {
			return nil, err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	notes = append(notes, fmt.Sprintf("The change %s (%s) was interrupted and is now complete.", r.ID, r.Title))
	return notes, a.folders.sync()
}

// rollForward finishes one step, whatever state the crash left it in.
func (a *application) rollForward(st *step) (note string, err error) {
	d, err := a.folders.of(st.Path, st.stays)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // a deletion in a folder that is gone
	}
	if err != nil {
		return "", err
	}
	name := path.Base(st.Path)
	if st.Kind == string(change.Append) {
		return "", a.finishAppend(d, name, st)
	}
	if note, err = a.lookAtTemp(d, st); err != nil {
		return "", err
	}
	have, info, exists, err := d.read(name)
	if err != nil {
		return fmt.Sprintf("%s could not be looked at after a crash: %v", st.Path, err), nil
	}
	if exists {
		a.infos[st.Path] = info
	}
	switch {
	case exists == st.stays && (!exists || have == st.after):
		return note, nil // done before the crash
	case exists == st.exists && (!exists || have == st.before):
		return note, a.make(st)
	case !exists || !st.stays:
		return left(st), nil // somebody removed or changed it since: theirs stands
	}
	merged, conflicts := change.Merge(st.Path, st.before, st.after, have)
	if len(conflicts) > 0 {
		return left(st), nil
	}
	again := newStep(st.Path, have, true, merged, true)
	again.Temp = st.Temp
	if have == merged {
		return note, nil
	}
	return note, a.make(&again)
}

func left(st *step) string {
	return fmt.Sprintf("%s was changed by another program after a crash of mem and was left as it is.", st.Path)
}

// lookAtTemp removes the temporary file of a step. When a crash came between
// an exchange and the look at what it displaced, an outside text is in it: it
// is journaled first.
func (a *application) lookAtTemp(d *folder, st *step) (note string, err error) {
	if !strings.HasPrefix(st.Temp, tempPrefix) || strings.ContainsAny(st.Temp, `/\`) {
		return "", nil
	}
	held, _, exists, err := d.read(st.Temp)
	if err != nil || !exists {
		return "", err
	}
	known := held == st.before || held == st.after || strings.HasPrefix(st.after, held)
	if !known {
		if err := a.store.keepDisplaced(a.record.ID, st.Path, held); err != nil {
			return "", err
		}
		note = fmt.Sprintf("A text that another program wrote to %s while mem crashed is kept in the history.", st.Path)
		have, _, ok, err := d.read(path.Base(st.Path))
		if err == nil && ok && have == st.after {
			// It was displaced and nothing came after: merge it as a live write would.
			if merged, conflicts := change.Merge(st.Path, st.before, st.after, held); len(conflicts) == 0 {
				st.after, st.After = merged, text.Hash(merged)
				st.before, st.Before = have, text.Hash(have)
			}
		}
	}
	return note, d.remove(st.Temp)
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
	return nil // somebody else appended to the part: nothing was acknowledged
}
