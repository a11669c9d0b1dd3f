// Package killtest is for tests: it kills a process at an exact moment of its work on the
// disk, as a crash does that no seam in the program chose.
package killtest

import "errors"

// ErrNot says that processes cannot be watched here: on this system, or since a sandbox
// forbids it.
var ErrNot = errors.New("processes cannot be watched here")

// Death is how a process that was watched ended.
type Death struct {
	// Seen counts the system calls that change files below the folder, up to the end.
	Seen int
	// Before names the one that the process was killed before, "" where it ended by itself.
	Before string
	Code   int // of its exit, where it ended by itself
}
