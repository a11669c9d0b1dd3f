package lspserver

import "go.lsp.dev/protocol"

// didClose lets a document go, and what was shown of it.
func (s *server) didClose(p *protocol.DidCloseTextDocumentParams) {
	path, ok := pathOf(string(p.TextDocument.URI))
	if !ok {
		return
	}
	s.mu.Lock()
	was := s.docs.at(path)
	s.docs = s.docs.without(path)
	s.mu.Unlock()
	if was == nil {
		return
	}
	s.closed(path)
	s.clear(was)
	s.check(was.dir)
	if isIndex(path) {
		s.check(s.placeAgain()...)
	}
}
