// Package shell runs the scripts that a forked agent writes for Bash, in this
// process: no program is started, nothing is written, and every path goes through
// Files. Scripts are parsed and their words expanded by mvdan.cc/sh; the commands,
// the control flow and the limits are this package's. The runner of that module is
// not used: a panic in one of its pipelines ends the whole process, its variables and
// substitutions grow without bound, and its paths are those of the system, so that
// /memory would mean another place on Windows.
package shell

import (
	"fmt"
	"io/fs"
)

// Files is what scripts can see. Paths are slash-separated and absolute, the same on
// every system. Errors are those of io/fs or a *RefusedError.
type Files interface {
	// Resolve gives the clean path that p means in the folder cwd, whether it exists or
	// not.
	Resolve(cwd, p string) (string, error)
	// Stat looks at a file or folder; no link is followed.
	Stat(p string) (fs.FileInfo, error)
	// ReadDir lists a folder by name. left is how many entries it has that are not shown.
	ReadDir(p string) (list []fs.FileInfo, left int, err error)
	// ReadFile gives a file's content as it may be shown.
	ReadFile(p string) ([]byte, error)
}

// RefusedError is a path that the agent may not use, or a thing that it may not do.
type RefusedError struct {
	What   string // shown as it was given
	Reason string // with the way out
}

func (e *RefusedError) Error() string {
	if e.What == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s", e.What, e.Reason)
}
