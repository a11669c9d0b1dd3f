package lspserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"mem/core/memdir"
	"mem/core/memfile"
)

// Bounds of a folder that becomes a memory directory because an index is open in it
// that nobody has saved yet. Real memories have some hundred files.
const (
	maxUnsaved     = 5_000 // files and folders below it
	maxUnsavedLook = 100 * time.Millisecond
)

// claims reports whether an index that is opened makes a memory directory of its
// folder. One that lies on disk does, whatever is in there: somebody put it there.
func (s *server) claims(path string) bool {
	if _, err := os.Lstat(path); err == nil {
		return true
	}
	dir := filepath.Dir(path)
	if in, ok := memdir.Containing(filepath.Join(dir, "topic.md")); ok && in == dir {
		return true // it is one without it
	}
	why := s.unfit(dir)
	if why == "" {
		return true
	}
	s.message(protocol.MessageTypeInfo, fmt.Sprintf("Not checked: %s is not saved, and the folder %s %s, which would all be read as memory.",
		memfile.IndexName, shown(dir), why))
	return false
}

// unfit says why a folder is none that an unsaved index makes a memory directory of.
func (s *server) unfit(dir string) string {
	if dir == filepath.Dir(dir) {
		return "is the root of the file system"
	}
	here, err := os.Stat(dir)
	if err != nil {
		return "" // it comes with the file
	}
	if home, err := os.Stat(s.o.Env.Home); err == nil && os.SameFile(here, home) {
		return "is your home folder"
	}
	if isLarge(dir) {
		return "holds a great many files"
	}
	return ""
}

// isLarge reports whether there is more in a folder than can be looked at within the
// bounds. Hidden names are none of a memory.
func isLarge(dir string) bool {
	began, seen := time.Now(), 0
	for dirs := []string{dir}; len(dirs) > 0; {
		at := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		f, err := os.Open(at)
		if err != nil {
			continue
		}
		for {
			entries, err := f.ReadDir(256)
			for _, e := range entries {
				if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
					dirs = append(dirs, filepath.Join(at, e.Name()))
				}
			}
			seen += len(entries)
			if seen > maxUnsaved || time.Since(began) > maxUnsavedLook {
				f.Close()
				return true
			}
			if err != nil || len(entries) == 0 {
				break
			}
		}
		f.Close()
	}
	return false
}
