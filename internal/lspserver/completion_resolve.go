package lspserver

import (
	"context"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/internal/lspserver/language"
)

func announceCompletionResolve(f *features, c *protocol.ServerCapabilities) {
	if f.lazyItems && f.sharedRange {
		completionOptions(c).ResolveProvider = ptr(true)
	}
}

// resolveCompletion adds to an item what is said of its topic, which a list leaves
// out. An item whose topic is gone is given back as it is.
func (s *server) resolveCompletion(ctx context.Context, docs *documents, item *protocol.CompletionItem) (*protocol.CompletionItem, error) {
	if len(item.Data) == 0 || item.Documentation != nil {
		return item, nil
	}
	var of uri.URI
	if err := protocol.Unmarshal(item.Data, &of); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the data of the item is none of this server's")
	}
	f, err := s.file(ctx, docs, of)
	if f == nil {
		return item, err
	}
	for kind, k := range itemKinds {
		if k == item.Kind && ofTopic(kind) {
			if said := language.SaidOf(f.snap, f.memo, kind, item.Label); said != "" {
				item.Documentation = protocol.String(said)
			}
		}
	}
	return item, nil
}
