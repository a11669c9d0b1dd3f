package dream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Lock is the lock of the runs on one memory directory. Its fields are set before its
// first use; the functions are replaced by tests.
//
// Other programs know the lock file as the seed describes it: its time is the last
// consolidation, its content the process that dreams. Between processes of mem an flock
// on that very file decides, which ends with its process, so that no two of them run and
// none waits for a dead one.
type Lock struct {
	Directory string // the memory directory
	State     string // of this memory

	Now   func() time.Time
	Alive func(pid int, start string) bool
	Start func(pid int) string
	PID   int // 0 is this process

	// instant is told of every step that a crash may stop at; nil in use.
	instant func(step string)
	// lacks says what the file system does not have, by an error; nil in use.
	lacks func(what string) error
}

func (l *Lock) lacking(what string) error {
	if l.lacks == nil {
		return nil
	}
	return l.lacks(what)
}

func (l *Lock) at(step string) {
	if l.instant != nil {
		l.instant(step)
	}
}

// BusyError says that somebody dreams already.
type BusyError struct {
	Directory string
	PID       int
	Since     time.Time
}

func (e *BusyError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	since := ""
	if !e.Since.IsZero() {
		since = " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s is being consolidated by %s%s. Nothing was begun; cancel that dream, or wait until it is over", e.Directory, who, since)
}

// NotDueError says that a run is not due any more: another one ended in the meantime.
type NotDueError struct{ Reason string }

func (e *NotDueError) Error() string { return e.Reason }

// Held is the lock while a run has it. One of Done and Rollback ends it.
type Held struct {
	// Last is when the last successful run began; zero where there was none.
	Last time.Time
	// Began is when this one did.
	Began time.Time
	// Notes say what the reader should know: a crash that was mended, a system without locks.
	Notes []string

	lock  *Lock
	root  *os.Root
	file  *os.File
	rec   record
	prior time.Time
	// unlocked says that the file system has no flock.
	unlocked bool
}

// attempts bounds how often taking starts over where the file changes under our hands.
const attempts = 20

// Take takes the lock for a job, or says who has it with a *BusyError. due is asked, with
// the lock held, whether the run still is to be, given the time of the last success; a
// reason why not ends it with a *NotDueError. It may be nil.
func (l *Lock) Take(jobID string, due func(last time.Time) (why string)) (*Held, error) {
	root, err := os.OpenRoot(l.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist, so there is nothing to consolidate. The first memory that is written creates it", l.Directory)
	}
	if err != nil {
		return nil, err
	}
	h := &Held{lock: l, root: root}
	for range attempts {
		again, err := h.open()
		if err == nil && !again {
			if err = h.claim(jobID, due); err == nil {
				return h, nil
			}
		}
		if err != nil {
			return nil, errors.Join(err, h.close())
		}
		if err := h.drop(); err != nil {
			return nil, errors.Join(err, h.close())
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("%s changes again and again: another program replaces it. Try again, or remove it", filepath.Join(l.Directory, LockName)), h.close())
}

func (h *Held) look() (seen, error) {
	info, err := h.file.Stat()
	if err != nil {
		return seen{}, err
	}
	b := make([]byte, maxContent)
	n, err := h.file.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return seen{}, err
	}
	return seen{exists: true, mtime: info.ModTime(), content: string(b[:n])}, nil
}

// claim makes the locked file say that we dream.
func (h *Held) claim(jobID string, due func(time.Time) string) error {
	l := h.lock
	s, err := h.look()
	if err != nil {
		return err
	}
	if h.rec, err = readRecord(l.State); err != nil {
		return err
	}
	now := l.now()
	if holderOf(s.content) == l.pid() && s.mtime.Unix() <= 0 { // we have just made it
		return h.begin(jobID, due, seen{content: s.content}, false)
	}
	st := l.stand(h.rec, s, now)
	ours := h.rec.Run != nil && h.rec.Run.left(s)
	crashed := st.Crashed
	switch {
	case st.Holder != 0 && ours && !h.unlocked:
		crashed = true // a run of ours without its flock has ended, whatever its process does now
	case st.Holder != 0:
		return &BusyError{Directory: l.Directory, PID: st.Holder, Since: st.Since}
	}
	h.Last = st.Last
	if crashed {
		h.Notes = append(h.Notes, fmt.Sprintf("The dream that process %d began at %s did not come to its end; it does not count.", h.rec.Run.PID, h.rec.Run.Began.UTC().Format(time.RFC3339)))
		h.prior = h.rec.Run.Prior
	} else {
		h.prior = s.mtime
	}
	if h.prior.Unix() <= 0 {
		h.prior = time.Time{}
	}
	return h.begin(jobID, due, s, crashed)
}

// begin writes down that we dream; s is the lock file before, crashed that a run of ours
// left it so.
func (h *Held) begin(jobID string, due func(time.Time) string, s seen, crashed bool) error {
	l := h.lock
	if due != nil {
		if why := due(h.Last); why != "" {
			var err error
			if crashed || !s.exists || s.mtime.Unix() <= 0 {
				err = h.restore()
			}
			if crashed && err == nil {
				h.rec.Run = nil
				err = writeState(l.State, recordName, h.rec)
			}
			return errors.Join(err, &NotDueError{why})
		}
	}
	h.Began = l.now().Truncate(time.Millisecond) // what every client can write and read
	h.rec.Version = recordVersion
	h.rec.Run = &unfinished{Job: jobID, PID: l.pid(), Start: l.processStart(l.pid()), Began: h.Began, Prior: h.prior}
	if err := writeState(l.State, recordName, h.rec); err != nil {
		if !s.exists {
			err = errors.Join(err, h.restore())
		}
		return err
	}
	l.at("begin: recorded")
	// A program that knows no flock may have written since we looked, or between our write
	// and the look after it: the file is its own then.
	want := strconv.Itoa(l.pid())
	now, err := h.content()
	if err == nil && now != s.content {
		return h.yield(now)
	}
	if err == nil {
		err = h.put(want, h.Began)
	}
	if err == nil {
		now, err = h.content()
	}
	if err != nil {
		return errors.Join(err, h.Rollback())
	}
	if now != want {
		return h.yield(now)
	}
	return nil
}

// yield leaves the lock file to the program that wrote it.
func (h *Held) yield(content string) error {
	h.rec.Run = nil
	err := errReplaced
	if pid := holderOf(content); pid != 0 {
		err = &BusyError{Directory: h.lock.Directory, PID: pid, Since: h.lock.now()}
	}
	return errors.Join(err, writeState(h.lock.State, recordName, h.rec))
}

// content reads what stands at the lock file's place.
func (h *Held) content() (string, error) {
	f, err := h.root.Open(LockName)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxContent))
	return string(b), err
}

// put writes content and time of the lock file.
func (h *Held) put(content string, at time.Time) error {
	if err := h.file.Truncate(0); err != nil {
		return err
	}
	h.lock.at("put: truncated")
	if content != "" {
		if _, err := h.file.WriteAt([]byte(content), 0); err != nil {
			return err
		}
		// Another program may have written a longer number in between.
		if err := h.file.Truncate(int64(len(content))); err != nil {
			return err
		}
	}
	h.lock.at("put: written")
	if gone, err := h.isPlace(); err != nil || gone {
		return errors.Join(err, errReplaced)
	}
	err := h.root.Chtimes(LockName, at, at)
	h.lock.at("put: timed")
	return err
}

var errReplaced error = errors.New(LockName + " was removed or replaced by another program. Nothing was begun; try again")

// restore puts the lock file back as it was: with the time before, or away.
func (h *Held) restore() error {
	if gone, err := h.isPlace(); err != nil || gone {
		return err // it is not ours any more
	}
	if h.prior.IsZero() {
		err := h.root.Remove(LockName)
		h.lock.at("restore: removed")
		return err
	}
	return h.put("", h.prior)
}

// Done says that the run succeeded: the lock file is emptied, so that a process that
// lives on is not taken for one that dreams, and its time is the start of the run.
func (h *Held) Done() error {
	h.rec.Last, h.rec.Run = h.Began, nil
	err := writeState(h.lock.State, recordName, h.rec)
	h.lock.at("done: recorded")
	if err == nil {
		err = h.put("", h.Began)
	}
	if errors.Is(err, errReplaced) {
		// Somebody removed it: the time of the run would be lost with it.
		f, again := h.root.OpenFile(LockName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err = nil; again == nil {
			err = errors.Join(f.Close(), h.root.Chtimes(LockName, h.Began, h.Began))
		} else if !errors.Is(again, fs.ErrExist) {
			err = again
		}
	}
	return errors.Join(err, h.close())
}

// Since lets the run count as begun earlier: when a host was handed it. What was touched
// since then is news for the next one. Where another dream succeeded meanwhile, that is the
// one which looked last: what was touched since then nobody has seen.
func (h *Held) Since(began time.Time) {
	switch {
	case !began.Before(h.Began):
	case began.After(h.Last):
		h.Began = began.Truncate(time.Millisecond)
	case h.Last.Before(h.Began):
		h.Began = h.Last
	}
}

// Rollback says that the run failed or was stopped: the next one is as due as this one was.
func (h *Held) Rollback() error {
	if h.file == nil {
		return nil
	}
	var err error
	if h.rec.Run != nil {
		h.rec.Run.Rolling = true
		err = writeState(h.lock.State, recordName, h.rec)
		h.lock.at("rollback: recorded")
	}
	if back := h.restore(); back != nil {
		return errors.Join(err, back, h.close()) // the record says what is to be made of it
	}
	h.rec.Run = nil
	err = errors.Join(err, writeState(h.lock.State, recordName, h.rec))
	h.lock.at("rollback: over")
	return errors.Join(err, h.close())
}

// drop closes the file, and with it lets go of the flock.
func (h *Held) drop() error {
	f := h.file
	h.file = nil
	if f == nil {
		return nil
	}
	_ = unflock(f) // a system without locks has none to let go of
	return f.Close()
}

func (h *Held) close() error {
	if h.root == nil {
		return nil
	}
	err := errors.Join(h.drop(), h.root.Close())
	h.root = nil
	return err
}

// Mend puts the lock file back where a run of ours died, so that other programs do not
// take its time for a consolidation. It does nothing where somebody holds the lock.
func (l *Lock) Mend() error {
	h, err := l.Take("", func(time.Time) string { return "only looked at" })
	if busy := (*BusyError)(nil); errors.As(err, &busy) {
		return nil
	}
	if due := (*NotDueError)(nil); errors.As(err, &due) {
		return nil
	}
	if err == nil {
		err = h.Rollback()
	}
	return err
}

func (l *Lock) pid() int {
	if l.PID != 0 {
		return l.PID
	}
	return os.Getpid()
}

// maxContent bounds what is read of the lock file: a process number has ten digits.
const maxContent = 64

func readContent(p string) (string, error) {
	f, err := os.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxContent))
	return string(b), err
}

func notRegular(p string) error {
	return fmt.Errorf("%s is no regular file, so it cannot be the lock of dreams. Remove it", p)
}
