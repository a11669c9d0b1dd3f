package lspserver

import (
	"context"

	"go.lsp.dev/protocol"

	"mem/internal/lspserver/language"
)

func announceHover(_ *features, c *protocol.ServerCapabilities) {
	c.HoverProvider = protocol.Boolean(true)
}

// hover says what stands at a place.
func (s *server) hover(ctx context.Context, docs *documents, p *protocol.HoverParams) (*protocol.Hover, error) {
	f, err := s.file(ctx, docs, p.TextDocument.URI)
	if f == nil {
		return nil, err
	}
	tip, ok := language.Hover(f.snap, f.memo, f.offset(p.Position))
	if team, shared := s.teamTip(ctx, f, f.offset(p.Position)); shared && ok {
		tip.Markdown += "\n\n" + team.Markdown
	} else if shared {
		tip, ok = team, true
	}
	if !ok {
		return nil, nil
	}
	kind := protocol.MarkupKindPlainText
	if s.features.markdown {
		kind = protocol.MarkupKindMarkdown
	}
	return &protocol.Hover{Contents: &protocol.MarkupContent{Kind: kind, Value: tip.Markdown}, Range: ptr(f.rangeOf(tip.Span))}, nil
}
