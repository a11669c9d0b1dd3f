package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memfile"
	"mem/core/text"
)

// application is one change on its way to disk.
type application struct {
	store   *Store
	folders *folders
	files   map[string]*looked  // what was found under each path
	names   map[string][]string // of what lies in each folder, once they were asked for
	res     *Result
	record  Record
	steps   []step
	planned []string // what each step was meant to leave, before any race
	raced   bool     // another program wrote at the same moment
}

func (s *Store) apply(root *os.Root, findings []guard.Finding, notes []string) *application {
	return &application{store: s, folders: s.folders(root), files: map[string]*looked{}, names: map[string][]string{},
		res: &Result{Findings: findings, Notes: notes}}
}

// run journals the planned steps and makes them: first everything that takes
// room on the disk, then, one after the other, what others see. When one fails,
// those before it are taken back, which takes no room.
//
// It can be cancelled until others see something of it.
func (a *application) run(ctx context.Context, c change.Change, how How) error {
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
	a.record = Record{ID: id, Time: s.opt.Now(), Op: c.Op, Title: c.Title, Origin: s.opt.Origin, Actor: s.opt.Actor, Undoes: how.Undoes, KeepTimes: how.KeepTimes}
	if how.Origin != "" {
		a.record.Origin = how.Origin
	}
	if err := s.journal.append(a.record, a.steps); err != nil {
		return err
	}
	if err := a.prepare(ctx); err != nil {
		return a.fail(0, err)
	}
	for i := range a.steps {
		if err := a.make(&a.steps[i]); err != nil {
			return a.fail(i, err)
		}
	}
	if err := a.folders.sync(a.steps); err != nil {
		return a.fail(len(a.steps), err)
	}
	if err := a.stillThere(); err != nil {
		return a.fail(len(a.steps), err)
	}
	dropped := a.drop()
	a.res.ID = id
	a.report()
	if a.raced {
		a.res.Losses = append(a.res.Losses, s.lostInRace(a)...)
	}
	a.sawItself()
	// The change is done and durable. Without the mark the next process looks
	// again, finds it so, and removes what could not be removed.
	if dropped {
		a.note(s.journal.mark(mark{Done: id}))
	}
	a.note(s.journal.trim(s.opt.Now(), s.opt.JournalAge, s.opt.JournalSize))
	return nil
}

// sawItself spares the next look at the index where this change left it alone: it
// was looked at before.
func (a *application) sawItself() {
	for _, st := range a.steps {
		if st.Path == memfile.IndexName {
			return
		}
	}
	s := a.store
	s.seen.Lock()
	defer s.seen.Unlock()
	s.seen.journal = s.journal.lastID()
}

func (a *application) note(err error) {
	if err != nil {
		a.res.Notes = append(a.res.Notes, err.Error())
	}
}

// prepare writes the new texts to temporary files and makes them and the
// journal durable, all at once.
func (a *application) prepare(ctx context.Context) error {
	syncs := []func() error{a.store.journal.sync}
	for i := range a.steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		st := &a.steps[i]
		d, err := a.folders.of(st.Path, st.stays)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a deletion in a folder that is gone
		}
		if err != nil {
			return fmt.Errorf("opening the folder of %s: %w", st.Path, err)
		}
		if st.Kind != string(change.Create) && st.Kind != string(change.Edit) {
			continue
		}
		if err := d.writeTemp(st.Temp, st.after, a.like(st.Path), a.timeOf(st)); err != nil {
			return fmt.Errorf("writing %s: %w", st.Path, err)
		}
		st.prepared = true
		syncs = append(syncs, func() error { return d.sync(st.Temp) })
	}
	if a.store.instant != nil {
		return inTurn(syncs) // so that each instant of a test is the same each time
	}
	return together(syncs)
}

func inTurn(fns []func() error) error {
	for _, f := range fns {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// together runs functions at once and waits for all. File systems make what
// arrives together durable together, in little more than the time of one.
func together(fns []func() error) error {
	errs := make([]error, len(fns))
	var wg sync.WaitGroup
	for i, f := range fns[1:] {
		wg.Go(func() { errs[i+1] = f() })
	}
	errs[0] = fns[0]()
	wg.Wait()
	return errors.Join(errs...)
}

// stillThere makes sure that what was written is where people look: the
// directory, or a folder in it, may have been replaced meanwhile.
func (a *application) stillThere() error {
	for dir, d := range a.folders.open {
		p := filepath.Join(a.store.dir, filepath.FromSlash(dir))
		have, errHave := d.file.Stat()
		now, errNow := os.Stat(p)
		if errHave != nil || errNow != nil || !os.SameFile(have, now) {
			return fmt.Errorf("%s was removed or replaced while it was written to; try again", p)
		}
	}
	return nil
}

// report brings the result up to what was written, merges included.
func (a *application) report() {
	for _, st := range a.steps {
		for i := range a.res.Files {
			r := &a.res.Files[i]
			if r.Path != st.Path || r.Action == "unchanged" || r.Action == "appended" {
				continue
			}
			r.Merged = r.Merged || st.After != r.Hash
			r.After, r.Hash = st.after, st.After
		}
	}
}

// drop removes what the steps displaced. It reports whether all of it is gone.
func (a *application) drop() bool {
	all := true
	for i := range a.steps {
		st := &a.steps[i]
		if !st.held {
			continue
		}
		if err := a.dropHeld(st); err != nil {
			a.note(fmt.Errorf("the old text of %s stays beside it until the next use of mem: %w", st.Path, err))
			all = false
		}
	}
	return all
}

// dropHeld removes what a step displaced, unless the program that had it open
// wrote to it once more: then its text is kept in the journal first.
func (a *application) dropHeld(st *step) error {
	d, err := a.folders.of(st.Path, false)
	if err != nil {
		return err
	}
	now, _, exists, err := d.read(st.Temp)
	if err != nil {
		return err
	}
	if exists && now != st.displaced {
		if err := a.keepDisplaced(st.Path, now); err != nil {
			return err
		}
	}
	if err := d.remove(st.Temp); err != nil {
		return err
	}
	st.held = false
	return nil
}

// fail takes back the steps before the one that failed and says why.
func (a *application) fail(failed int, cause error) error {
	var errs []error
	clean := true // nothing is left that the next process has to look at
	for i := len(a.steps) - 1; i >= 0; i-- {
		st := &a.steps[i]
		var err error
		switch {
		case st.stuck:
			clean = false
			continue
		case i < failed:
			err = a.takeBack(st)
		default:
			err = a.unprepare(st)
		}
		var stays *staysError
		switch {
		case err == nil:
		case errors.As(err, &stays) && !st.stuck:
			errs = append(errs, stays)
		default:
			clean = false
			errs = append(errs, fmt.Errorf("taking back the change of %s: %w", st.Path, err))
		}
	}
	if failed > 0 {
		if err := a.folders.sync(a.steps); err != nil {
			clean = false
			errs = append(errs, err)
		}
	}
	if clean {
		if err := a.store.journal.withdraw(a.record.ID); err != nil {
			clean = false
			errs = append(errs, err)
		}
	}
	if !clean {
		errs = append(errs, errors.New("the next use of mem completes the change or what is left of it"))
	}
	if len(errs) == 0 {
		return cause
	}
	return &unfinishedError{errors.Join(append([]error{cause}, errs...)...)}
}

// unprepare removes the temporary file of a step that was not made.
func (a *application) unprepare(st *step) error {
	if !st.prepared {
		return nil
	}
	d, err := a.folders.of(st.Path, false)
	if err != nil {
		return err
	}
	return d.remove(st.Temp)
}

// nextID gives an id later than those of all changes.
func (s *Store) nextID() (string, error) {
	return newID(s.opt.Now(), s.journal.lastID(), s.opt.Rand)
}

func (a *application) keepDisplaced(p, content string) error {
	if err := a.store.keepDisplaced(a.record.ID, p, content); err != nil {
		return fmt.Errorf("keeping what another program wrote to %s: %w", p, err)
	}
	a.res.Notes = append(a.res.Notes, fmt.Sprintf("Another program wrote to %s at the same moment; its text is kept in the history.", p))
	return nil
}

// keepDisplaced journals a text that another program wrote and that no file
// has any more, so that it can be looked up.
func (s *Store) keepDisplaced(amends, p, content string) error {
	id, err := s.nextID()
	if err != nil {
		return err
	}
	r := Record{ID: id, Time: s.opt.Now(), Op: OpDisplaced, Title: "text of another program that a write displaced", Actor: s.opt.Actor, Amends: amends}
	if err := s.journal.append(r, []step{newStep(p, content, true, "", false)}); err != nil {
		return err
	}
	if err := s.journal.sync(); err != nil {
		return err
	}
	return s.journal.mark(mark{Done: id})
}

// amend journals what a change became together with an outside write.
func (a *application) amend(st step) error {
	r := a.record
	r.Amends, r.Op, r.Title, r.Undoes = a.record.ID, "merge", "merge with a write of another program", ""
	var err error
	if r.ID, err = a.store.nextID(); err != nil {
		return err
	}
	if err := a.store.journal.append(r, []step{st}); err != nil {
		return err
	}
	return a.store.journal.sync()
}

func conflictWith(p, now string, conflicts []change.Conflict) error {
	return &ConflictError{Conflicts: conflicts, Current: map[string]Current{p: {Text: now, Hash: text.Hash(now), Exists: true}}}
}

// like gives the info of the file that a temporary file will replace.
func (a *application) like(p string) os.FileInfo {
	if l := a.files[p]; l != nil {
		return l.info
	}
	return nil
}

// keptTick is added to a modification time that is kept, so that programs which tell
// by size and time whether a file changed see that it did.
const keptTick = time.Millisecond

// timeOf gives the modification time of what a step writes, zero for now. A topic
// that another program wrote at the same moment was touched, and so is one whose
// time lies in the future; of an index no time counts.
func (a *application) timeOf(st *step) time.Time {
	like := a.like(st.Path)
	if !a.record.KeepTimes || a.raced || like == nil || st.Kind != string(change.Edit) || st.Path == memfile.IndexName {
		return time.Time{}
	}
	at := like.ModTime().Add(keptTick)
	if at.After(time.Now()) {
		return time.Time{}
	}
	return at
}

// folderOf opens the folder in which a step is made, and gives the name there.
func (a *application) folderOf(st *step) (*folder, string, error) {
	d, err := a.folders.of(st.Path, st.stays)
	if err != nil {
		return nil, "", fmt.Errorf("opening the folder of %s: %w", st.Path, err)
	}
	return d, path.Base(st.Path), nil
}
