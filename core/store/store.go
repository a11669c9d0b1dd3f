// Package store applies changes to a memory directory on disk. It owns the
// cross-process lock, the journal with undo and recovery, atomic durable
// writes that are confined to the directory, and the check that nothing which
// was acknowledged vanishes unseen. Several processes of mem may use one
// directory at once; programs that take no lock may write to it at any moment.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
)

// Limits of the store, each with its reason.
const (
	// DefaultLockWait is how long a write waits for another process. A write
	// holds the lock for milliseconds; ten seconds mean that something is wrong.
	DefaultLockWait = 10 * time.Second
	// DefaultJournalAge and DefaultJournalSize bound the journal. A heavy day
	// of 200 writes into a full index takes about 6 MB.
	DefaultJournalAge  = 90 * 24 * time.Hour
	DefaultJournalSize = 64 << 20
	// DefaultBases and DefaultBaseSize bound the texts kept as merge bases, in
	// number and in bytes.
	DefaultBases    = 512
	DefaultBaseSize = 8 << 20
)

// Scanner finds what must not be written; guard.Scanner is one.
type Scanner interface {
	Added(before, after []byte) []guard.Finding
}

// Options says what a Store works on and with. Directory and StateDir are
// required, the rest has defaults.
type Options struct {
	Directory string // the memory directory, absolute; it need not exist yet
	// Within is a directory, "" for none, that Directory lies in and that holds what a
	// repository put there: no link in between is followed to another place than the one
	// that Directory had when the Store was made.
	Within   string
	StateDir string // where state of all memory directories lies: <XDG state>/mem
	Guard    Scanner
	Now      func() time.Time
	Rand     io.Reader // for change ids
	Origin   string    // session that writes, recorded with every change
	Actor    string    // program that writes, recorded and named to who waits
	Limits   memdir.Limits

	LockWait    time.Duration
	JournalAge  time.Duration
	JournalSize int64
	Bases       int
	BaseSize    int64

	instant instant
}

// Store is one memory directory opened for reading and writing. It is safe for
// concurrent use.
type Store struct {
	opt   Options
	dir   string // real path once the directory exists
	state string // state directory of this memory directory
	cache *memdir.Cache

	turn    chan struct{} // one writer at a time within the process
	waiter  *waiter       // for the lock; used by who has the turn
	instant instant

	mu      sync.Mutex
	root    *os.Root
	rootIs  os.FileInfo // of root, nil where it has to be looked up
	journal *journal
	seen    seen
	bases   *bases
	losses  []Loss // found by a write that failed, not yet reported
}

// New makes a Store. It touches nothing: directory, state and lock are opened
// when they are needed.
func New(opt Options) (*Store, error) {
	if !filepath.IsAbs(opt.Directory) {
		return nil, fmt.Errorf("memory directory %q: the path must be absolute", opt.Directory)
	}
	if !filepath.IsAbs(opt.StateDir) {
		return nil, fmt.Errorf("state directory %q: the path must be absolute; set XDG_STATE_HOME or HOME", opt.StateDir)
	}
	setDefault(&opt.LockWait, DefaultLockWait)
	setDefault(&opt.JournalAge, DefaultJournalAge)
	setDefault(&opt.JournalSize, DefaultJournalSize)
	setDefault(&opt.Bases, DefaultBases)
	setDefault(&opt.BaseSize, DefaultBaseSize)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Rand == nil {
		opt.Rand = rand.Reader
	}
	dir := realPath(opt.Directory)
	s := &Store{opt: opt, dir: dir, cache: memdir.NewCache(), turn: make(chan struct{}, 1), instant: opt.instant}
	s.state = filepath.Join(opt.StateDir, Key(dir))
	s.journal = newJournal(filepath.Join(s.state, "journal"), opt.instant)
	s.bases = newBases(filepath.Join(s.state, "bases"), opt.Bases, opt.BaseSize)
	return s, nil
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// realPath resolves the symbolic links of a path whose end may not exist yet.
func realPath(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	parent := filepath.Dir(p)
	if parent == p {
		return p
	}
	return filepath.Join(realPath(parent), filepath.Base(p))
}

// Directory gives the real path of the memory directory.
func (s *Store) Directory() string { return s.dir }

// StateDirectory gives where the state of this memory directory lies.
func (s *Store) StateDirectory() string { return s.state }

// Close lets go of the directory.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return nil
	}
	err := s.root.Close()
	s.root = nil
	return err
}

// openRoot opens the directory; create makes it where it does not exist. It
// opens it again when another directory has taken its place.
func (s *Store) openRoot(create bool) (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil {
		now, err := os.Stat(s.dir)
		if err == nil && s.isRoot(now) {
			return s.root, nil
		}
		if err := s.root.Close(); err != nil {
			return nil, fmt.Errorf("closing %s: %w", s.dir, err)
		}
		s.root = nil
	}
	if err := s.stillWithin(); err != nil {
		return nil, err
	}
	if create {
		if err := makeDirs(s.dir); err != nil {
			return nil, fmt.Errorf("creating the memory directory: %w", err)
		}
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &memdir.FileError{Path: s.dir, Reason: "is not a directory", Hint: "choose another with --memory-dir"}
	}
	root, err := s.openDirectory()
	if err != nil {
		return nil, fmt.Errorf("opening the memory directory: %w", err)
	}
	s.root, s.rootIs = root, nil
	if runtime.GOOS != "windows" { // there a FileInfo looks up what file it is when it is compared
		if s.rootIs, err = root.Stat("."); err != nil {
			s.rootIs = nil
		}
	}
	return root, nil
}

// isRoot reports whether what stands at the path of the memory directory is the one
// that is open. While it is open, no other file can get its number.
func (s *Store) isRoot(now os.FileInfo) bool {
	have := s.rootIs
	if have == nil {
		var err error
		if have, err = s.root.Stat("."); err != nil {
			return false
		}
	}
	return os.SameFile(have, now)
}

// Reading is a View with what its reader must be told.
type Reading struct {
	*memdir.View
	Exists bool   // whether the memory directory exists
	Losses []Loss // acknowledged memories that another program's write made vanish
	Notes  []string
}

// View reads the directory. It first rolls forward what a crash left half done
// and looks for memories that vanished.
func (s *Store) View(ctx context.Context) (*Reading, error) {
	root, err := s.openRoot(false)
	if errors.Is(err, fs.ErrNotExist) {
		v, err := memdir.Read(ctx, emptyFS{}, nil, s.opt.Limits)
		return &Reading{View: v, Notes: s.gone()}, err
	}
	if err != nil {
		return nil, err
	}
	r := &Reading{Exists: true}
	r.Losses, r.Notes = s.Check(ctx)
	r.View, err = memdir.Read(ctx, memdir.Disk(root), s.cache, s.opt.Limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.dir, err)
	}
	return r, nil
}

// gone tells of a memory directory that mem wrote to and that is not there any more.
func (s *Store) gone() []string {
	if s.journal.refresh() != nil {
		return nil
	}
	if _, f := s.journal.lastOf(memfile.IndexName); f == nil || f.After == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s was deleted by another program; mem had written memories there. memory_history lists them; the next write reports each one that vanished, with the id that puts it back.", s.dir)}
}

// Load reads one memory file and keeps its text as a merge base.
func (s *Store) Load(p string) (*memdir.Body, error) {
	b, err := s.Look(p)
	if err == nil {
		s.Keep(p, b.Hash, b.File.Text.String())
	}
	return b, err
}

// Look reads one memory file whose text is handed out to nobody, or by Keep.
func (s *Store) Look(p string) (*memdir.Body, error) {
	root, err := s.openRoot(false)
	if err != nil {
		return nil, err
	}
	return s.cache.Load(memdir.Disk(root), p, s.opt.Limits)
}

// Keep keeps the text of a file that was handed out with its hash, so that a later
// write which names that can be merged. Failing to keep one only costs that merge.
func (s *Store) Keep(p, hash, content string) {
	if !s.bases.has(hash) && !s.journal.holds(p, hash) {
		s.bases.keep(hash, content)
	}
}

// Base gives a text that was handed out or written before, by its hash.
func (s *Store) Base(hash string) (string, bool) {
	if content, ok := s.bases.find(hash); ok {
		return content, true
	}
	return s.journal.findText(hash)
}

// Cache gives what the Views of this store keep of files, for others who look at the same
// directory.
func (s *Store) Cache() *memdir.Cache { return s.cache }

// ParseIndex parses the text of an index, or gives the parse of the last one
// where that had the same text. Views of this store share it.
func (s *Store) ParseIndex(content string) *memfile.Index { return s.cache.ParseIndex(content) }

// emptyFS is a memory directory that does not exist yet.
type emptyFS struct{}

func (emptyFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (emptyFS) ReadDir(string) ([]fs.DirEntry, error) { return nil, nil }
