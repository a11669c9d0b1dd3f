package lspserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"mem/diagnostics"
)

// publish shows what is wrong with a document, unless it has changed meanwhile or
// the same is shown already. Who calls it flushes the outbox then.
func (d *directory) publish(docs *documents, doc *document, found []diagnostics.Finding) {
	raw, hash, err := d.s.encoded(doc, d.s.diagnosticsOf(docs, doc, found))
	if err != nil {
		d.s.logf("diagnostics of %s: %v", shown(doc.path), err)
		return
	}
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs.at(doc.path) != doc || s.ctx.Err() != nil {
		return
	}
	d.mu.Lock()
	was, ok := d.given[doc.path]
	d.given[doc.path] = given{doc, hash}
	d.mu.Unlock()
	if ok && was.hash == hash {
		return
	}
	s.send(s.outbox.add, doc, raw)
}

// send hands diagnostics to the client, in place of earlier ones that it was not
// handed yet, by one of the outbox's ways to take something. s.mu is held, so that what
// is shown and what is taken back keep their order.
func (s *server) send(put func(string, func(context.Context) error), doc *document, raw []byte) {
	put("diagnostics "+doc.path, func(ctx context.Context) error {
		return s.stream.notify(ctx, protocol.MethodTextDocumentPublishDiagnostics, raw)
	})
}

// clear takes back what is shown of a document that is none of a memory any more.
func (s *server) clear(doc *document) {
	if doc.dir == "" && !isConfig(doc.path) || s.features.pull {
		return
	}
	raw, _, err := s.encoded(&document{uri: doc.uri}, nil)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.dirs[doc.dir]; d != nil {
		d.mu.Lock()
		delete(d.given, doc.path)
		delete(d.late, doc.rel)
		d.mu.Unlock()
	}
	s.send(s.outbox.put, doc, raw)
}

// encoded gives the parameters of a publication, and a name for them.
func (s *server) encoded(doc *document, items []protocol.Diagnostic) (raw []byte, hash string, err error) {
	p := protocol.PublishDiagnosticsParams{URI: doc.uri, Diagnostics: items}
	if items == nil {
		p.Diagnostics = []protocol.Diagnostic{}
	}
	if doc.text != nil {
		p.Version = protocol.NewOptional(doc.version)
	}
	raw, err = protocol.Marshal(&p)
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:12]), err
}

// notify writes a notification whose parameters are encoded already.
func (s *stream) notify(ctx context.Context, method string, raw []byte) error {
	_, err := s.Write(ctx, jsonrpc2.NewNotification(method, raw))
	return err
}

// message shows the user something.
func (s *server) message(kind protocol.MessageType, text string) {
	s.outbox.put("", func(ctx context.Context) error {
		return s.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: kind, Message: text})
	})
}
