package lspserver

import (
	"path/filepath"

	"go.lsp.dev/protocol"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
)

func isIndex(path string) bool  { return filepath.Base(path) == memfile.IndexName }
func isConfig(path string) bool { return filepath.Base(path) == diagnostics.ConfigName }

// shown gives a path for messages.
func shown(path string) string { return memdir.ShownName(path) }

// didChangeWatchedFiles has the directories checked in which files changed. Every
// check looks at the disk, so the event itself says only that it is time.
func (s *server) didChangeWatchedFiles(p *protocol.DidChangeWatchedFilesParams) {
	var paths []string
	for _, e := range p.Changes {
		if path, ok := pathOf(string(e.URI)); ok {
			paths = append(paths, path)
		}
	}
	s.changedOnDisk(paths)
}

// changedOnDisk has what may be affected by changed files or folders checked.
func (s *server) changedOnDisk(paths []string) {
	dirs := map[string]bool{}
	all := false
	for _, path := range paths {
		if isIndex(path) || !isOurs(path) { // a folder that went takes its index along
			all = true
		}
		if isConfig(path) { // it may hold for several directories
			all = true
		}
		if dir, ok := memdir.Containing(path); ok {
			dirs[dir] = true
			for _, other := range s.sharers(dir) {
				dirs[other] = true
			}
		}
	}
	if all {
		s.check(s.placeAgain()...)
		s.checkAll()
		return
	}
	for dir := range dirs {
		s.mu.Lock()
		open := s.dirs[dir] != nil
		s.mu.Unlock()
		if open {
			s.check(dir)
		}
	}
}
