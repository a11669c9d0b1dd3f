package lspserver

import (
	"context"

	"go.lsp.dev/protocol"

	"mem/internal/lspserver/language"
)

func announceDefinition(_ *features, c *protocol.ServerCapabilities) {
	c.DefinitionProvider = protocol.Boolean(true)
}

// definition gives where what stands at a place leads.
func (s *server) definition(ctx context.Context, docs *documents, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	f, err := s.file(ctx, docs, p.TextDocument.URI)
	if f == nil {
		return protocol.LocationSlice{}, err
	}
	to, from := language.Definition(f.snap, f.memo, f.offset(p.Position))
	if !s.features.linkTargets {
		out := protocol.LocationSlice{}
		for _, l := range to {
			out = append(out, f.location(l))
		}
		return out, nil
	}
	out := protocol.DefinitionLinkSlice{}
	for _, l := range to {
		at := f.location(l)
		link := protocol.DefinitionLink{TargetURI: at.URI, TargetRange: at.Range, TargetSelectionRange: at.Range}
		if from.Len() > 0 {
			link.OriginSelectionRange = ptr(f.rangeOf(from))
		}
		out = append(out, link)
	}
	return out, nil
}
