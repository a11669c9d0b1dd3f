package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/store"
	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// AdoptOptions says which project is taken over.
type AdoptOptions struct {
	// Old is the directory that it had, or its memory directory, or the client's folder
	// for it, or its id, as Moved gives it.
	Old        string
	StillThere bool // a person wants it though its directory exists
	Version    string
	// ShowSecrets leaves secrets in what is told. Only a person may ask for that.
	ShowSecrets bool
	// Progress, which may be nil, is told the bytes of transcripts that are done and those
	// to be done, for each part of the work.
	Progress func(what string, done, total int64)
}

// Adopted is what was taken over from a project that was renamed or moved.
type Adopted struct {
	*transcript.Adopted
	Directory string      `json:"directory"` // of this memory
	Index     memdir.Fill `json:"index"`
	Notice
}

// Adopt takes the memory and the sessions of a project over that was renamed or
// moved to this one. Undo takes it back by its id. What it tells, errors too, is without
// secrets unless they are asked for.
func (m *Memory) Adopt(ctx context.Context, o AdoptOptions) (*Adopted, error) {
	if !m.Location.Store.Auto() {
		return nil, fmt.Errorf("a project is taken over into the memory of a project, not into the store %s: leave --store out", m.StoreName())
	}
	red := m.redactor(o.ShowSecrets)
	losses, notes := m.store.Check(ctx)
	n := m.notice(losses, notes)
	got, err := transcript.Adopt(ctx, m.opt.Env, transcript.AdoptOptions{
		Old: o.Old, Project: m.Location.Project, Store: m.store, Guard: m.scanner,
		How: store.How{AllowSecrets: m.mayWriteSecrets(ctx)}, Limits: m.limits(), Redact: m.redactor(false).Directory,
		Version: o.Version, StillThere: o.StillThere, Progress: o.Progress,
	})
	red.Directory(o.Old)
	if got == nil {
		return nil, told(red, err)
	}
	red.adopted(got)
	out := &Adopted{Adopted: got, Directory: m.Location.Directory, Notice: n}
	if got.Result != nil {
		c := m.done(got.Result, n)
		out.Index, out.Notice = c.Index, c.Notice
	}
	return out, told(red, err)
}

// MovedOptions says how projects that moved are looked for and shown.
type MovedOptions struct {
	// ShowSecrets leaves secrets in what is told. Only a person may ask for that.
	ShowSecrets bool
	// Progress, which may be nil, is told the bytes of transcripts that are done and those
	// to be done, for each part of the work.
	Progress func(what string, done, total int64)
}

// Moved finds projects whose directory is gone and that may have become this one. What
// it tells is without secrets unless they are asked for: an id names a project then that its path may not.
func (m *Memory) Moved(ctx context.Context, o MovedOptions) ([]transcript.Moved, error) {
	red := m.redactor(o.ShowSecrets)
	list, err := transcript.FindMoved(ctx, m.opt.Env, m.Location.Project, o.Progress)
	for i := range list {
		red.moved(&list[i])
	}
	return list, told(red, err)
}

// redactor removes secrets from what is told of other projects; with show it leaves
// everything as it is.
func (m *Memory) redactor(show bool) redactor {
	if show {
		return redactor{shown.NewRedactor(nil)}
	}
	return redactor{shown.NewRedactor(m.scanner)}
}

type redactor struct{ *shown.Redactor }

func (r redactor) moved(x *transcript.Moved) {
	x.Root = r.Directory(x.Root)
	x.Memory = r.Text(x.Memory)
	for i := range x.Folders {
		x.Folders[i] = r.Text(x.Folders[i])
	}
	for i := range x.Why {
		x.Why[i] = r.Text(x.Why[i])
	}
}

func (r redactor) adopted(x *transcript.Adopted) {
	x.From = r.Directory(x.From)
	x.To, x.Memory = r.Text(x.To), r.Text(x.Memory)
	for i := range x.Files {
		f := &x.Files[i]
		f.Path, f.To, f.Reason = r.Text(f.Path), r.Text(f.To), r.Text(f.Reason)
	}
	if x.Sessions == nil {
		return
	}
	x.Sessions.Directory = r.Text(x.Sessions.Directory)
	for i := range x.Sessions.Sessions {
		s := &x.Sessions.Sessions[i]
		s.Path = r.Text(s.Path)
	}
	for i := range x.Sessions.Skipped {
		s := &x.Sessions.Skipped[i]
		s.Path, s.Reason = r.Text(s.Path), r.Text(s.Reason)
	}
}

// told gives an error with words that hold no secret; what kind of error it is stays.
func told(r redactor, err error) error {
	if err == nil {
		return nil
	}
	if words := r.Text(err.Error()); words != err.Error() {
		return &toldError{err, words}
	}
	return err
}

type toldError struct {
	error
	words string
}

func (e *toldError) Error() string { return e.words }
func (e *toldError) Unwrap() error { return e.error }

// movedWithin is how long a conversation's start looks for a project that was moved.
const movedWithin = time.Second

// Vacant reports whether the memory directory holds nothing: no topic, no log, and no
// index with text. One that cannot be read is not vacant.
func (m *Memory) Vacant() bool {
	vacant := true
	err := filepath.WalkDir(m.Location.Directory, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || !memfile.IsMarkdown(d.Name()) {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return nil
		}
		vacant = false
		return fs.SkipAll
	})
	return vacant && (err == nil || errors.Is(err, fs.ErrNotExist))
}

// MovedWords offers, in words, what certainly is this project under an earlier path; for
// one that has no memory here.
func (m *Memory) MovedWords(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, movedWithin)
	defer cancel()
	list, err := m.Moved(ctx, MovedOptions{})
	if err != nil {
		return nil // it is an offer; adopt says what is wrong
	}
	const shown = 3
	var words []string
	for _, x := range list {
		if x.Certain && len(words) < shown {
			words = append(words, fmt.Sprintf("%s no longer exists; its %d topics and %d sessions may be this project's. A person can take them over: mem-mcp adopt %s",
				memdir.ShownName(x.Root), x.Topics, x.Sessions, x.ID))
		}
	}
	return words
}

// undoSessions takes back an adoption that brought sessions and no memory, and tells
// so; it gives "" where the id is none of one.
func (m *Memory) undoSessions(id string) string {
	a, err := transcript.Reinstate(m.opt.Env, m.Location.Directory, id, false)
	if a == nil || err != nil {
		return ""
	}
	return fmt.Sprintf("The sessions of %s are no longer listed for this project; their copies stay in the archive.", memdir.ShownName(m.redactor(false).Directory(a.From)))
}

// followAdoption makes the sessions of an adoption go the way of its memory when its
// change was taken back, or that was, and so on.
func (m *Memory) followAdoption(id string) string {
	holds := false
	for range 1000 {
		e, err := m.store.Event(id)
		if err != nil {
			return ""
		}
		if e.Undoes == "" {
			break
		}
		id, holds = e.Undoes, !holds
	}
	a, err := transcript.Reinstate(m.opt.Env, m.Location.Directory, id, holds)
	switch {
	case err != nil:
		return fmt.Sprintf("The memory that came with an adoption was taken back, its sessions were not: %v.", told(m.redactor(false), err))
	case a == nil || len(a.Sessions) == 0:
		return ""
	case holds:
		return fmt.Sprintf("The sessions of %s are listed for this project again.", memdir.ShownName(m.redactor(false).Directory(a.From)))
	}
	return fmt.Sprintf("The sessions of %s are no longer listed for this project; their copies stay in the archive.", memdir.ShownName(m.redactor(false).Directory(a.From)))
}
