package gate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"mem/core/atomicfile"
	"mem/core/fork"
	"mem/core/guard"
)

const (
	// maxWritten is the largest file that is written: 40 times what clients load of an
	// index.
	maxWritten = 1 << 20
	// maxChanged and maxTotal bound what one run changes, in files and bytes written.
	maxChanged = 500
	maxTotal   = 32 << 20
)

// remember notes that the agent has seen a file with that hash, so that it may change
// it.
func (g *Gate) remember(p place, hash [sha256.Size]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen[p.String()] = hash
}

func runWrite(_ context.Context, g *Gate, d decision) (fork.Called, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	content := d.in.text("content")
	before, exists, err := g.current(d.at)
	if err != nil {
		return fork.Called{}, err
	}
	if err := g.put(d.at, before, content, exists); err != nil {
		return fork.Called{}, err
	}
	word := "Created"
	if exists {
		word = "Wrote"
	}
	return fork.Called{Text: fmt.Sprintf("%s %s (%d bytes).\n", word, d.at, len(content)), Touched: []string{d.at.rel}}, nil
}

func runEdit(_ context.Context, g *Gate, d decision) (fork.Called, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, exists, err := g.current(d.at)
	switch {
	case err != nil:
		return fork.Called{}, err
	case !exists:
		return fork.Called{}, fmt.Errorf("%s does not exist; create it with Write", d.at)
	}
	from, to := d.in.text("old_string"), d.in.text("new_string")
	switch {
	case from == "":
		return fork.Called{}, errors.New("old_string is empty; give the text to replace, or write the whole file with Write")
	case from == to:
		return fork.Called{}, errors.New("old_string and new_string are the same; nothing was changed")
	}
	n := strings.Count(before, from)
	if n == 0 && strings.Contains(before, "\r\n") {
		// Models see lines without their carriage returns.
		crlf := strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n")
		from, to = crlf.Replace(from), crlf.Replace(to)
		n = strings.Count(before, from)
	}
	switch {
	case n == 0 && strings.Contains(from, "[redacted"):
		return fork.Called{}, fmt.Errorf("old_string is not in %s as it lies on disk: a secret in it was shown to you as [redacted …]. Choose a text without it", d.at)
	case n == 0:
		return fork.Called{}, fmt.Errorf("old_string does not occur in %s; give it exactly as in the file, without line numbers", d.at)
	case n > 1 && !d.in.yes("replace_all"):
		return fork.Called{}, fmt.Errorf("old_string occurs %d times in %s; give more of the text around it, or set replace_all", n, d.at)
	}
	if grown := len(before) + n*(len(to)-len(from)); grown > maxWritten {
		return fork.Called{}, tooMuch(d.at, grown)
	}
	if err := g.put(d.at, before, strings.ReplaceAll(before, from, to), true); err != nil {
		return fork.Called{}, err
	}
	return fork.Called{Text: fmt.Sprintf("Changed %s: %d of %d occurrences replaced.\n", d.at, n, n), Touched: []string{d.at.rel}}, nil
}

// current gives the file as it is now. One that exists has to be as the agent read
// it.
func (g *Gate) current(p place) (text string, exists bool, err error) {
	raw, _, err := p.read()
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	hash, ok := g.seen[p.String()]
	switch {
	case !ok:
		return "", true, fmt.Errorf("%s exists and you have not read it in this run; Read it first", p)
	case hash != sha256.Sum256(raw):
		return "", true, fmt.Errorf("%s has changed since you read it; Read it again", p)
	}
	return string(raw), true, nil
}

func tooMuch(p place, n int) error {
	return refusal(p, fmt.Sprintf("it would have %d bytes, and %d is the most that is written. Split it", n, maxWritten))
}

// put writes a file as a whole. The caller holds the lock.
func (g *Gate) put(p place, before, after string, exists bool) error {
	switch {
	case len(after) > maxWritten:
		return tooMuch(p, len(after))
	case g.written+int64(len(after)) > maxTotal:
		return refusal(p, fmt.Sprintf("this run has written %d bytes, and %d is the most. Finish with what is there", g.written, maxTotal))
	case !g.changed[p.String()] && len(g.changed) >= maxChanged:
		return refusal(p, fmt.Sprintf("this run has changed %d files, which is the most. Finish with what is there", maxChanged))
	}
	if g.guard != nil {
		for _, f := range g.guard.Added([]byte(before), []byte(after)) {
			if f.Kind == guard.KindSecret {
				return refusal(p, fmt.Sprintf("line %d holds what looks like a secret (%s), and none is kept in memory. Leave it out, and say where it is kept instead", f.Line, f.Rule))
			}
		}
	}
	if err := store(p, after, exists); err != nil {
		return err
	}
	g.written += int64(len(after))
	g.changed[p.String()] = true
	g.seen[p.String()] = sha256.Sum256([]byte(after))
	return nil
}

// store puts a text in the place of a file, whole or not at all.
func store(p place, text string, exists bool) error {
	dir, done, err := makeFolder(place{p.m, path.Dir(p.rel)})
	if err != nil {
		return err
	}
	defer done()
	name := path.Base(p.rel)
	mode := fs.FileMode(0o600)
	if exists {
		if mode, err = replaceable(dir, name, p); err != nil {
			return err
		}
	} else if _, err := dir.Lstat(name); err == nil {
		return refusal(p, swappedReason)
	}
	temp := ".mem-" + rand.Text() + ".tmp"
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return pathError("write", p, err)
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		// Rename exchanges a name and follows none, whatever stands there by now.
		err = atomicfile.RenameIn(dir, temp, name)
	}
	if err != nil {
		return errors.Join(pathError("write", p, err), ignoreMissing(dir.Remove(temp)))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// replaceable says whether the file is one that may be replaced, and its mode: what
// has other names too would show there what it was, and not here.
func replaceable(dir *os.Root, name string, p place) (fs.FileMode, error) {
	info, err := lstatIn(dir, name, p)
	if err != nil {
		return 0, err
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return 0, pathError("write", p, err)
	}
	defer f.Close()
	got, err := f.Stat()
	if err != nil {
		return 0, pathError("write", p, err)
	}
	if !os.SameFile(info, got) {
		return 0, refusal(p, swappedReason)
	}
	n, err := links(f)
	if err != nil {
		return 0, pathError("write", p, err)
	}
	if n > 1 {
		return 0, refusal(p, fmt.Sprintf("it has %d hard links, so that it belongs elsewhere too. Write to another name", n))
	}
	return info.Mode().Perm(), nil
}

// makeFolder opens a folder and makes it where it is not there.
func makeFolder(p place) (dir *os.Root, done func(), err error) {
	dir, done = p.m.root, func() {}
	if p.rel == "." {
		return dir, done, nil
	}
	at := place{p.m, "."}
	for el := range strings.SplitSeq(p.rel, "/") {
		at = at.join(el)
		if err := dir.Mkdir(el, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			done()
			return nil, func() {}, pathError("write", at, err)
		}
		sub, err := enter(dir, el, at)
		done()
		if err != nil {
			return nil, func() {}, err
		}
		dir, done = sub, func() { sub.Close() }
	}
	return dir, done, nil
}

func tooLarge(n int64) string {
	return fmt.Sprintf("it has %d bytes, and files above %d are not read. Use another", n, int64(maxFile))
}
