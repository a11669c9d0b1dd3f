package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// LockedError says that another process kept the directory for too long.
type LockedError struct {
	Directory string
	Holder    string
	Waited    time.Duration
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is locked by %s; waited %s. Nothing was written. Try again, or end that process if it hangs",
		e.Directory, e.Holder, e.Waited.Round(100*time.Millisecond))
}

// holder is what a process that has the lock says of itself.
type holder struct {
	PID   int       `json:"pid"`
	Actor string    `json:"actor"`
	Since time.Time `json:"since"`
}

const (
	holderFile = "holder.json"
	// holderAfter is how long a process has the lock before it says so: most let
	// go long before anybody could want to know.
	holderAfter = 200 * time.Millisecond
)

// lock takes the lock that all processes of mem share for this directory, and
// makes the directory where it does not exist. It waits at most LockWait. The
// caller must call the function it gets.
func (s *Store) lock(ctx context.Context) (root *os.Root, unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	wait, cancel := context.WithTimeout(ctx, s.opt.LockWait)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-wait.Done():
		return nil, nil, s.lockFailed(ctx, start)
	}
	release := func() { <-s.turn }
	root, letGo, ok, err := s.tryLock(true)
	for !ok && err == nil {
		var l *flock.Flock
		if l, err = s.waitInLine(wait); err != nil {
			err = s.lockFailed(ctx, start)
		} else if root, err = s.openRoot(true); err == nil {
			letGo, ok, err = s.hold(l, root)
		}
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return root, func() { letGo(); release() }, nil
}

// waitInLine waits for the lock where the system wakes those who wait, one after
// the other. Such a wait cannot be broken off: when the caller gives up, it goes
// on for the next caller, or lets go of the lock once it gets it.
func (s *Store) waitInLine(ctx context.Context) (*flock.Flock, error) {
	w := s.waiter
	if w == nil || !w.want(true) {
		w = &waiter{lock: newFlock(s.dir, s.state), wanted: true, got: make(chan error, 1)}
		s.waiter = w
		go w.wait()
	}
	select {
	case err := <-w.got:
		s.waiter = nil
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", s.dir, err)
		}
		return w.lock, nil
	case <-ctx.Done():
		if !w.want(false) {
			s.waiter = nil
		}
		return nil, ctx.Err()
	}
}

// waiter is a wait for the lock. Only who has the turn uses the Store's.
type waiter struct {
	lock *flock.Flock
	got  chan error // how it ended, for who wants it

	mu     sync.Mutex
	wanted bool
	over   bool
}

func (w *waiter) wait() {
	err := w.lock.Lock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.wanted {
		w.got <- err
	} else if err == nil {
		_ = w.lock.Close()
	}
}

// want says whether somebody wants the lock, and reports whether the wait goes on.
func (w *waiter) want(yes bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over && !yes {
		if err := <-w.got; err == nil { // it came at the very moment of giving up
			_ = w.lock.Close()
		}
	}
	w.wanted = yes
	return !w.over
}

// tryLock takes the lock if nobody has it, and gives the directory that is
// locked; create makes it where it does not exist.
func (s *Store) tryLock(create bool) (root *os.Root, unlock func(), ok bool, err error) {
	if err := s.makeState(); err != nil {
		return nil, nil, false, err
	}
	if root, err = s.openRoot(create); err != nil {
		return nil, nil, false, err
	}
	if err := s.instant.at("lock", s.dir); err != nil {
		return nil, nil, false, err
	}
	l := newFlock(s.dir, s.state)
	ok, err = l.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, nil // removed since it was opened
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("locking %s: %w", s.dir, err)
	}
	if ok {
		unlock, ok, err = s.hold(l, root)
	}
	return root, unlock, ok, err
}

// hold makes sure that a lock is one on the directory that was opened, which may
// have been replaced in between; ok is false when it is not.
func (s *Store) hold(l *flock.Flock, root *os.Root) (unlock func(), ok bool, err error) {
	release := func() {
		// Closing the descriptor releases the lock even where unlocking fails.
		if err := l.Unlock(); err != nil {
			_ = l.Close()
		}
	}
	if same, err := locks(l, root); err != nil || !same {
		release()
		return nil, false, err
	}
	say := time.AfterFunc(holderAfter, s.sayHolder)
	return func() { say.Stop(); release() }, true, nil
}

// makeState makes the state directory.
func (s *Store) makeState() error {
	err := s.instant.at("mkdir", s.state)
	if err == nil {
		err = makeDirs(s.state)
	}
	if err != nil {
		return fmt.Errorf("creating the state directory %s: %w", s.state, err)
	}
	return nil
}

// sayHolder leaves word of who has the lock; it is advice for error messages
// only, so failing to write it is no failure.
func (s *Store) sayHolder() {
	if b, err := json.Marshal(holder{os.Getpid(), s.opt.Actor, time.Now()}); err == nil {
		_ = os.WriteFile(filepath.Join(s.state, holderFile), b, 0o600)
	}
}

func (s *Store) lockFailed(ctx context.Context, start time.Time) error {
	if err := ctx.Err(); err != nil { // the caller's own, not the end of our patience
		return err
	}
	return &LockedError{Directory: s.dir, Holder: s.holderName(), Waited: time.Since(start)}
}

func (s *Store) holderName() string {
	if name := kernelHolder(s.dir); name != "" {
		return name
	}
	var h holder
	b, err := readPlain(filepath.Join(s.state, holderFile))
	if err == nil && json.Unmarshal(b, &h) == nil && h.PID > 0 && h.PID != os.Getpid() {
		return fmt.Sprintf("process %d (%s, last seen with the lock at %s)", h.PID, h.Actor, h.Since.Format(time.TimeOnly))
	}
	return "another process"
}
