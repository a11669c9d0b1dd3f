package sessionmem

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"mem/core/atomicfile"
	"mem/core/text"
	"mem/core/transcript"
)

// MaxFile bounds a summary that is read, in bytes: ten times what the limits allow of
// any script.
const MaxFile = 1 << 20

// ErrNone says that a session has no session memory.
var ErrNone = errors.New("the session has no session memory")

// File is a summary on disk.
type File struct {
	Path     string
	Text     string
	Hash     string
	Modified time.Time
}

// place is a session's folder, opened without following a link.
type place struct {
	root *os.Root // the folder of the transcript
	dir  string   // <session>/session-memory in it
	abs  string
}

func placeOf(x *transcript.Session, read bool) (*place, error) {
	dir := DirOf(x)
	if read && x.Origin == transcript.OriginArchive && x.Agent == "" && transcript.ValidID(x.ID) == nil {
		dir = filepath.Join(filepath.Dir(x.Path), x.ID, Folder) // a copy, which is read and not written
	}
	if dir == "" {
		return nil, fmt.Errorf("%w: it lies in an archive, or is a subagent's", ErrNone)
	}
	parent := filepath.Dir(x.Path)
	root, err := os.OpenRoot(parent)
	if err != nil {
		return nil, fmt.Errorf("the folder of the session %s cannot be opened: %w", x.ID, err)
	}
	session := filepath.Base(filepath.Dir(dir))
	return &place{root: root, dir: path.Join(session, Folder), abs: dir}, nil
}

// real checks that no part of the folder is a link, and makes it where make says so.
func (p *place) real(make bool) error {
	for _, dir := range []string{path.Dir(p.dir), p.dir} {
		info, err := p.root.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) && make {
			if err = p.root.Mkdir(dir, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
				info, err = p.root.Lstat(dir)
			}
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is no folder but a link or a file; session memory is not written through it. Remove it", filepath.Join(p.root.Name(), dir))
		}
	}
	return nil
}

// Read reads the session memory of a session, of an archived one its copy. Without one the error wraps ErrNone.
func Read(x *transcript.Session) (*File, error) {
	p, err := placeOf(x, true)
	if err != nil {
		return nil, err
	}
	defer p.root.Close()
	return p.read()
}

func (p *place) read() (*File, error) {
	name := path.Join(p.dir, Name)
	err := p.real(false)
	var info fs.FileInfo
	if err == nil {
		info, err = p.root.Lstat(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (%s)", ErrNone, filepath.Join(p.abs, Name))
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", filepath.Join(p.abs, Name))
	}
	if info.Size() > MaxFile {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are read", filepath.Join(p.abs, Name), info.Size(), MaxFile)
	}
	f, err := p.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, fmt.Errorf("%s was exchanged while it was opened; try again", filepath.Join(p.abs, Name))
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile))
	if err != nil {
		return nil, err
	}
	return &File{Path: filepath.Join(p.abs, Name), Text: string(b), Hash: text.Hash(string(b)), Modified: info.ModTime()}, nil
}

// ChangedError says that a summary is not the one that somebody started from.
type ChangedError struct {
	Path    string
	Current File // the zero value where there is none
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by somebody else meanwhile; read it again and put both together", e.Path)
}

// Write writes a session memory whole: a reader sees the old one or the new one.
// expected is the hash of the text that it was made from, "" where there was none; where
// another one stands there now it gives a *ChangedError and writes nothing. Only
// summary.md in the session's own folder is ever written, and through no link. The caller
// holds the lock of the session.
func Write(x *transcript.Session, content, expected string) (*File, error) {
	p, err := placeOf(x, false)
	if err != nil {
		return nil, err
	}
	defer p.root.Close()
	name := path.Join(p.dir, Name)
	switch now, err := p.read(); {
	case errors.Is(err, ErrNone):
		if expected != "" {
			return nil, &ChangedError{Path: filepath.Join(p.abs, Name)}
		}
	case err != nil:
		return nil, err
	case now.Hash == text.Hash(content):
		return now, nil
	case now.Hash != expected:
		return nil, &ChangedError{Path: now.Path, Current: *now}
	}
	if err := p.real(true); err != nil {
		return nil, err
	}
	temp := path.Join(p.dir, "."+Name+"."+rand.Text()[:8]+".tmp")
	if err := p.create(temp, content); err != nil {
		return nil, fmt.Errorf("writing %s: %w", filepath.Join(p.abs, Name), err)
	}
	if err := atomicfile.RenameIn(p.root, temp, name); err != nil {
		_ = p.root.Remove(temp)
		return nil, fmt.Errorf("writing %s: %w", filepath.Join(p.abs, Name), err)
	}
	return p.read()
}

func (p *place) create(name, content string) (err error) {
	f, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = p.root.Remove(name)
		}
	}()
	_, err = io.WriteString(f, content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// stateFile is where the state of a session is kept, in the state of a memory.
func stateFile(stateDirectory, session string) (string, error) {
	if err := transcript.ValidID(session); err != nil {
		return "", err
	}
	return filepath.Join(stateDirectory, Folder, session+".json"), nil
}

// LoadState gives what is remembered of a session, nil where nothing is or where that
// cannot be read: it is then measured as one without a summary.
func LoadState(stateDirectory, session string) (*State, error) {
	name, err := stateFile(stateDirectory, session)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s State
	if json.Unmarshal(b, &s) != nil || s.Version != 1 || s.Session != session {
		return nil, nil
	}
	return &s, nil
}

// Save keeps a state.
func (s State) Save(stateDirectory string) error {
	s.Version = 1
	name, err := stateFile(stateDirectory, s.Session)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(name, append(b, '\n'), 0o600, atomicfile.Quick); err != nil {
		return fmt.Errorf("keeping the state of the session %s: %w", s.Session, err)
	}
	return nil
}
