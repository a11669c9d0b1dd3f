package lspserver

import (
	"context"

	"go.lsp.dev/protocol"
)

// watchers are the files whose changes matter: every file of a memory, and the
// configuration.
var watchers = []protocol.Pattern{"**/*.md", "**/.mem.yaml", "**/agent-memory-snapshots/*/snapshot.json"}

// initialized asks the client to watch files, where it can be asked.
func (s *server) initialized(*none) {
	if !s.features.watch {
		return
	}
	o := protocol.DidChangeWatchedFilesRegistrationOptions{}
	for _, w := range watchers {
		o.Watchers = append(o.Watchers, protocol.FileSystemWatcher{GlobPattern: w})
	}
	options, err := protocol.Marshal(&o)
	if err != nil {
		s.logf("watching files: %v", err)
		return
	}
	s.running.Go(func() { // the answer is read by whoever calls this
		err := s.client.RegisterCapability(s.ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{
			ID: "watched-files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: options,
		}}})
		if err != nil && s.ctx.Err() == nil {
			s.logf("the client does not watch files: %v", err)
		}
	})
}

// none stands for parameters that do not matter, whatever they are.
type none struct{}

// shutdown prepares for the end: no request is served after it.
func (s *server) shutdown(context.Context, *documents, *none) (any, error) {
	s.phase.Store(shutDown)
	s.settleAll()
	return nil, nil
}

// leave ends the connection.
func (s *server) leave(*none) {
	s.stream.noMore.Store(true)
	s.exitOnce.Do(func() { close(s.exit) })
}

// setTrace takes note of nothing: the server sends no traces.
func (s *server) setTrace(*protocol.SetTraceParams) {}
