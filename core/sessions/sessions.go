// Package sessions is the sessions of a project opened for use: which there are,
// one taken up again, all of them searched, one recorded or kept. Each operation
// gives a value that says everything: what was skipped and why, what is wrong with
// a file, what is left out. Values are bounded, and hold no secrets unless a person
// asked for them. Tools and the command line pass arguments in and results out.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/settings"
	"mem/core/transcript"
	"mem/core/transcript/index"
	"mem/core/transcript/shown"
)

// Latest names the newest session where a session is asked for: the newest one
// but the one that this process belongs to.
const Latest = "latest"

// Progress is told how far a long operation is: what it does, and the bytes of
// transcript that are done and those to be done in all, which may grow.
type Progress func(what string, done, total int64)

// of gives a function that tells of one part of an operation.
func (p Progress) of(what string) func(done, total int64) {
	if p == nil {
		return nil
	}
	return func(done, total int64) { p(what, done, total) }
}

// Options says how sessions are looked for and shown.
type Options struct {
	// Dirs are folders to look into in place of those of the client and our own.
	Dirs []string
	// All means the sessions of all projects, not of this one only.
	All bool
	// Files lets a session be named by the path of its transcript. Only a person at
	// the command line may: no argument of an agent reads any file of this machine.
	Files bool
	// ShowSecrets leaves secrets in what is shown. Only a person may ask for that.
	ShowSecrets bool
	// Version of mem, noted in what it writes.
	Version string
	// MaxIndex bounds the index in bytes; 0 is the default of core/transcript/index.
	MaxIndex int64
}

// Sessions is the sessions of one project, or of all. It is safe for concurrent use.
type Sessions struct {
	m   *memory.Memory
	env settings.Env
	o   Options

	life context.Context // ends with Close
	end  context.CancelFunc

	places *places

	mu     sync.Mutex
	index  *index.Index
	update *update // the last one that was begun
}

// Open opens the sessions of the project that a memory belongs to. Nothing is read
// before it is needed. The memory must stay open.
func Open(m *memory.Memory, o Options) *Sessions {
	s := &Sessions{m: m, env: m.Env(), o: o}
	s.places = &places{red: shown.NewRedactor(s.scanner()), seen: map[string]string{}, own: []string{m.Location.Project.Root, m.Location.Project.Dir}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends what runs in the background, and waits for it.
func (s *Sessions) Close() error {
	s.end()
	s.mu.Lock()
	u, x := s.update, s.index
	s.index = nil
	s.mu.Unlock()
	if u != nil {
		<-u.done
	}
	if x != nil {
		return x.Close()
	}
	return nil
}

// scanner is what takes secrets out, nil where they are shown.
func (s *Sessions) scanner() *guard.Scanner {
	if s.o.ShowSecrets {
		return nil
	}
	return s.m.Guard()
}

// wanted says which sessions an operation is about.
func (s *Sessions) wanted(all bool, p Progress, what string) transcript.FindOptions {
	o := transcript.FindOptions{Dirs: s.o.Dirs, Except: s.env.Getenv("CLAUDE_CODE_SESSION_ID"), Progress: p.of(what)}
	if !all && !s.o.All && len(s.o.Dirs) == 0 {
		o.Project = s.m.Location.Project
	}
	return o
}

// picked is a session that was named, or a transcript that was.
type picked struct {
	*transcript.Session
	notes []string
}

// pick finds a session by its id, the beginning of it, or Latest; where Files allows
// it, by the path of its transcript. One that the project does not have is looked
// for in the other projects, which a note tells.
func (s *Sessions) pick(ctx context.Context, ref string, p Progress) (x *picked, err error) {
	defer func() {
		if x != nil {
			s.places.directory(x.Cwd)
		}
	}()
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return nil, fmt.Errorf("session is empty; give an id, the beginning of one, or %q", Latest)
	}
	if s.o.Files && isPath(ref, s.env.Cwd) {
		return s.file(ref)
	}
	o := s.wanted(false, p, "looking for the session")
	found, err := transcript.Pick(ctx, s.env, o, ref)
	if err == nil {
		return &picked{Session: found}, nil
	}
	var missing *transcript.NotFoundError
	if ref == Latest || o.Project.Root == "" || !errors.As(err, &missing) {
		return nil, err
	}
	found, otherErr := transcript.Pick(ctx, s.env, s.wanted(true, p, "looking for the session"), ref)
	var ambiguous *transcript.AmbiguousError
	switch {
	case otherErr == nil:
		note := fmt.Sprintf("The session is not of this project: it began in %s.", memdir.ShownName(s.fact(found.Cwd, maxPath)))
		if found.Cwd == "" {
			note = "The session may be of another project: its records name no directory."
		}
		return &picked{found, []string{note}}, nil
	case errors.As(otherErr, &ambiguous), ctx.Err() != nil:
		return nil, otherErr
	}
	return nil, err // with what was skipped of this project, which explains more
}

// isPath reports whether a person means a file: an id holds no separator and no
// such ending.
func isPath(ref, cwd string) bool {
	if strings.ContainsRune(ref, '/') || strings.ContainsRune(ref, filepath.Separator) || strings.HasSuffix(ref, ".jsonl") || strings.HasSuffix(ref, ".jsonl.gz") {
		return true
	}
	if ref == Latest {
		return false
	}
	if !filepath.IsAbs(ref) {
		ref = filepath.Join(cwd, ref)
	}
	_, err := os.Stat(ref)
	return err == nil
}

// file is a transcript as a session.
func (s *Sessions) file(path string) (*picked, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.env.Cwd, path)
	}
	path = filepath.Clean(path)
	src, err := transcript.Open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	id := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".jsonl")
	x := &transcript.Session{ID: id, Path: path, Origin: transcript.OriginFolder, Size: src.Size()}
	if info, err := os.Stat(path); err == nil {
		x.Modified = info.ModTime()
	}
	return &picked{Session: x}, nil
}

// opened is a transcript that was read.
type opened struct {
	transcript.Source
	*transcript.Transcript
	path    string
	notes   []string
	release func() // of the heap
}

// Close ends what opening began.
func (x *opened) Close() error {
	x.release()
	return x.Source.Close()
}

// wholeWithin is how long a resume waits for the part of a transcript before its last
// compaction, which only its counts need: a gigabyte takes half a second.
const wholeWithin = 5 * time.Second

// read opens a transcript and finds what a client would resume; with whole, all of it.
// The caller closes it.
func (s *Sessions) read(ctx context.Context, path string, whole bool, p Progress) (*opened, error) {
	if whole {
		return s.readPart(ctx, path, -1, p)
	}
	return s.open(ctx, path, p, transcript.ReadTail, -1)
}

// readPart opens a transcript and reads its first bytes; all where size is negative.
func (s *Sessions) readPart(ctx context.Context, path string, size int64, p Progress) (*opened, error) {
	return s.open(ctx, path, p, transcript.Read, size)
}

type reader func(ctx context.Context, src io.ReaderAt, size int64, o transcript.Options) (*transcript.Transcript, error)

func (s *Sessions) open(ctx context.Context, path string, p Progress, read reader, size int64) (*opened, error) {
	src, err := transcript.Open(path)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		size = src.Size()
	}
	t, err := read(ctx, src, size, transcript.Options{Progress: p.of("reading the transcript")})
	if err != nil {
		src.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, transcript.ErrNoRecords) {
			return nil, fmt.Errorf("%s is no transcript, or JSON that does not have one record on each line: %w", memdir.ShownName(path), err)
		}
		return nil, fmt.Errorf("reading the transcript %s: %w", memdir.ShownName(path), err)
	}
	x := &opened{Source: src, Transcript: t, path: path}
	if t.Base > 0 {
		within, cancel := context.WithTimeout(ctx, wholeWithin)
		defer cancel()
		if all, err := t.Complete(within); err == nil {
			x.Transcript = all
		} else if ctx.Err() != nil {
			src.Close()
			return nil, ctx.Err()
		}
	}
	// From here on what is made of the rows is what grows.
	x.release = x.HoldHeap()
	if t.Shrunk {
		x.notes = append(x.notes, "The file became shorter while it was read: this is what was there.")
	}
	return x, nil
}

// grown notes what was written to a file since it was opened.
func (x *opened) grown() []string {
	if strings.HasSuffix(x.path, ".gz") {
		return x.notes
	}
	if info, err := os.Stat(x.path); err == nil && info.Size() > x.Source.Size() {
		return append(x.notes, fmt.Sprintf("The file grew by %d bytes while it was read; they are not in here.", info.Size()-x.Source.Size()))
	}
	return x.notes
}
