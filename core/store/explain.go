package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"mem/core/memdir"
)

// unfinishedError is a failure after which not every file is as it was.
type unfinishedError struct{ error }

func (e *unfinishedError) Unwrap() error { return e.error }

// explain adds the place and the way out to the errors that people meet.
func (s *Store) explain(err error) error {
	var conflict *ConflictError
	var file *memdir.FileError
	var locked *LockedError
	var unfinished *unfinishedError
	switch {
	case errors.As(err, &unfinished):
		return fmt.Errorf("%s: %w", s.dir, err)
	case errors.As(err, &conflict):
		return conflict
	case errors.As(err, &file), errors.As(err, &locked), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	way := "Try again; if it stays so, check the disk"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		way = "Free some space and try again"
	case errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "read-only file system"):
		way = "Make it writable for this user, or choose another directory with --memory-dir (XDG_STATE_HOME for the state)"
	}
	return fmt.Errorf("%s: %w. Nothing was changed. %s", s.dir, err, way)
}
