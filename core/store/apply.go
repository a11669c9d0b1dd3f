package store

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// How says in which way a change is applied.
type How struct {
	// AllowSecrets lets secrets through. Only a person may set it: by an
	// answer to a question, a start flag or the command line.
	AllowSecrets bool
	Undoes       string // id of the change that this one takes back
	Origin       string // session, where it is not the store's
}

// Result is what a change did.
type Result struct {
	ID       string          // of the change; "" when it changed nothing
	Files    []FileResult    // in the order of the change
	Findings []guard.Finding // in what was added, for whoever wrote it
	Losses   []Loss          // seen vanished when the directory was locked
	Notes    []string        // what else the writer must know
}

// FileResult is what happened to one file.
type FileResult struct {
	Path   string `json:"path"`
	Action string `json:"action"`           // created, updated, deleted, appended, unchanged
	Hash   string `json:"hash,omitempty"`   // of the new content; "" when it is gone
	Merged bool   `json:"merged,omitempty"` // with a write of somebody else
	After  string `json:"-"`
}

// ConflictError says which parts somebody else changed differently. Nothing was
// written.
type ConflictError struct {
	Conflicts []change.Conflict
	Current   map[string]Current // the files as they are now
}

// Current is a file as it is on disk.
type Current struct {
	Text   string `json:"text"`
	Hash   string `json:"hash"` // "" when the file does not exist
	Exists bool   `json:"exists"`
}

func (e *ConflictError) Error() string {
	c := e.Conflicts[0]
	more := ""
	if n := len(e.Conflicts) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s was changed by somebody else meanwhile, in the same part: %s%s. Nothing was written. "+
		"Read the current text, and write again what should stand there, with its hash", c.Path, c.Part, more)
}

// RefusedError says that the guard does not let a text be written.
type RefusedError struct {
	Path     string
	Findings []guard.Finding
}

func (e *RefusedError) Error() string {
	f := e.Findings[0]
	return fmt.Sprintf("%s %s. Nothing was written. Leave the secret out; a person can allow it with --allow-secrets", e.Path, strings.TrimSuffix(f.Reason, "."))
}

// Apply makes a change on disk, all of it or nothing: durable when it returns.
// A file that somebody else changed meanwhile is merged; where both changed the
// same part it gives a *ConflictError. It gives a *RefusedError for secrets and
// a *LockedError when another process keeps the lock.
func (s *Store) Apply(ctx context.Context, c change.Change, how How) (*Result, error) {
	for _, f := range c.Files {
		for _, p := range []string{f.Path, f.Target()} {
			if err := memdir.CheckPath(p); err != nil {
				return nil, err
			}
		}
	}
	findings, err := s.scan(c, how)
	if err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	root, err := s.openRoot(true)
	if err != nil {
		return nil, err
	}
	notes, err := s.settle(root)
	if err != nil {
		return nil, err
	}
	res := &Result{Findings: findings, Notes: notes}
	res.Losses = append(s.takeLosses(), s.observe(root)...)
	a := &application{store: s, root: root, folders: &folders{root: root, open: map[string]*folder{}}, res: res}
	defer a.folders.close()
	if err := a.plan(c); err != nil {
		return nil, err
	}
	if len(a.steps) == 0 {
		return res, nil
	}
	return res, a.run(c, how)
}

// scan looks at what a change adds. Secrets are refused; what else is found is
// for the writer to know.
func (s *Store) scan(c change.Change, how How) ([]guard.Finding, error) {
	if s.opt.Guard == nil {
		return nil, nil
	}
	var all []guard.Finding
	for _, f := range c.Files {
		after, stays, err := f.After()
		if err != nil {
			return nil, err
		}
		if !stays {
			continue
		}
		found := s.opt.Guard.Added([]byte(f.Base), []byte(after))
		secret := slices.IndexFunc(found, func(x guard.Finding) bool {
			return x.Kind == guard.KindSecret || x.Kind == guard.KindIncomplete
		})
		if secret >= 0 && !how.AllowSecrets {
			return nil, &RefusedError{Path: f.Target(), Findings: found[secret:]}
		}
		all = append(all, found...)
	}
	return all, nil
}

// application is one change on its way to disk.
type application struct {
	store   *Store
	root    *os.Root
	folders *folders
	res     *Result
	steps   []step
	infos   map[string]os.FileInfo
	record  Record
	planned []string // what each step was meant to leave, before any race
	raced   bool     // another program wrote at the same moment
}

// plan compares what the change expects with what is on disk and merges where
// they differ.
func (a *application) plan(c change.Change) error {
	a.infos = map[string]os.FileInfo{}
	conflict := &ConflictError{Current: map[string]Current{}}
	for _, f := range c.Files {
		if err := a.planFile(f, conflict); err != nil {
			return err
		}
	}
	if len(conflict.Conflicts) > 0 {
		return conflict
	}
	return nil
}

func (a *application) planFile(f change.File, conflict *ConflictError) error {
	for _, p := range []string{f.Path, f.Target()} {
		if dir := ownIndex(a.root, p); dir != "" {
			return &memdir.FileError{Path: p, Reason: "lies in " + dir + ", which is a memory directory of its own", Hint: "open that one with --memory-dir"}
		}
	}
	cur, err := a.current(f.Path)
	if err != nil {
		return err
	}
	ours, stays, err := f.After()
	if err != nil {
		return err
	}
	switch f.Kind {
	case change.Append:
		a.planAppend(f)
		return nil
	case change.Create:
		return a.planCreate(f, cur, ours, conflict)
	}
	clash := func(cs ...change.Conflict) error {
		conflict.Conflicts = append(conflict.Conflicts, cs...)
		conflict.Current[f.Path] = cur
		return nil
	}
	merged := false
	switch {
	case !cur.Exists && !stays:
		a.unchanged(f.Path, cur) // both deleted it
		return nil
	case !cur.Exists && f.Path == memfile.IndexName && f.Base == "":
		// An index that does not exist yet is an empty one.
	case !cur.Exists:
		return clash(change.Conflict{Path: f.Path, Part: "the whole file, which is gone", Base: f.Base, Ours: ours})
	case cur.Text == f.Base:
	case !stays:
		return clash(change.Conflict{Path: f.Path, Part: "the whole file, which this change deletes", Base: f.Base, Theirs: cur.Text})
	default:
		var cs []change.Conflict
		if ours, cs = change.Merge(f.Path, f.Base, ours, cur.Text); len(cs) > 0 {
			return clash(cs...)
		}
		merged = true
	}
	if f.Kind != change.Rename {
		a.add(newStep(f.Path, cur.Text, cur.Exists, ours, stays), merged)
		return nil
	}
	to, err := a.current(f.To)
	if err != nil {
		return err
	}
	if to.Exists {
		conflict.Current[f.To] = to
		conflict.Conflicts = append(conflict.Conflicts, change.Conflict{Path: f.To, Part: "the whole file, which exists already", Ours: ours, Theirs: to.Text})
		return nil
	}
	a.infos[f.To] = a.infos[f.Path]
	if err := a.checkCase(f.To); err != nil {
		return err
	}
	a.add(newStep(f.To, "", false, ours, true), merged)
	a.add(newStep(f.Path, cur.Text, true, "", false), false)
	return nil
}

func (a *application) planCreate(f change.File, cur Current, ours string, conflict *ConflictError) error {
	switch {
	case cur.Exists && cur.Text == ours:
		a.unchanged(f.Path, cur)
		return nil
	case cur.Exists:
		conflict.Current[f.Path] = cur
		conflict.Conflicts = append(conflict.Conflicts, change.Conflict{Path: f.Path, Part: "the whole file, which exists already", Ours: ours, Theirs: cur.Text})
		return nil
	}
	if err := a.checkCase(f.Path); err != nil {
		return err
	}
	a.add(newStep(f.Path, "", false, ours, true), false)
	return nil
}

// planAppend adds to whatever the file holds when it is written.
func (a *application) planAppend(f change.File) {
	st := step{after: f.New, stays: true}
	st.Path, st.Kind = f.Path, string(change.Append)
	if info := a.infos[f.Path]; info != nil {
		st.Offset = info.Size()
	}
	st.edits = append(st.edits, newStep("", "", false, f.New, true).edits...)
	st.Edits = [][3]int{{0, 0, len(f.New)}}
	a.steps = append(a.steps, st)
	a.res.Files = append(a.res.Files, FileResult{Path: f.Path, Action: "appended", After: f.New})
}

func (a *application) current(p string) (Current, error) {
	d, err := a.folders.of(p, false)
	if os.IsNotExist(err) {
		return Current{}, nil
	}
	if err != nil {
		return Current{}, fmt.Errorf("opening the folder of %s: %w", p, err)
	}
	content, info, exists, err := d.read(path.Base(p))
	if err != nil || !exists {
		return Current{}, err
	}
	if age := time.Since(info.ModTime()); age < fresh && age >= 0 && !a.store.wrote(p, text.Hash(content)) {
		if content, err = d.settled(path.Base(p), content); err != nil {
			return Current{}, err
		}
	}
	if info.Mode().Perm()&0o200 == 0 {
		return Current{}, &memdir.FileError{Path: p, Reason: "is read-only", Hint: "make it writable if mem should change it"}
	}
	a.infos[p] = info
	return Current{Text: content, Hash: hashOf(content, true), Exists: true}, nil
}

// wrote reports whether the newest change to a path left this content.
func (s *Store) wrote(p, hash string) bool {
	_, f := s.journal.lastOf(p)
	return f != nil && f.After == hash
}

// checkCase keeps two names that differ only by case from living in one
// folder, which macOS and Windows could not hold.
func (a *application) checkCase(p string) error {
	d, err := a.folders.of(p, false)
	if err != nil {
		return nil // the folder does not exist yet
	}
	if other := d.otherCase(path.Base(p)); other != "" {
		return &memdir.FileError{Path: p, Reason: "differs only by case from " + other + ", which exists", Hint: "write to that one or choose another name"}
	}
	return nil
}

func (a *application) add(st step, merged bool) {
	if st.exists && st.stays && st.before == st.after {
		a.unchanged(st.Path, Current{Text: st.before, Hash: st.Before, Exists: true})
		return
	}
	a.steps = append(a.steps, st)
	action := map[string]string{"create": "created", "edit": "updated", "delete": "deleted"}[st.Kind]
	a.res.Files = append(a.res.Files, FileResult{Path: st.Path, Action: action, Hash: st.After, Merged: merged, After: st.after})
}

func (a *application) unchanged(p string, cur Current) {
	a.res.Files = append(a.res.Files, FileResult{Path: p, Action: "unchanged", Hash: cur.Hash, After: cur.Text})
}

// order sorts steps for readers in between: topics before the index, the index
// before deletions.
func order(steps []step) {
	rank := func(st step) int {
		switch {
		case !st.stays:
			return 2
		case st.Path == memfile.IndexName:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(steps, func(x, y step) int { return rank(x) - rank(y) })
}
