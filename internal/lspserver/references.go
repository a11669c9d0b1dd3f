package lspserver

import (
	"context"

	"go.lsp.dev/protocol"

	"mem/internal/lspserver/language"
)

func announceReferences(_ *features, c *protocol.ServerCapabilities) {
	c.ReferencesProvider = protocol.Boolean(true)
}

// references gives every link to what stands at a place.
func (s *server) references(ctx context.Context, docs *documents, p *protocol.ReferenceParams) ([]protocol.Location, error) {
	out := []protocol.Location{}
	f, err := s.file(ctx, docs, p.TextDocument.URI)
	if f == nil {
		return out, err
	}
	for _, l := range language.References(f.snap, f.memo, f.offset(p.Position), p.Context.IncludeDeclaration) {
		out = append(out, f.location(l))
	}
	return out, nil
}
