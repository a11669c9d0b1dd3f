package lspserver

import (
	"errors"
	"fmt"
	"path/filepath"
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
	t, err := s.edited(was, p)
	if err == nil {
		doc.text, doc.modTime, doc.lost = t, s.changedAt(path, t), false
	} else {
		doc.lost = true
	}
	s.mu.Lock()
	s.docs = s.docs.with(&doc)
	s.mu.Unlock()
	if doc.lost && !was.lost {
		s.tellLost(&doc, err)
	}
	s.checkTyped(doc.dir)
	s.showConfig(&doc)
}

// Why the text of a document is not known after a change.
var (
	errUnreadable = errors.New("a part of it is no edit")
	errNotKnown   = errors.New("the text before it is not known")
)

// edited gives the text after the changes, or why it cannot be known. A whole text
// is what the editor has, whatever came before it.
func (s *server) edited(doc *document, p *changes) (*text.Text, error) {
	t := doc.text
	var err error
	switch {
	case doc.lost:
		err = errNotKnown
	case p.TextDocument.Version <= doc.version:
		// One was lost, or came twice, or is late: what it counts in is not what is here.
		err = fmt.Errorf("it follows version %d", doc.version)
	}
	for _, c := range p.ContentChanges {
		switch {
		case c.Text == nil:
			err = errUnreadable
		case c.Range == nil:
			t, err = text.New(strings.Clone(*c.Text)), nil
		case err == nil:
			var span text.Span
			if span, err = s.meant(doc, t, *c.Range); err == nil {
				src := t.String()
				t = text.New(src[:span.Start] + *c.Text + src[span.End:])
			}
		}
	}
	return t, err
}

// meant gives the span of an edit. Past the end of a line or of the document its
// nearest end is meant: clients write a line past the last one for "to the end". Of
// any other range that cannot be, nobody knows what the editor made of it.
func (s *server) meant(doc *document, t *text.Text, r protocol.Range) (text.Span, error) {
	counts := s.reading()
	span, err := editedSpan(t, r, counts)
	if err == nil || !errors.Is(err, text.ErrPastLastLine) {
		return span, err
	}
	if _, err := counts.of(t).Offset(text.Position{Line: max(placeOf(r.Start).Line-1, 0)}, counts.enc); err != nil {
		return span, err // it starts further on than any end
	}
	if r.End.Line < r.Start.Line {
		return span, text.ErrBackwards
	}
	s.logOnce("place "+doc.path, "an edit of %s, version %d, is made at the nearest place: %v", shown(doc.path), doc.version, err)
	return span, nil
}

// tellLost says that nothing is done for a document any more, and what helps.
func (s *server) tellLost(doc *document, why error) {
	s.logf("the text of %s is not known after version %d: %v", shown(doc.path), doc.version, why)
	if doc.dir != "" {
		s.message(protocol.MessageTypeWarning, fmt.Sprintf(
			"%s: the editor sent a change that mem cannot make (%v), so nothing is found or mended in it for now. Close the file and open it again.", shown(filepath.Base(doc.path)), why))
	}
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
	if !was.lost {
		s.tellLost(&doc, errUnreadable)
	}
	s.check(doc.dir)
}
