package agentmem

import (
	"os"
	"path/filepath"

	"mem/core/memdir"
	"mem/core/memory"
)

// OpenAt opens what a directory is one side of, by where it lies: an agent's memory in a
// checkout, or the snapshot of one. It gives nil where it is neither, or is another memory
// than the one that is shared, such as that of a subdirectory. The options' project is
// where somebody works, "" where that is not known.
func OpenAt(o memory.Options, dir string) (s *Shared, inSnapshot bool, err error) {
	place := memdir.PlaceOf(dir)
	if place != memdir.PlaceAgent && place != memdir.PlaceSnapshot {
		return nil, false, nil
	}
	agent := filepath.Base(dir)
	if folder, err := memdir.AgentFolder(agent); err != nil || folder != agent {
		return nil, false, nil
	}
	top := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	for _, from := range []string{o.Project, top} {
		if from == "" {
			continue
		}
		o.Project = from
		var failed error
		if s, failed = Open(o, agent); failed != nil {
			err = failed
			continue
		}
		side := s.Store
		if place == memdir.PlaceSnapshot {
			side = s.Snapshot
		}
		if samePlace(side, dir) {
			return s, place == memdir.PlaceSnapshot, nil
		}
		if err := s.Close(); err != nil {
			return nil, false, err
		}
	}
	return nil, false, err
}

func samePlace(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
