package lspserver

import (
	"strings"

	"go.lsp.dev/protocol"

	"mem/core/text"
)

// changes are the parameters of didChange. The protocol package's own take a change
// whose range it cannot read for one without a range: as the whole new text.
type changes struct {
	TextDocument   protocol.VersionedTextDocumentIdentifier `json:"textDocument"`
	ContentChanges []contentChange                          `json:"contentChanges"`
}

type contentChange struct {
	Range *protocol.Range `json:"range"` // nil for the whole text
	Text  *string         `json:"text"`
}

// didChange makes the edits of the client in our text.
func (s *server) didChange(p *changes) {
	path, ok := pathOf(string(p.TextDocument.URI))
	if !ok {
		return
	}
	was := s.documents().at(path)
	if was == nil {
		s.logf("a change of %s is skipped: the file is not open", shown(path))
		return
	}
	doc := *was
	doc.version = p.TextDocument.Version
	if t, ok := s.edited(&doc, p.ContentChanges); ok {
		doc.text, doc.modTime, doc.lost = t, s.now(), false
	} else {
		doc.lost = true
	}
	s.mu.Lock()
	s.docs = s.docs.with(&doc)
	s.mu.Unlock()
	s.check(doc.dir)
	s.showConfig(&doc)
}

// edited gives the text after the changes, false where it cannot be known.
func (s *server) edited(doc *document, all []contentChange) (*text.Text, bool) {
	t, known := doc.text, !doc.lost
	for _, c := range all {
		switch {
		case c.Text == nil:
			known = false
		case c.Range == nil:
			t, known = text.New(strings.Clone(*c.Text)), true
		case known:
			span, err := spanOf(t, *c.Range, s.features.encoding)
			if err != nil {
				// Clients write a line past the last one for "to the end". Whatever
				// else they mean, the nearest place is the best guess.
				s.logOnce("place "+doc.path, "an edit of %s, version %d, is made at the nearest place: %v", shown(doc.path), doc.version, err)
			}
			src := t.String()
			t = text.New(src[:span.Start] + *c.Text + src[span.End:])
		}
	}
	return t, known
}

// loseText marks a document whose text is not known any more.
func (s *server) loseText(uri string) {
	path, ok := pathOf(uri)
	if !ok {
		return
	}
	s.mu.Lock()
	was := s.docs.at(path)
	if was == nil {
		s.mu.Unlock()
		return
	}
	doc := *was
	doc.lost = true
	s.docs = s.docs.with(&doc)
	s.mu.Unlock()
	s.check(doc.dir)
}
