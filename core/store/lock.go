package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

const holderFile = "holder.json"

// lock takes the lock that all processes of mem share for this directory. It
// waits at most LockWait. The caller must call the function it gets.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.opt.LockWait)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, s.lockFailed(ctx, start)
	}
	release := func() { <-s.turn }
	for {
		unlock, ok, err := s.tryLock()
		if err != nil {
			release()
			return nil, err
		}
		if ok {
			return func() { unlock(); release() }, nil
		}
		// Waiting processes ask at random intervals, so that none is always late.
		select {
		case <-ctx.Done():
			release()
			return nil, s.lockFailed(ctx, start)
		case <-time.After(time.Duration(500+rand.IntN(2500)) * time.Microsecond):
		}
	}
}

// tryLock takes the lock if nobody has it.
func (s *Store) tryLock() (unlock func(), ok bool, err error) {
	if _, err := s.openRoot(true); err != nil {
		return nil, false, err
	}
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		return nil, false, fmt.Errorf("creating the state directory: %w. Check XDG_STATE_HOME and its permissions", err)
	}
	l := newFlock(s.dir, s.state)
	ok, err = l.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("locking %s: %w", s.dir, err)
	}
	if !ok {
		return nil, false, nil
	}
	// The directory may have been replaced between opening and locking.
	if _, err := s.openRoot(true); err != nil {
		return nil, false, errors.Join(err, l.Unlock())
	}
	s.sayHolder()
	return func() {
		// Closing the descriptor releases the lock even where unlocking fails.
		if err := l.Unlock(); err != nil {
			_ = l.Close()
		}
	}, true, nil
}

// sayHolder leaves word of who has the lock; it is advice for error messages
// only, so failing to write it is no failure.
func (s *Store) sayHolder() {
	if b, err := json.Marshal(holder{os.Getpid(), s.opt.Actor, s.opt.Now()}); err == nil {
		_ = os.WriteFile(filepath.Join(s.state, holderFile), b, 0o600)
	}
}

func (s *Store) lockFailed(ctx context.Context, start time.Time) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
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
