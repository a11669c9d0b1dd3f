package lspserver

import (
	"context"
	"fmt"
	"path/filepath"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// watchers are the files whose changes matter: every file of a memory, and the
// configuration.
var watchers = []protocol.Pattern{"**/*.md", "**/.mem.yaml", "**/agent-memory-snapshots/*/snapshot.json"}

// watchFolders asks the client to watch the folders that are open in it.
func (s *server) watchFolders() {
	if !s.features.watch {
		return
	}
	var all []protocol.FileSystemWatcher
	for _, w := range watchers {
		all = append(all, protocol.FileSystemWatcher{GlobPattern: w})
	}
	s.running.Go(func() { // the answer is read by whoever calls this
		if err := s.watch("watched-files", all); err != nil && s.ctx.Err() == nil {
			s.logf("the client does not watch files: %v", err)
		}
	})
}

// watchDirectory asks the client to watch a memory directory that lies in none of its
// folders, until ctx ends. Where it cannot be asked, the directory is looked at when
// something happens in the editor.
func (s *server) watchDirectory(ctx context.Context, dir string) {
	if !s.features.watch || !s.features.watchAnywhere || s.inFolders(dir) {
		return
	}
	var all []protocol.FileSystemWatcher
	for _, w := range watchers[:2] { // what lies in one memory directory
		all = append(all, protocol.FileSystemWatcher{GlobPattern: &protocol.RelativePattern{BaseURI: protocol.URI(uri.File(dir)), Pattern: w}})
	}
	id := fmt.Sprintf("watched-files-%d", s.watched.Add(1)) // one that was let go of may not be gone yet
	s.running.Go(func() {
		if err := s.watch(id, all); err != nil {
			if s.ctx.Err() == nil {
				s.logf("the client does not watch %s: %v", shown(dir), err)
			}
			return
		}
		<-ctx.Done()
		if s.ctx.Err() != nil {
			return
		}
		err := s.client.UnregisterCapability(s.ctx, &protocol.UnregistrationParams{Unregisterations: []protocol.Unregistration{
			{ID: id, Method: protocol.MethodWorkspaceDidChangeWatchedFiles},
		}})
		if err != nil && s.ctx.Err() == nil {
			s.logf("the client still watches %s: %v", shown(dir), err)
		}
	})
}

func (s *server) watch(id string, all []protocol.FileSystemWatcher) error {
	options, err := protocol.Marshal(&protocol.DidChangeWatchedFilesRegistrationOptions{Watchers: all})
	if err != nil {
		return err
	}
	return s.client.RegisterCapability(s.ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{
		{ID: id, Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: options},
	}})
}

// inFolders reports whether a path lies in a folder of the workspace.
func (s *server) inFolders(path string) bool {
	for _, folder := range s.features.folders {
		if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
