package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mem/core/atomicfile"
	"mem/core/memdir"
	"mem/core/settings"
	"mem/core/store"
)

// StateOf is the folder of our state for a memory directory: where its recorded and
// archived sessions lie.
func StateOf(env settings.Env, directory string) (string, error) {
	switch {
	case env.StateDir == "":
		return "", errNoState
	case !filepath.IsAbs(directory):
		return "", fmt.Errorf("the memory directory %s is no absolute path", memdir.ShownName(directory))
	}
	return filepath.Join(env.StateDir, store.Key(realPath(directory))), nil
}

var errNoState = errors.New("there is no place for our state: set HOME or XDG_STATE_HOME")

// ArchiveOptions says how sessions are copied.
type ArchiveOptions struct {
	Directory string // the memory directory whose state holds the copies
	Version   string // of mem, noted in the copies
	// Progress is called with the bytes copied so far and those of all sessions.
	Progress func(done, total int64)

	adopted string // id of the adoption that the copies belong to
}

// Outcome is what became of one session in the archive.
type Outcome struct {
	Session string `json:"session"`
	Path    string `json:"path"`
	// Action is "copied", "updated" where the session had grown since it was copied,
	// "unchanged" where the copy is complete, or "kept both" where the original does
	// not continue the copy: the older copy has its hash in its name then.
	Action string `json:"action"`
	Size   int64  `json:"size"`   // bytes of the transcript
	Stored int64  `json:"stored"` // bytes of the copy
	Files  int    `json:"files"`  // with those of subagents, results of tools, and copies of the user's files
}

// Archived is what Archive did.
type Archived struct {
	Directory string    `json:"directory"` // where the copies lie
	Sessions  []Outcome `json:"sessions"`
	Failed    int       `json:"failed,omitempty"` // sessions that were not copied; Skipped says why
	Skipped   []Skipped `json:"skipped,omitempty"`
}

// Archive copies sessions, compressed, with their subagents, the results of tools and the
// session memory that lie beside them, and with the client's copies of the files that they
// changed, to our state, from where they are found and read like the others. The
// originals are not touched. What cannot be copied is in Skipped; an error
// says that nothing can be, or that ctx is done.
func Archive(ctx context.Context, env settings.Env, list []*Session, o ArchiveOptions) (*Archived, error) {
	state, err := StateOf(env, o.Directory)
	if err != nil {
		return nil, fmt.Errorf("archiving sessions: %w", err)
	}
	a := &archiver{env: env, o: o, dir: filepath.Join(state, archiveDir)}
	a.out = Archived{Directory: a.dir, Sessions: []Outcome{}}
	if err := makeFolder(a.dir); err != nil {
		return nil, fmt.Errorf("archiving sessions: %w", err)
	}
	sweep(a.dir, env.Time())
	for _, s := range list {
		a.total += s.Size
	}
	for _, s := range list {
		start := a.done
		outcome, err := a.session(ctx, s)
		if ctx.Err() != nil {
			return &a.out, ctx.Err()
		}
		a.progress(start + s.Size - a.done)
		if err != nil {
			a.skip(s.Path, err)
			a.out.Failed++
			continue
		}
		a.out.Sessions = append(a.out.Sessions, outcome)
	}
	return &a.out, nil
}

// abandoned is after how long without a write an unfinished copy is one of a process that
// died: reading the largest one back takes minutes.
const abandoned = time.Hour

// sweep removes the unfinished copies that processes left which died.
func sweep(dir string, now time.Time) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasPrefix(d.Name(), atomicfile.TempPrefix) || !strings.HasSuffix(d.Name(), ".tmp") {
			return nil
		}
		if info, err := d.Info(); err == nil && now.Sub(info.ModTime()) > abandoned {
			_ = os.Remove(path) // what cannot be removed is only in the way
		}
		return nil
	})
}

// archiver is one run of Archive.
type archiver struct {
	env         settings.Env
	o           ArchiveOptions
	dir         string
	out         Archived
	done, total int64
}

func (a *archiver) progress(n int64) {
	if n > 0 && a.o.Progress != nil {
		a.done = min(a.done+n, a.total)
		a.o.Progress(a.done, a.total)
	}
}

func (a *archiver) skip(path string, err error) {
	a.out.Skipped = append(a.out.Skipped, Skipped{Path: path, Reason: reasonOf(err)})
}

func (a *archiver) session(ctx context.Context, s *Session) (Outcome, error) {
	if err := ValidID(s.ID); err != nil {
		return Outcome{}, err
	}
	src, err := Open(s.Path)
	if err != nil {
		return Outcome{}, err
	}
	defer src.Close()
	size := src.Size()
	if size > MaxArchived {
		return Outcome{}, fmt.Errorf("it has %d bytes, and at most %d are copied; compress it yourself", size, int64(MaxArchived))
	}
	dest := filepath.Join(a.dir, s.ID+archiveExt)
	out := Outcome{Session: s.ID, Path: dest, Size: size, Files: 1}
	head := ArchiveHead{Session: s.ID, Source: s.Path, Size: size, Modified: s.Modified.UTC(), Archived: a.env.Time().UTC(),
		Client: a.o.Version, Adopted: a.o.adopted}
	if s.head != nil {
		head.Source = s.head.Source
	}
	if out.Action, err = a.compare(ctx, dest, src, &head); err != nil {
		return out, err
	}
	if out.Action != "unchanged" {
		if err := a.pack(ctx, dest, src, head); err != nil {
			return out, err
		}
	}
	if info, err := os.Stat(dest); err == nil {
		out.Stored = info.Size()
	}
	if s.companion != "" {
		err = a.beside(ctx, s.companion, filepath.Join(a.dir, s.ID), s.head != nil, &out)
	}
	if dir := s.backups(a.env); err == nil && s.head == nil && isFolder(dir) {
		err = a.beside(ctx, dir, filepath.Join(a.dir, s.ID, historyDir), false, &out)
	}
	return out, err
}

// compare looks at what the archive has of a session, moves it out of the way where the
// original does not continue it, and gives the head the hash of the original.
func (a *archiver) compare(ctx context.Context, dest string, src io.ReaderAt, head *ArchiveHead) (action string, err error) {
	old, err := openArchive(dest)
	if errors.Is(err, fs.ErrNotExist) {
		head.SHA256, err = hashOf(ctx, src, 0, head.Size, nil)
		return "copied", err
	}
	if err != nil {
		if err := setAside(dest, "damaged"); err != nil {
			return "", err
		}
		head.SHA256, err = hashOf(ctx, src, 0, head.Size, nil)
		return "copied", err
	}
	was := old.Head
	if err := old.Close(); err != nil {
		return "", err
	}
	action = "updated"
	prefix := ""
	head.SHA256, err = hashOf(ctx, src, was.Size, head.Size, &prefix)
	switch {
	case err != nil:
		return "", err
	case head.SHA256 == was.SHA256 && head.Adopted == was.Adopted:
		return "unchanged", nil
	case head.Size >= was.Size && prefix == was.SHA256:
		return action, nil
	}
	// Two copies of one session, both worth keeping: the original was written anew.
	return "kept both", setAside(dest, was.SHA256[:min(8, len(was.SHA256))])
}

// setAside gives a copy another name, under which it is still found by its head.
func setAside(path, mark string) error {
	return atomicfile.Rename(path, strings.TrimSuffix(path, archiveExt)+"."+mark+archiveExt)
}

// hashOf hashes a file, and the part of it before an offset.
func hashOf(ctx context.Context, src io.ReaderAt, offset, size int64, prefix *string) (string, error) {
	h := sha256.New()
	b := make([]byte, archiveBlock)
	at := int64(0)
	for {
		if prefix != nil && at == offset {
			*prefix = hex.EncodeToString(h.Sum(nil))
		}
		if at >= size {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n := min(int64(len(b)), size-at)
		if prefix != nil && at < offset {
			n = min(n, offset-at)
		}
		got, err := src.ReadAt(b[:n], at)
		if int64(got) < n {
			if err == nil || errors.Is(err, io.EOF) {
				err = errShort
			}
			return "", err
		}
		h.Write(b[:n])
		at += n
	}
}

// pack writes a copy, reads it back, and only then puts it into its place: the client
// will delete the original.
func (a *archiver) pack(ctx context.Context, dest string, src io.ReaderAt, head ArchiveHead) error {
	check := ""
	err := replaceFile(dest, func(f *os.File) error {
		if err := writeArchive(ctx, f, src, head, a.progress); err != nil {
			return err
		}
		back, err := openArchive(f.Name())
		if err != nil {
			return err
		}
		defer back.Close()
		check, err = hashOf(ctx, back, 0, back.Size(), nil)
		if err == nil && check != head.SHA256 {
			err = errors.New("what was written is not what was read: the disk may be failing")
		}
		return err
	}, atomicfile.Durable)
	return err
}

const (
	// maxBeside and maxBesideDepth bound what is copied with a session: the client has
	// two folders there, of one file for each subagent and long result.
	maxBeside      = 10_000
	maxBesideDepth = 4
)

// beside copies what lies beside a transcript. What cannot be copied is skipped: the
// conversation itself is safe already.
func (a *archiver) beside(ctx context.Context, from, to string, packed bool, out *Outcome) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			a.skip(path, err)
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if strings.Count(rel, string(filepath.Separator)) >= maxBesideDepth {
				a.skip(path, errors.New("it lies too deep"))
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			a.skip(path, errors.New("it is no regular file"))
			return nil
		case strings.HasPrefix(d.Name(), atomicfile.TempPrefix):
			return nil
		case out.Files > maxBeside:
			a.skip(from, fmt.Errorf("it holds more than %d files", maxBeside))
			return fs.SkipAll
		}
		dest := filepath.Join(to, rel)
		// What says what a file is stays readable, and so does the session memory.
		plain := packed || strings.HasSuffix(rel, ".meta.json") || rel == filepath.Join(memoryDir, memoryFile)
		if !plain {
			dest += ".gz"
		}
		if err := a.besideFile(ctx, path, dest, plain); err != nil {
			a.skip(path, err)
			return ctx.Err()
		}
		out.Files++
		return nil
	})
}

func (a *archiver) besideFile(ctx context.Context, path, dest string, plain bool) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if plain {
		err := replaceFile(dest, func(f *os.File) error {
			_, err := io.Copy(f, io.LimitReader(src, MaxArchived))
			return err
		}, atomicfile.Durable)
		if err != nil {
			return err
		}
		// Whether a session memory is newer than a compaction, its time tells.
		return os.Chtimes(dest, info.ModTime(), info.ModTime())
	}
	head := ArchiveHead{Source: path, Size: info.Size(), Modified: info.ModTime().UTC(), Archived: a.env.Time().UTC(), Client: a.o.Version}
	if old, err := openArchive(dest); err == nil {
		same := old.Head.Size == head.Size && old.Head.Modified.Equal(head.Modified)
		if err := old.Close(); err != nil || same {
			return err
		}
	}
	if head.SHA256, err = hashOf(ctx, src, 0, head.Size, nil); err != nil {
		return err
	}
	silent := *a
	silent.o.Progress = nil // the total counts transcripts only
	return silent.pack(ctx, dest, src, head)
}

// Expiring gives the sessions that the client deletes within a time from now, and of
// which the archive has no complete copy.
func (s *Sessions) Expiring(now time.Time, within time.Duration) []*Session {
	var list []*Session
	for _, x := range s.List {
		if !x.Expires.IsZero() && !x.Archived && !x.Live && x.Expires.Before(now.Add(within)) {
			list = append(list, x)
		}
	}
	return list
}

// ExpiryWarning says which sessions are about to be deleted and how to keep them; "" where
// there are none.
func ExpiryWarning(env settings.Env, o FindOptions, list []*Session) string {
	if len(list) == 0 {
		return ""
	}
	_, source := settings.LoadClient(env, o.Project).Cleanup()
	first := list[0]
	for _, s := range list {
		if s.Expires.Before(first.Expires) {
			first = s
		}
	}
	noun, when := "sessions", "from "+first.Expires.Local().Format(time.DateOnly)+" on"
	if len(list) == 1 {
		noun = "session"
	}
	if first.Expires.Before(env.Time()) {
		when = "at its next start"
	}
	return fmt.Sprintf("The client will delete %d %s %s, the first of them %s (cleanupPeriodDays: %s). `mem-mcp sessions archive` keeps copies.",
		len(list), noun, when, memdir.ShownName(first.ID), source)
}
