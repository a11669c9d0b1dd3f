package store

import (
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// newFlock locks a file in the state directory, which is keyed by the final
// path: Windows cannot lock a directory.
func newFlock(_, state string) *flock.Flock { return flock.New(filepath.Join(state, "lock")) }

// locks is true: the lock is on the path, whatever directory stands there.
func locks(*flock.Flock, *os.Root) (bool, error) { return true, nil }

func kernelHolder(string) string { return "" }
