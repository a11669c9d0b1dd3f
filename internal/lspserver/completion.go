package lspserver

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"mem/internal/lspserver/language"
)

// triggers are the characters after which something can be completed: of a link,
// of a [[name]], of the value of a key.
var triggers = []string{"(", "[", ":", " ", "/"}

func announceCompletion(_ *features, c *protocol.ServerCapabilities) {
	c.CompletionProvider = &protocol.CompletionOptions{TriggerCharacters: triggers}
}

var itemKinds = map[language.ItemKind]protocol.CompletionItemKind{
	language.TypeValue:  protocol.CompletionItemKindEnumMember,
	language.KeyName:    protocol.CompletionItemKindProperty,
	language.LinkTarget: protocol.CompletionItemKindFile,
	language.TopicName:  protocol.CompletionItemKindReference,
	language.RuleID:     protocol.CompletionItemKindValue,
}

// completion gives what could be written at a place.
func (s *server) completion(ctx context.Context, docs *documents, p *protocol.CompletionParams) (protocol.CompletionResult, error) {
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	f, err := s.file(ctx, docs, p.TextDocument.URI)
	if f == nil {
		return list, err
	}
	items, incomplete := language.Complete(f.snap, f.memo, f.offset(p.Position))
	list.IsIncomplete = incomplete
	for i, it := range items {
		item := protocol.CompletionItem{
			Label: it.Label,
			Kind:  itemKinds[it.Kind],
			// Clients sort by this text: the best first, as they come.
			SortText: protocol.NewOptional(fmt.Sprintf("%05d", i)),
			TextEdit: &protocol.TextEdit{Range: f.rangeOf(it.Replace), NewText: it.Insert},
		}
		if it.Insert != it.Label {
			item.FilterText = protocol.NewOptional(it.Label) // what was typed is part of the label
		}
		if it.Detail != "" {
			item.Detail = protocol.NewOptional(it.Detail)
		}
		if it.Documentation != "" {
			item.Documentation = protocol.String(it.Documentation)
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}
