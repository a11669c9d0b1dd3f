package lspserver

import (
	"context"
	"path/filepath"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

func announceContent(f *features, c *protocol.ServerCapabilities) {
	if !f.content {
		return
	}
	if c.Workspace == nil {
		c.Workspace = &protocol.WorkspaceOptions{}
	}
	c.Workspace.TextDocumentContent = &protocol.TextDocumentContentOptions{Schemes: []string{reviewScheme}}
}

// textDocumentContent gives the text of a document that the server makes up, as it is now.
func (s *server) textDocumentContent(ctx context.Context, docs *documents, p *protocol.TextDocumentContentParams) (*protocol.TextDocumentContentResult, error) {
	d, ok := s.reviewOf(p.URI)
	if !ok {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "that is no document of this server, or of an earlier one: open the difference again")
	}
	x, err := s.sideOf(docs, string(uri.File(d.dir)))
	if err != nil {
		return nil, err
	}
	text, err := reviewText(ctx, x, d.path, d.part)
	if err != nil {
		return nil, err
	}
	return &protocol.TextDocumentContentResult{Text: text}, nil
}

// refreshReviews has the client ask again for documents about a directory that changed.
func (s *server) refreshReviews(dir string) {
	s.mu.Lock()
	var all []uri.URI
	for i, d := range s.reviews {
		if d.dir == dir {
			all = append(all, d.uri(i, filepath.Base(dir)))
		}
	}
	s.mu.Unlock()
	for _, u := range all {
		s.running.Go(func() {
			err := s.client.TextDocumentContentRefresh(s.ctx, &protocol.TextDocumentContentRefreshParams{URI: u})
			if err != nil && s.ctx.Err() == nil {
				s.logOnce("reviews", "the client does not ask again for the text of a document: %v", err)
			}
		})
	}
}
