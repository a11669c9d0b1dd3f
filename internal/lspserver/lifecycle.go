package lspserver

import (
	"context"

	"go.lsp.dev/protocol"
)

// initialized asks the client to watch files, where it can be asked.
func (s *server) initialized(*none) { s.watchFolders() }

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
