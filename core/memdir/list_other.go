//go:build !linux

package memdir

import (
	"io/fs"
	"os"
)

func readDir(p string) ([]fs.DirEntry, error) { return os.ReadDir(p) }
