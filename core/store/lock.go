package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
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
	for {
		root, unlock, ok, err := s.tryLock(true)
		if err != nil {
			release()
			return nil, nil, err
		}
		if ok {
			return root, func() { unlock(); release() }, nil
		}
		// Waiting processes ask at random intervals, so that none is always late.
		select {
		case <-wait.Done():
			release()
			return nil, nil, s.lockFailed(ctx, start)
		case <-time.After(time.Duration(500+rand.IntN(2500)) * time.Microsecond):
		}
	}
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
	if !ok {
		return nil, nil, false, nil
	}
	release := func() {
		// Closing the descriptor releases the lock even where unlocking fails.
		if err := l.Unlock(); err != nil {
			_ = l.Close()
		}
	}
	// The directory may have been replaced between opening and locking.
	if same, err := locks(l, root); err != nil || !same {
		release()
		return nil, nil, false, err
	}
	say := time.AfterFunc(holderAfter, s.sayHolder)
	return root, func() { say.Stop(); release() }, true, nil
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
	b, err := os.ReadFile(filepath.Join(s.state, holderFile))
	if err == nil && json.Unmarshal(b, &h) == nil && h.PID > 0 && h.PID != os.Getpid() {
		return fmt.Sprintf("process %d (%s, last seen with the lock at %s)", h.PID, h.Actor, h.Since.Format(time.TimeOnly))
	}
	return "another process"
}
