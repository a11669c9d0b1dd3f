package work

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mem/core/fork/stage"
	"mem/core/memfile"
)

// maxBlank is the size up to which a file is looked at for being empty, in bytes.
const maxBlank = 64

// dropEmptied removes the topics from a stage that the agent left without any text. What
// may not be removed stays as it is, and is refused with the reason like any other change.
func dropEmptied(s *stage.Stage) error {
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, rel := range s.Paths() {
		base, _ := s.Base(rel)
		if rel == memfile.IndexName || strings.TrimSpace(base) == "" {
			continue
		}
		name := filepath.FromSlash(rel)
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || info.Size() > maxBlank {
			continue
		}
		b, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(b)) != "" || s.MayRemove(rel) != nil {
			continue
		}
		if err := s.Remove(rel); err != nil {
			return err
		}
	}
	return nil
}
