package lspserver

import (
	"context"
	"net/url"

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
	u, err := url.Parse(string(p.URI))
	if err != nil || u.Scheme != reviewScheme {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "that is the URI of no document of this server")
	}
	q := u.Query()
	x, err := s.sideOf(docs, q.Get("dir"))
	if err != nil {
		return nil, err
	}
	text, err := reviewText(ctx, x, q.Get("path"), q.Get("part"))
	if err != nil {
		return nil, err
	}
	return &protocol.TextDocumentContentResult{Text: text}, nil
}

// refreshReviews has the client ask again for documents about a directory that changed.
func (s *server) refreshReviews(dir string) {
	s.mu.Lock()
	var all []string
	for u, of := range s.reviews {
		if of == dir {
			all = append(all, u)
		}
	}
	s.mu.Unlock()
	for _, u := range all {
		s.running.Go(func() {
			err := s.client.TextDocumentContentRefresh(s.ctx, &protocol.TextDocumentContentRefreshParams{URI: uri.URI(u)})
			if err != nil { // it shows the document no more
				s.mu.Lock()
				delete(s.reviews, u)
				s.mu.Unlock()
			}
		})
	}
}
