// Package memory is a memory directory opened for use: where it lies, the
// settings that hold for it, its store and its search index, with the
// operations that agents, people and jobs perform on it. Each operation gives a
// value that says everything that happened; tools and the command line only
// pass arguments in and results out.
package memory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/recall"
	"mem/core/settings"
	"mem/core/store"
)

// StoreAuto names the memory directory of the project.
const StoreAuto = memdir.StoreAuto

// Options says which memory to open and on whose behalf.
type Options struct {
	Env       settings.Env
	MemoryDir string   // --memory-dir
	Project   string   // --project
	Roots     []string // directories the client named
	Store     string   // --store: "auto" (or nothing), "agent/<name>/<scope>" or "extra/<name>", see memdir.ParseStore
	DailyLog  bool     // --daily-log; the setting has the same effect
	Actor     string   // program that writes, for the history
	// AllowSecrets lets secrets be written; a person sets it when they start
	// the server or on the command line.
	AllowSecrets bool
}

// Memory is an opened memory directory. It is safe for concurrent use.
type Memory struct {
	Location memdir.Location
	Config   settings.Config
	Warnings []string // of the configuration

	opt     Options
	store   *store.Store
	scanner *guard.Scanner
	origin  string

	indexing sync.Mutex
	index    *recall.Index // guarded by indexing

	extra extras // folders of the configuration that are read beside this memory

	mu   sync.Mutex
	last *memdir.View // the newest one
}

// Open finds a memory directory and opens it. Nothing is read or created in
// the directory before it is needed.
func Open(opt Options) (*Memory, error) {
	m := &Memory{opt: opt, origin: OriginOf(opt.Env)}
	var err error
	if m.Config, err = settings.LoadConfig(opt.Env); err != nil {
		m.Warnings = append(m.Warnings, err.Error())
	}
	m.Location, err = memdir.Locate(opt.Env, memdir.LocateOptions{
		MemoryDir: opt.MemoryDir, Project: opt.Project, Roots: opt.Roots,
		TrustProjectSettings: m.Config.Memory.TrustProjectSettings,
		Store:                opt.Store, Extra: m.Config.Stores,
	})
	if err != nil {
		return nil, err
	}
	if m.scanner, err = guard.New(guard.Options{Allow: m.Config.Guard.Allow}); err != nil {
		return nil, fmt.Errorf("guard.allow in %s: %w", opt.Env.ConfigFile(), err)
	}
	m.store, err = store.New(store.Options{
		Directory: m.Location.Directory, Within: m.Location.Within, StateDir: opt.Env.StateDir,
		Guard: m.scanner,
		Now:   opt.Env.Now, Origin: m.origin, Actor: opt.Actor,
		Limits:   m.limits(),
		LockWait: m.Config.Lock.Wait, JournalAge: m.Config.Journal.MaxAge, JournalSize: m.Config.Journal.MaxSize,
		Bases: keepAtMost(m.Config.Bases.MaxCount), BaseSize: m.Config.Bases.MaxSize,
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// limits are those within which memory is read.
func (m *Memory) limits() memdir.Limits {
	l := m.Config.Limits
	return memdir.Limits{TopicBytes: l.TopicBytes, ScanLines: l.ScanLines, EntryLength: l.EntryLength}
}

// keepAtMost turns the setting that 0 keeps nothing into the store's option, of
// which 0 is the default.
func keepAtMost(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// Close lets go of the directory.
func (m *Memory) Close() error { return errors.Join(m.store.Close(), m.extra.close()) }

// StoreName gives the name under which this memory is opened as a store.
func (m *Memory) StoreName() string { return m.Location.Store.String() }

// ReadOnlyError says that a store is only read.
type ReadOnlyError struct{ Store, Directory string }

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the store %s (%s) is only read: nothing was written. Write to another store, or open that folder itself with --memory-dir", e.Store, memdir.ShownName(e.Directory))
}

// MayWrite says why nothing is written here, nil where it is.
func (m *Memory) MayWrite() error {
	if m.Location.ReadOnly {
		return &ReadOnlyError{Store: m.StoreName(), Directory: m.Location.Directory}
	}
	return nil
}

// whereWritten tells what becomes of files that the first write to a store in a
// checkout makes.
func (m *Memory) whereWritten() string {
	switch n := m.Location.Store; {
	case m.Location.Within == "":
		return ""
	case n.Scope == memdir.ScopeLocal:
		return fmt.Sprintf("%s lies in the checkout and is meant for this user alone: git does not ignore it unless the repository says so.", m.Location.Directory)
	}
	return fmt.Sprintf("%s lies in the checkout: what is written there is shared when it is committed, unless git ignores it (mem-mcp snapshot setup looks).", m.Location.Directory)
}

// OriginOf gives the session that what is written comes from: the client's where
// its environment names one, else an id of this run.
func OriginOf(env settings.Env) string {
	for _, name := range []string{"CLAUDE_CODE_SESSION_ID", "MEM_SESSION_ID"} {
		if id := env.Getenv(name); id != "" {
			return id
		}
	}
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return fmt.Sprintf("mem-%d", env.Time().UnixNano())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // a random UUID, as clients use
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// allowed is the key under which a context carries a person's consent.
type allowed struct{}

// AllowSecrets gives a context in which secrets are written. Only code that has
// a person's answer may call it; no argument of a call reaches it.
func AllowSecrets(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowed{}, true)
}

func (m *Memory) mayWriteSecrets(ctx context.Context) bool {
	ok, _ := ctx.Value(allowed{}).(bool)
	return ok || m.opt.AllowSecrets || m.Config.Guard.Secrets == "warn"
}

func (m *Memory) now() time.Time { return m.opt.Env.Time() }

func (m *Memory) stamp() memdir.Stamp { return memdir.Stamp{Origin: m.origin, Now: m.now()} }

// DailyLog reports whether new memories go to the daily log.
func (m *Memory) DailyLog() bool { return m.opt.DailyLog || m.Config.Memory.DailyLog }

// rule is the limit of the index that holds for readers of this memory.
func (m *Memory) rule() memdir.Rule {
	r := memdir.SeedRule()
	r.Lines, r.Size = m.Config.Limits.IndexLines, int(m.Config.Limits.IndexBytes)
	return r
}

// Notice is what every result may have to say besides its answer.
type Notice struct {
	// Vanished lists acknowledged memories that another program's write made
	// vanish; undoing the id puts one back.
	Vanished []store.Loss `json:"vanished,omitempty"`
	// Notes are things the reader must know: memory is switched off, a crash
	// was repaired, a file could not be read.
	Notes []string `json:"notes,omitempty"`

	more int // notes that were left out
}

// Off says that memory is switched off, "" when it is on.
func (m *Memory) Off() string {
	if m.Location.Memory.On {
		return ""
	}
	return fmt.Sprintf("Memory is switched off (%s): nothing automatic runs and the context is empty. This explicit call works all the same.", m.Location.Memory.Why)
}

func (m *Memory) notice(losses []store.Loss, notes []string) Notice {
	var n Notice
	n.lose(losses...)
	if off := m.Off(); off != "" {
		n.note(off)
	}
	n.note(m.Warnings...)
	n.note(m.Location.Warnings...)
	n.note(notes...)
	return n
}

// view reads the directory, with what must be said of it.
func (m *Memory) view(ctx context.Context) (*store.Reading, Notice, error) {
	v, err := m.store.View(ctx)
	if err != nil {
		return nil, Notice{}, err
	}
	m.mu.Lock()
	m.last = v.View
	m.mu.Unlock()
	n := m.notice(v.Losses, v.Notes)
	switch {
	case !v.Exists && m.Location.ReadOnly:
		n.note(fmt.Sprintf("%s does not exist. %s names it: mend or remove it there.", m.Location.Directory, m.opt.Env.ConfigFile()))
	case !v.Exists:
		n.note(fmt.Sprintf("%s does not exist yet: nothing is remembered. The first write creates it.", m.Location.Directory))
	}
	return v, n, nil
}

// unread notes what a View had to leave out, for results that do not list it.
func unread(v *store.Reading) []string {
	const shown = 5
	var notes []string
	for i, p := range v.Problems {
		if i == shown {
			return append(notes, fmt.Sprintf("%d more files could not be read; memory_list names them.", len(v.Problems)-shown))
		}
		notes = append(notes, problemWords(p))
	}
	return notes
}
