package lspserver

import (
	"context"

	"go.lsp.dev/protocol"

	"mem/diagnostics"
)

// announcePull announces that diagnostics can be asked for, to clients that ask:
// a client that is also sent them would show each twice.
func announcePull(f *features, c *protocol.ServerCapabilities) {
	if f.pull {
		c.DiagnosticProvider = &protocol.DiagnosticOptions{Identifier: ptr(source), InterFileDependencies: true}
	}
}

// diagnostic gives what is wrong with a document to a client that asks. It is
// given without the late rules where the client can be told to ask again.
func (s *server) diagnostic(ctx context.Context, docs *documents, p *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
	doc := docs.find(p.TextDocument.URI)
	items := []protocol.Diagnostic{}
	d := s.directory(doc)
	switch {
	case doc == nil || doc.lost:
	case d != nil:
		c, err := d.find(ctx, docs.in(d.path), fresh, !s.features.refresh)
		if err != nil {
			return nil, err
		}
		items = s.diagnosticsOf(docs, doc, c.found[doc.rel])
	case isConfig(doc.path):
		items = s.diagnosticsOf(docs, doc, s.configFindings(doc))
	}
	id := ""
	if doc != nil {
		// The version is no part of the name: the same findings at the same places
		// are the same, whatever was typed below them.
		var err error
		if _, id, err = s.encoded(&document{uri: doc.uri}, items); err != nil {
			return nil, err
		}
	}
	if d != nil {
		d.mu.Lock()
		d.given[doc.path] = given{doc, id}
		d.mu.Unlock()
	}
	if p.PreviousResultID != nil && id != "" && *p.PreviousResultID == id {
		return &protocol.RelatedUnchangedDocumentDiagnosticReport{UnchangedDocumentDiagnosticReport: protocol.UnchangedDocumentDiagnosticReport{
			Kind: string(protocol.DocumentDiagnosticReportKindUnchanged), ResultID: id}}, nil
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: protocol.FullDocumentDiagnosticReport{
		Kind: string(protocol.DocumentDiagnosticReportKindFull), ResultID: ptr(id), Items: items}}, nil
}

// askAgain tells a client that asks for diagnostics that those it has are out of
// date, where something else than its own edit made them so.
func (d *directory) askAgain(docs *documents, open []*document, found map[string][]diagnostics.Finding) {
	s := d.s
	if !s.features.refresh {
		return
	}
	outdated := false
	for _, doc := range open {
		d.mu.Lock()
		was, ok := d.given[doc.path]
		d.mu.Unlock()
		if !ok || was.doc != doc {
			continue // it will ask by itself
		}
		_, id, err := s.encoded(&document{uri: doc.uri}, s.diagnosticsOf(docs, doc, found[doc.rel]))
		if err == nil && id != was.hash {
			outdated = true
		}
	}
	if outdated && s.asking.CompareAndSwap(false, true) {
		s.running.Go(func() {
			err := s.client.DiagnosticRefresh(s.ctx)
			s.asking.Store(false)
			if err != nil && s.ctx.Err() == nil {
				s.logOnce("refresh", "the client does not ask for diagnostics again: %v", err)
			}
		})
	}
}

// configFindings gives what is wrong with a configuration that lies in no memory
// directory, such as the one at the root of a project.
func (s *server) configFindings(doc *document) []diagnostics.Finding {
	c := diagnostics.ParseConfig(doc.path, doc.text.String(), s.rules, diagnostics.DefaultConfig())
	severity := diagnostics.Warning
	for _, r := range s.rules {
		if r.ID == configurationRule {
			severity = r.Severity
		}
	}
	var out []diagnostics.Finding
	for _, p := range c.Problems {
		f := diagnostics.Finding{Rule: configurationRule, Severity: severity, Path: doc.path, Span: p.Span, Message: p.Message, Text: doc.text}
		out = append(out, f)
	}
	return out
}

const configurationRule = "configuration"

// showConfig shows what is wrong with a configuration in no memory directory.
func (s *server) showConfig(doc *document) {
	if doc.dir != "" || !isConfig(doc.path) || s.features.pull || doc.lost {
		return
	}
	docs := s.documents()
	raw, _, err := s.encoded(doc, s.diagnosticsOf(docs, doc, s.configFindings(doc)))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(s.outbox.put, doc, raw)
}
