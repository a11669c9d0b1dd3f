package lspserver

import (
	"strings"

	"go.lsp.dev/uri"

	"mem/core/text"
)

// openParams are the parameters of didOpen. The protocol package's own rewrite a URI to
// its one canonical spelling, and a client may know its file by the spelling that it
// sent alone ("file:///C:/x" is made "file:///c%3A/x").
type openParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int32  `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

// didOpen takes a document in. One that is open already is taken as it is now.
func (s *server) didOpen(p *openParams) {
	path, ok := pathOf(p.TextDocument.URI)
	if !ok {
		return // a scheme that has no files
	}
	t := text.New(strings.Clone(p.TextDocument.Text))
	doc := document{uri: uri.URI(strings.Clone(p.TextDocument.URI)), path: path, version: p.TextDocument.Version, text: t, modTime: s.opened(path, t)}
	doc.idle = isIndex(path) && !s.claims(path)
	s.replace(doc)
}

// replace puts a document in the place of the one with its path, and has what it
// affects checked.
func (s *server) replace(doc document) {
	s.mu.Lock()
	was := s.docs.at(doc.path)
	now := s.docs.placed(doc)
	s.docs = s.docs.with(now)
	s.mu.Unlock()
	if was != nil && was.dir != now.dir {
		s.clear(was)
		s.check(was.dir)
	}
	s.check(now.dir)
	s.showConfig(now)
	if was == nil && isIndex(doc.path) {
		s.check(s.placeAgain()...)
	}
}
