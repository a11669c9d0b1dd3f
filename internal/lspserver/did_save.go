package lspserver

import "go.lsp.dev/protocol"

// didSave takes note that the file has the document's text now.
func (s *server) didSave(p *protocol.DidSaveTextDocumentParams) {
	doc := s.documents().find(p.TextDocument.URI)
	if doc == nil {
		return
	}
	s.saved(doc)
	s.settled(doc)
	if isIndex(doc.path) {
		s.check(s.placeAgain()...)
	}
	s.check(doc.dir)
}
