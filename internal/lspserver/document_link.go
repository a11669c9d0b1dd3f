package lspserver

import (
	"context"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/internal/lspserver/language"
)

func announceLinks(_ *features, c *protocol.ServerCapabilities) {
	c.DocumentLinkProvider = &protocol.DocumentLinkOptions{}
}

// documentLink gives the links of a file that an editor can open. An anchor is left
// to definition: clients do not agree on what the fragment of a file's URI means.
func (s *server) documentLink(ctx context.Context, docs *documents, p *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
	out := []protocol.DocumentLink{}
	f, err := s.file(ctx, docs, p.TextDocument.URI)
	if f == nil {
		return out, err
	}
	for _, l := range language.DocumentLinks(f.snap, f.memo) {
		link := protocol.DocumentLink{Range: f.rangeOf(l.Span)}
		if l.URL != "" {
			u, err := uri.Parse(l.URL)
			if err != nil {
				continue
			}
			link.Target = &u
		} else {
			link.Target = ptr(f.uri(l.Path))
		}
		out = append(out, link)
	}
	return out, nil
}
