package agentmem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"mem/core/memdir"
	"mem/core/project"
)

// read reads a file whole, through the root, so that no link leads out.
func (t *tree) read(p string) (string, error) {
	f, err := memdir.Open(t.root, p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(b) > MaxFile {
		err = fmt.Errorf("it is larger than %d bytes", MaxFile)
	}
	return string(b), err
}

// raw gives the text of a file as it stands on disk, text the normalised one; "" where
// there is none.
func (t *tree) raw(p string) (string, error) {
	if t.files[p] == nil {
		return "", nil
	}
	if s, ok := t.raws[p]; ok {
		return s, nil
	}
	s, err := t.read(p)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading %s: %w", filepath.Join(t.dir, filepath.FromSlash(p)), project.Reason(err))
	}
	if err != nil || sumOf(normal(s)) != t.files[p].sum {
		t.hashes.forget(p)
		return "", changed(filepath.Join(t.dir, filepath.FromSlash(p)))
	}
	t.raws[p] = s
	return s, nil
}

// changedError says that something is not any more what was looked at.
type changedError struct{ name string }

func (e *changedError) Error() string {
	return e.name + " changed while it was looked at: git or another program is at work there. Nothing was written; try again"
}

func changed(name string) error { return &changedError{name} }

// Bounds of looking again: a save takes microseconds, a checkout longer than anybody waits.
const (
	moreLooks = 3
	lookAfter = 20 * time.Millisecond
)

// steady looks again where something changed under a look: an editor saves a file at the
// moment that another one of its files is checked.
func steady[T any](ctx context.Context, look func() (T, error)) (T, error) {
	for i := 0; ; i++ {
		out, err := look()
		var c *changedError
		if i == moreLooks || !errors.As(err, &c) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(lookAfter):
		}
	}
}

func (t *tree) text(p string) (string, error) {
	if s, ok := t.texts[p]; ok {
		return s, nil
	}
	raw, err := t.raw(p)
	if err != nil {
		return "", err
	}
	s := normal(raw)
	if t.files[p] != nil {
		t.texts[p] = s
	}
	return s, nil
}

// unread tells whether a file is there, or may be, and was not read.
func (t *tree) unread(p string) bool {
	if p == "" || t.files[p] != nil {
		return false
	}
	if t.left[p] {
		return true
	}
	for i, c := range p {
		if c == '/' && t.left[p[:i+1]] {
			return true
		}
	}
	return false
}

// sum gives the hash of a file, "" where there is none.
func (t *tree) sum(p string) string {
	if l := t.files[p]; l != nil {
		return l.sum
	}
	return ""
}
