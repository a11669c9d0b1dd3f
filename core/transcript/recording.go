package transcript

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/settings"
)

// Limits of what we record.
const (
	// MaxRow is the longest row that is written, in bytes: half of what readers keep.
	MaxRow = DefaultMaxRecord / 2
	// MaxText is the most text that one entry holds, pictures left out: what the guard
	// looks through in one call.
	MaxText = guard.DefaultMaxBytes
	// MaxRecording is the size at which a recorded session is full. A client of which
	// one knows keeps its own; the largest that a person has in a day are some hundred megabytes.
	MaxRecording = 1 << 30
	// MaxEntries is how many entries one call appends.
	MaxEntries = 1000

	// recordWait is how long an append waits for other writers, which take a millisecond each.
	recordWait = 10 * time.Second
	// tailSize is how much of the end is looked through first for the last row.
	tailSize = 64 << 10
	// maxTail is how much of the end is held at once.
	maxTail = 4 * MaxRow
)

// Recording says what is appended to which session of ours.
type Recording struct {
	Directory string // the memory directory whose state holds the session
	Session   string // "" begins a new one
	Cwd       string // the working directory, which says whose the session is
	Branch    string // of git, where it is known
	Version   string // of the client that keeps no transcripts, and its name
	Title     string // what the session is called from now on; "" leaves that
	Entries   []Entry

	// Guard takes secrets out of what is recorded; nil means one without exceptions.
	Guard *guard.Scanner
	// AllowSecrets records them. Only a person may set it.
	AllowSecrets bool
	Rand         io.Reader // for ids; nil means that of the system
}

// Recorded is what was appended.
type Recorded struct {
	Session string   `json:"session"`
	Path    string   `json:"path"`
	UUIDs   []string `json:"uuids"` // of the rows, in order
	Size    int64    `json:"size"`  // of the file, in bytes
	Created bool     `json:"created"`
	// Redacted names the rules of the secrets that were taken out.
	Redacted []string `json:"redacted,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// Append records a part of a conversation for clients that keep no transcript of their
// own: each entry as rows of the client's minimal form, each row with one write at the end of
// the file, the parent of the first being the last row that is there. Several
// processes may append to one session. Entries are checked before any is written; an
// error after that says how many are.
func Append(ctx context.Context, env settings.Env, in Recording) (*Recorded, error) {
	w, err := newRecorder(env, in)
	if err != nil {
		return nil, fmt.Errorf("recording the session: %w", err)
	}
	for i, e := range in.Entries {
		if err := w.entry(e); err != nil {
			return nil, fmt.Errorf("recording the session: entry %d: %w. Nothing was written", i+1, err)
		}
	}
	if err := w.write(ctx); err != nil {
		if n := len(w.out.UUIDs); n > 0 {
			return &w.out, fmt.Errorf("recording the session: only the first %d of %d rows were written: %w", n, len(w.rows), err)
		}
		return nil, fmt.Errorf("recording the session: nothing was written: %w", err)
	}
	return &w.out, nil
}

// recorder is one Append.
type recorder struct {
	env  settings.Env
	in   Recording
	dir  string
	now  time.Time
	rows []pendingRow
	text int // bytes of text in the entry
	out  Recorded
}

// pendingRow is a row that waits to be written: its parent is known only under the lock.
type pendingRow struct {
	uuid   string
	fields recordRow
	// aside marks a record that takes no part in the tree, such as a title.
	aside []byte
}

func newRecorder(env settings.Env, in Recording) (*recorder, error) {
	state, err := StateOf(env, in.Directory)
	if err != nil {
		return nil, err
	}
	w := &recorder{env: env, in: in, dir: filepath.Join(state, sessionsDir), now: env.Time()}
	if w.in.Rand == nil {
		w.in.Rand = rand.Reader
	}
	if in.Guard == nil {
		w.in.Guard = cleaner()
	}
	if w.in.Session == "" {
		if w.in.Session, err = w.newUUID(); err != nil {
			return nil, err
		}
	}
	switch err := ValidID(w.in.Session); {
	case err != nil:
		return nil, err
	case len(in.Entries) == 0 && in.Title == "":
		return nil, errors.New("there are no entries; give at least one")
	case len(in.Entries) > MaxEntries:
		return nil, fmt.Errorf("%d entries are more than %d; append them in several calls", len(in.Entries), MaxEntries)
	case !isAbsolute(in.Cwd):
		return nil, fmt.Errorf("the working directory %s is no absolute path; give the one that the conversation is about", memdir.ShownName(in.Cwd))
	case len(in.Cwd) > 4096 || len(in.Branch) > 1024 || len(in.Version) > 200 || len(in.Title) > 1000:
		return nil, errors.New("the working directory, branch, version or title is too long")
	}
	w.out = Recorded{Session: w.in.Session, Path: filepath.Join(w.dir, w.in.Session+transcriptExt), UUIDs: []string{}}
	if in.Title != "" {
		title, err := w.redactText(in.Title)
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(titleRow{Type: "custom-title", Title: title, Session: w.in.Session})
		if err != nil {
			return nil, err
		}
		w.rows = append(w.rows, pendingRow{aside: line})
	}
	return w, nil
}

// isAbsolute reports whether a path is absolute on any system: a client may run on
// another one than we do.
func isAbsolute(p string) bool {
	return filepath.IsAbs(p) || len(p) > 0 && p[0] == '/' || len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// newUUID gives a random UUID, as clients use.
func (w *recorder) newUUID() (string, error) {
	var u UUID
	if _, err := io.ReadFull(w.in.Rand, u[:]); err != nil {
		return "", fmt.Errorf("the system gives no random numbers: %w", err)
	}
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return u.String(), nil
}

// write appends the rows under the lock.
func (w *recorder) write(ctx context.Context) (err error) {
	if err := makeFolder(w.dir); err != nil {
		return err
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	f, err := w.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if w.out.Size = info.Size(); w.out.Size >= MaxRecording {
		return fmt.Errorf("the session has %d bytes and may have %d; begin a new one", w.out.Size, int64(MaxRecording))
	}
	parent, torn, err := lastRow(ctx, f, info.Size())
	if err != nil {
		return err
	}
	if torn {
		w.out.Notes = append(w.out.Notes, "the last line was not finished, as after a crash; it was ended")
	}
	for _, r := range w.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		line := r.aside
		if line == nil {
			if line, err = r.line(parent); err != nil {
				return err
			}
		}
		if torn {
			line, torn = append([]byte{'\n'}, line...), false
		}
		line = append(line, '\n')
		if w.out.Size+int64(len(line)) > MaxRecording {
			return fmt.Errorf("the session has %d bytes and may have %d; begin a new one", w.out.Size, int64(MaxRecording))
		}
		n, err := f.Write(line)
		w.out.Size += int64(n)
		if err != nil {
			return err
		}
		if r.aside == nil {
			parent = r.uuid
			w.out.UUIDs = append(w.out.UUIDs, r.uuid)
		}
	}
	return nil
}

// lock takes the lock of the folder: a row's parent is the row before, so writers
// come one after the other.
func (w *recorder) lock(ctx context.Context) (unlock func() error, err error) {
	wait, cancel := context.WithTimeout(ctx, recordWait)
	defer cancel()
	l := flock.New(filepath.Join(w.dir, ".lock"), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(wait, 2*time.Millisecond)
	if !ok && (err == nil || errors.Is(err, context.DeadlineExceeded)) && ctx.Err() == nil {
		err = fmt.Errorf("another process has kept %s locked for %v; end it if it hangs", w.dir, recordWait)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l.Close, nil
}

// open opens the session for appending; a link or anything else that is no file of
// ours is refused.
func (w *recorder) open() (*os.File, error) {
	path := w.out.Path
	before, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		w.out.Created = err == nil
		return f, err
	case err != nil:
		return nil, err
	case !before.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file; remove it, or record under another id", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errors.Join(fmt.Errorf("%s was replaced at this moment; try again", path), err, f.Close())
	}
	return f, nil
}

// lastRow gives the uuid of the last row of the conversation, "" without one, and
// whether the last line has no end. A row that was cut is none.
func lastRow(ctx context.Context, src io.ReaderAt, size int64) (uuid string, torn bool, err error) {
	w := newWalker()
	for n := int64(tailSize); size > 0; n *= 8 {
		if n > maxTail && size > maxTail {
			// Nothing that we write has an end like that: look at all of it, row by row.
			return lastRowOf(ctx, src, size, torn)
		}
		n = min(n, size)
		b := make([]byte, n)
		if _, err := src.ReadAt(b, size-n); err != nil && !errors.Is(err, io.EOF) {
			return "", false, err
		}
		torn = b[n-1] != '\n'
		rest := bytes.TrimRight(b, "\n")
		for len(rest) > 0 {
			i := bytes.LastIndexByte(rest, '\n')
			if i < 0 && n < size {
				break // the line begins before what was read
			}
			if line := trimSpace(rest[i+1:]); len(line) > 0 && w.walk(line) == isRecord {
				if k := w.rec.kind(); k.IsMessage() && !w.rec.sidechain {
					return string(w.rec.uuid.bytes()), torn, nil
				}
			}
			rest = rest[:max(i, 0)]
		}
		if n == size {
			break
		}
	}
	return "", torn, nil
}

// lastRowOf is lastRow for a file whose end is too long to be held.
func lastRowOf(ctx context.Context, src io.ReaderAt, size int64, torn bool) (string, bool, error) {
	tr, err := Read(ctx, src, size, Options{})
	if err != nil && !errors.Is(err, ErrNoRecords) {
		return "", torn, err
	}
	for i := tr.Rows.Len() - 1; i >= 0; i-- {
		if r := tr.Rows.At(i); r.Kind.IsMessage() && !r.Flags.Has(FlagSidechain) {
			for m, err := range Load(ctx, src, tr, []int{i}) {
				return m.UUID, torn, err
			}
		}
	}
	return "", torn, nil
}

// RecordedPath is where a session lies, or would lie, that mem records for a memory
// directory.
func RecordedPath(env settings.Env, directory, id string) (string, error) {
	if err := ValidID(id); err != nil {
		return "", err
	}
	state, err := StateOf(env, directory)
	if err != nil {
		return "", err
	}
	return filepath.Join(state, sessionsDir, id+transcriptExt), nil
}
