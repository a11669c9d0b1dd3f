package lspserver

import (
	"context"

	"go.lsp.dev/protocol"

	"mem/internal/lspserver/language"
)

func announceSymbols(_ *features, c *protocol.ServerCapabilities) {
	c.DocumentSymbolProvider = protocol.Boolean(true)
}

var symbolKinds = map[language.SymbolKind]protocol.SymbolKind{
	language.SectionSymbol: protocol.SymbolKindString, // as editors show the headings of Markdown
	language.EntrySymbol:   protocol.SymbolKindFile,
	language.KeySymbol:     protocol.SymbolKindKey,
}

// documentSymbol gives the outline of a file, as a tree or, to a client that knows
// no trees, as a list.
func (s *server) documentSymbol(ctx context.Context, docs *documents, p *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
	f, err := s.file(ctx, docs, p.TextDocument.URI)
	if f == nil {
		return protocol.DocumentSymbolSlice{}, err
	}
	symbols := language.Symbols(f.memo)
	if s.features.symbolTree {
		return protocol.DocumentSymbolSlice(f.tree(symbols)), nil
	}
	return f.list(protocol.SymbolInformationSlice{}, "", symbols), nil
}

func (f *file) tree(symbols []language.Symbol) []protocol.DocumentSymbol {
	out := make([]protocol.DocumentSymbol, 0, len(symbols))
	for _, y := range symbols {
		d := protocol.DocumentSymbol{Name: y.Name, Kind: symbolKinds[y.Kind], Range: f.rangeOf(y.Span), SelectionRange: f.rangeOf(y.Selection)}
		if y.Detail != "" {
			d.Detail = ptr(y.Detail)
		}
		if len(y.Children) > 0 {
			d.Children = f.tree(y.Children)
		}
		out = append(out, d)
	}
	return out
}

func (f *file) list(out protocol.SymbolInformationSlice, above string, symbols []language.Symbol) protocol.SymbolInformationSlice {
	for _, y := range symbols {
		i := protocol.SymbolInformation{BaseSymbolInformation: protocol.BaseSymbolInformation{Name: y.Name, Kind: symbolKinds[y.Kind]},
			Location: protocol.Location{URI: f.doc.uri, Range: f.rangeOf(y.Span)}}
		if above != "" {
			i.ContainerName = ptr(above)
		}
		out = f.list(append(out, i), y.Name, y.Children)
	}
	return out
}
