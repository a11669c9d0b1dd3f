package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// plan compares what the change expects with what is on disk and merges where
// they differ.
func (a *application) plan(ctx context.Context, c change.Change) error {
	conflict := &ConflictError{Current: map[string]Current{}}
	for _, f := range c.Files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
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
		if dir := ownIndex(a.folders.root, p); dir != "" {
			return &memdir.FileError{Path: p, Reason: "lies in " + dir + ", which is a memory directory of its own", Hint: "open that one with --memory-dir"}
		}
	}
	if f.Kind == change.Append {
		return a.planAppend(f)
	}
	cur, err := a.look(f.Path)
	if err != nil {
		return err
	}
	if err := cur.writable(f.Path); err != nil {
		return err
	}
	ours, stays, err := f.After()
	if err != nil {
		return err
	}
	if f.Kind == change.Create {
		return a.planCreate(f, cur.Current, ours, conflict)
	}
	clash := func(cs ...change.Conflict) error {
		conflict.Conflicts = append(conflict.Conflicts, cs...)
		conflict.Current[f.Path] = cur.Current
		return nil
	}
	merged := false
	switch {
	case !cur.Exists && !stays:
		a.unchanged(f.Path, cur.Current) // both deleted it
		return nil
	case !cur.Exists && f.Path == memfile.IndexName && f.Base == "":
		// An index that does not exist yet is an empty one.
	case !cur.Exists:
		return clash(change.Conflict{Path: f.Path, Part: "the whole file, which is gone", Base: f.Base, Ours: ours})
	case cur.Text == f.Base:
	case !stays && f.Path == memfile.IndexName:
		// The undo of what made the index: entries that came later stay.
		var cs []change.Conflict
		if ours, cs = change.Merge(f.Path, f.Base, "", cur.Text); len(cs) > 0 {
			return clash(cs...)
		}
		stays, merged = ours != "", true
	case !stays:
		return clash(change.Conflict{Path: f.Path, Part: "the whole file, which this change deletes", Base: f.Base, Theirs: cur.Text})
	default:
		var cs []change.Conflict
		if ours, cs = change.Merge(f.Path, f.Base, ours, cur.Text); len(cs) > 0 {
			return clash(cs...)
		}
		merged = true
	}
	if stays && cur.Text != ours {
		if err := a.fits(f.Path, len(cur.Text), len(ours)); err != nil {
			return err
		}
	}
	a.hardLinked(f.Path, cur)
	if f.Kind != change.Rename {
		a.add(newStep(f.Path, cur.Text, cur.Exists, ours, stays), merged)
		return nil
	}
	return a.planRename(f, cur, ours, merged, conflict)
}

func (a *application) planRename(f change.File, cur *looked, ours string, merged bool, conflict *ConflictError) error {
	to, err := a.look(f.To)
	if err != nil {
		return err
	}
	sameFile := to.Exists && a.onlyCase(f)
	if to.Exists && !sameFile {
		conflict.Current[f.To] = to.Current
		conflict.Conflicts = append(conflict.Conflicts, change.Conflict{Path: f.To, Part: "the whole file, which exists already", Ours: ours, Theirs: to.Text})
		return nil
	}
	goes := ""
	if path.Dir(f.Path) == path.Dir(f.To) {
		goes = path.Base(f.Path)
	}
	if err := a.checkNames(f.To, goes); err != nil {
		return err
	}
	a.files[f.To] = &looked{info: cur.info} // mode and owner move with the text
	st := newStep(f.To, "", false, ours, true)
	st.From = f.Path
	a.add(st, merged)
	gone := newStep(f.Path, cur.Text, true, "", false)
	gone.makesRoom = sameFile
	a.add(gone, false)
	return nil
}

// onlyCase tells whether both names of a rename are one file, since they differ by letter
// case and the file system knows none: the new one was found and is not in the list.
func (a *application) onlyCase(f change.File) bool {
	if path.Dir(f.Path) != path.Dir(f.To) || !strings.EqualFold(f.Path, f.To) {
		return false
	}
	d, err := a.folders.of(f.To, false)
	if err != nil {
		return false
	}
	names, err := d.names()
	return err == nil && slices.Contains(names, path.Base(f.Path)) && !slices.Contains(names, path.Base(f.To))
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
	if err := a.checkNames(f.Path, ""); err != nil {
		return err
	}
	if err := a.fits(f.Path, 0, len(ours)); err != nil {
		return err
	}
	a.add(newStep(f.Path, "", false, ours, true), false)
	return nil
}

// fits refuses to let a file grow past what can be read and undone.
func (a *application) fits(p string, before, after int) error {
	if limit := a.store.topicBytes(); int64(after) > limit && after > before {
		return &memdir.FileError{Path: p, Reason: fmt.Sprintf("would have %d bytes, more than the %d that a memory file may have", after, limit), Hint: "split it, or raise limits.topic_bytes in the configuration"}
	}
	return nil
}

// planAppend adds to whatever the file holds when it is written, on a line of
// its own.
func (a *application) planAppend(f change.File) error {
	added := f.New
	st := step{}
	if d, err := a.folders.of(f.Path, false); err == nil {
		have, info, exists, err := d.read(path.Base(f.Path))
		if err != nil {
			return err
		}
		if err := (&looked{Current{Exists: exists}, info}).writable(f.Path); err != nil {
			return err
		}
		if have != "" && !strings.HasSuffix(have, "\n") {
			added = "\n" + added
		}
		st.Offset = int64(len(have))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("opening the folder of %s: %w", f.Path, err)
	}
	if err := a.fits(f.Path, int(st.Offset), int(st.Offset)+len(added)); err != nil {
		return err
	}
	st.Path, st.Kind, st.After = f.Path, string(change.Append), text.Hash(added)
	st.after, st.stays = added, true
	st.edits, st.Edits = []text.Edit{{New: added}}, [][3]int{{0, 0, len(added)}}
	a.steps = append(a.steps, st)
	a.res.Files = append(a.res.Files, FileResult{Path: f.Path, Action: "appended", After: f.New})
	return nil
}

// hardLinked says that other names of a file keep the old text: what replaces a
// file at one blow is a new file.
func (a *application) hardLinked(p string, cur *looked) {
	if cur.info != nil && links(cur.info) > 1 {
		a.res.Notes = append(a.res.Notes, fmt.Sprintf("%s has other names (hard links); those keep the old text.", p))
	}
}

// checkNames keeps two names that differ only by case from living in one
// folder, which macOS and Windows could not hold; goes is one that the change takes away. While it sees the names it
// removes what the power took from under us long ago.
func (a *application) checkNames(p, goes string) error {
	d, err := a.folders.of(p, false)
	if err != nil {
		return nil // the folder does not exist yet
	}
	names, listed := a.names[path.Dir(p)]
	if !listed {
		if names, err = d.names(); err != nil {
			return fmt.Errorf("listing the folder of %s: %w", p, err)
		}
		if err := a.store.sweep(d, names); err != nil {
			return err
		}
		// A change of thousands of topics lists their folder once.
		a.names[path.Dir(p)] = names
	}
	if other := otherCase(names, path.Base(p)); other != "" && other != goes {
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
// before deletions. Logs come last, since what is appended is not taken back. Where letter
// case does not count, a name goes before the same one in another case comes.
func order(steps []step) {
	rank := func(st step) int {
		switch {
		case st.makesRoom:
			return -1
		case st.Kind == string(change.Append):
			return 3
		case !st.stays:
			return 2
		case st.Path == memfile.IndexName:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(steps, func(x, y step) int { return rank(x) - rank(y) })
}
