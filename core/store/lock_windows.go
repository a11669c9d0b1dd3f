package store

import (
	"path/filepath"

	"github.com/gofrs/flock"
)

// newFlock locks a file in the state directory, which is keyed by the final
// path: Windows cannot lock a directory.
func newFlock(_, state string) *flock.Flock { return flock.New(filepath.Join(state, "lock")) }

func kernelHolder(string) string { return "" }
