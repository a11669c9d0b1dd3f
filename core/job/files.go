package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"mem/core/atomicfile"
)

const (
	// lockWait is how long a change of a record waits for other processes: each of them
	// needs about a millisecond.
	lockWait = 10 * time.Second
	// lockPoll is how often it looks.
	lockPoll = 2 * time.Millisecond
	// tempAge is how long a temporary file may lie before it counts as left by a crash.
	tempAge = time.Hour
)

// A record survives a power cut (durable), but for how far a job is (passing).
const (
	durable = atomicfile.Durable
	passing = atomicfile.Quick
)

// lock makes this process the only one that changes records.
func (j *Jobs) lock() (unlock func(), err error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of jobs: %w", err)
	}
	l := flock.New(filepath.Join(j.dir, lockName), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	ok, err := l.TryLockContext(ctx, lockPoll)
	if err != nil || !ok {
		if errors.Is(err, context.DeadlineExceeded) || err == nil {
			err = fmt.Errorf("another process held it for %s; try again, or end that process if it hangs", lockWait)
		}
		return nil, fmt.Errorf("locking %s: %w", l.Path(), err)
	}
	return func() {
		if l.Unlock() != nil {
			_ = l.Close() // releases it too
		}
	}, nil
}

var lockNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`) })

// TryLock takes the lock of this name among all processes of this memory, if nobody has
// it: ok is false when somebody does. It ends with unlock or with the process. Names are
// lower-case letters, digits and dashes.
func (j *Jobs) TryLock(name string) (unlock func(), ok bool, err error) {
	if !lockNames().MatchString(name) {
		return nil, false, fmt.Errorf("%q is no name of a lock", name)
	}
	dir := filepath.Join(j.state, locksDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, fmt.Errorf("creating the folder of locks: %w", err)
	}
	l := flock.New(filepath.Join(dir, name), flock.SetPermissions(0o600))
	if ok, err = l.TryLock(); err != nil {
		return nil, false, fmt.Errorf("locking %s: %w", l.Path(), err)
	}
	if !ok {
		return nil, false, nil
	}
	return func() {
		if l.Unlock() != nil {
			_ = l.Close()
		}
	}, true, nil
}

// readRegular reads a plain file that is no larger than limit, without waiting for
// whatever else may stand there.
func readRegular(name string, limit int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("it is no plain file")
	}
	f, err := atomicfile.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	return b, info, err
}

// write stores a record whole or not at all. The lock is held.
func (j *Jobs) write(r *Record, how atomicfile.Durability) error {
	bound(r)
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("storing job %s: %w", r.ID, err)
	}
	if len(b) > maxRecord {
		return fmt.Errorf("storing job %s: its record would take %d bytes, at most %d are kept", r.ID, len(b), maxRecord)
	}
	if err := atomicfile.Write(j.recordFile(r.ID), append(b, '\n'), 0o600, how); err != nil {
		return fmt.Errorf("storing job %s: %w", r.ID, err)
	}
	return nil
}

// Bounds of what a record holds of its lists and texts.
const (
	maxLast     = 20
	maxTouched  = 500
	maxSessions = 500
	maxRefused  = 200
	maxLine     = 1000      // bytes of a line of those
	maxReport   = 256 << 10 // bytes
)

// bound cuts what grows with a run; what was cut is said where it was.
func bound(r *Record) {
	if n := len(r.Last) - maxLast; n > 0 {
		r.Last = r.Last[n:] // the latest count
	}
	for i := range r.Last {
		r.Last[i] = cut(r.Last[i], maxLine)
	}
	r.Touched = cutList(r.Touched, maxTouched)
	r.Sessions = cutList(r.Sessions, maxSessions)
	if n := len(r.Refused) - maxRefused; n > 0 {
		r.Refused = append(r.Refused[:maxRefused:maxRefused], Refused{What: fmt.Sprintf("… and %d more", n)})
	}
	for i := range r.Refused {
		r.Refused[i] = Refused{cut(r.Refused[i].What, maxLine), cut(r.Refused[i].Reason, maxLine)}
	}
	r.Reason = cut(r.Reason, 4*maxLine)
	r.Report = cut(r.Report, maxReport)
}

func cutList(list []string, n int) []string {
	if more := len(list) - n; more > 0 {
		list = append(list[:n:n], fmt.Sprintf("… and %d more", more))
	}
	for i := range list {
		list[i] = cut(list[i], maxLine)
	}
	return list
}

// cut shortens s to n bytes and says so.
func cut(s string, n int) string {
	const mark = "… (cut)"
	if len(s) <= n {
		return s
	}
	return strings.TrimSuffix(strings.ToValidUTF8(s[:n-len(mark)], ""), mark) + mark
}

// trim drops what is too old or too much, and gives the ids that stay. The lock is held.
func (j *Jobs) trim(ids []string) ([]string, error) {
	now := j.env.Time()
	over := len(ids) + 1 - KeepRecords
	kept := ids[:0:0]
	for i, id := range ids {
		old := now.UnixMilli()-idMillis(id) > KeepAge.Milliseconds()
		if !old && over <= 0 {
			kept = append(kept, ids[i:]...) // the others are newer
			break
		}
		if over <= 0 && j.giveUp(id, now) {
			kept = append(kept, id)
			continue
		}
		if j.droppable(id, now, over > 0) {
			j.drop(id)
			over--
			continue
		}
		kept = append(kept, id)
	}
	if over > 0 {
		return nil, fmt.Errorf("%d jobs wait or run in %s, at most %d may. End some with `mem-mcp jobs cancel`", len(kept), j.dir, KeepRecords)
	}
	if len(kept) < len(ids) {
		j.sweep(now)
	}
	return kept, nil
}

// giveUp ends a job that waited for somebody for KeepAge and that nobody took. Its record
// says so, and goes as those that are over do.
func (j *Jobs) giveUp(id string, now time.Time) bool {
	info, err := os.Lstat(j.recordFile(id))
	if err != nil || now.Sub(info.ModTime()) <= KeepAge {
		return false
	}
	r, err := j.read(id)
	if err != nil || r.State != Queued && r.State != Waiting {
		return false
	}
	r.State, r.Ended = Cancelled, now
	r.Reason = fmt.Sprintf("nobody took it within %d days", int(KeepAge.Hours())/24)
	r.Process, r.ProcessStart = 0, ""
	return j.write(r, durable) == nil
}

// droppable says whether a record is over and old, or over and too much.
func (j *Jobs) droppable(id string, now time.Time, tooMany bool) bool {
	info, err := os.Lstat(j.recordFile(id))
	if err != nil {
		return true
	}
	silent := now.Sub(info.ModTime()) > KeepAge
	r, err := j.read(id)
	if err != nil {
		return silent || tooMany
	}
	if r.State == Running {
		return false
	}
	return silent || r.State.Final() && (tooMany || now.Sub(r.Ended) > KeepAge)
}

func (j *Jobs) drop(id string) {
	for _, ext := range []string{cancelExt, logExt, recordExt} {
		_ = os.Remove(filepath.Join(j.dir, id+ext)) // what stays is tried again
	}
}

// sweep removes what crashes and dropped records left.
func (j *Jobs) sweep(now time.Time) {
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return // the next one tries again
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		id := strings.TrimSuffix(e.Name(), ext)
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < tempAge {
			continue
		}
		_, gone := os.Lstat(j.recordFile(id))
		if ext == tempExt || (ext == cancelExt || ext == logExt) && validID(id) && errors.Is(gone, fs.ErrNotExist) {
			_ = os.Remove(filepath.Join(j.dir, e.Name()))
		}
	}
}
