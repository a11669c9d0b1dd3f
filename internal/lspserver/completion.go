package lspserver

import (
	"context"

	"go.lsp.dev/protocol"

	"mem/internal/lspserver/language"
)

// triggers are the characters after which something can be completed: of a link,
// of a [[name]], of the value of a key.
var triggers = []string{"(", "[", ":", " ", "/"}

func announceCompletion(_ *features, c *protocol.ServerCapabilities) {
	completionOptions(c).TriggerCharacters = triggers
}

func completionOptions(c *protocol.ServerCapabilities) *protocol.CompletionOptions {
	if c.CompletionProvider == nil {
		c.CompletionProvider = &protocol.CompletionOptions{}
	}
	return c.CompletionProvider
}

var itemKinds = map[language.ItemKind]protocol.CompletionItemKind{
	language.TypeValue:  protocol.CompletionItemKindEnumMember,
	language.KeyName:    protocol.CompletionItemKindProperty,
	language.LinkTarget: protocol.CompletionItemKindFile,
	language.TopicName:  protocol.CompletionItemKindReference,
	language.RuleID:     protocol.CompletionItemKindValue,
}

// completion gives what could be written at a place. What all items share is said
// once, and what stands beside one item when that is looked at, to clients that can
// take it so: of 200 topics that is a quarter of the bytes.
func (s *server) completion(ctx context.Context, docs *documents, p *protocol.CompletionParams) (protocol.CompletionResult, error) {
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	f, err := s.file(ctx, docs, p.TextDocument.URI)
	if f == nil {
		return list, err
	}
	items, incomplete := language.Complete(f.snap, f.memo, f.offset(p.Position))
	list.IsIncomplete = incomplete
	if len(items) == 0 || !s.reading().sure(f.doc.text, items[0].Replace) {
		return list, nil // what is written at a place that nobody is sure of could hit another
	}
	shared := f.rangeOf(items[0].Replace)
	if s.features.sharedRange {
		list.ItemDefaults = &protocol.CompletionItemDefaults{EditRange: &shared}
	}
	lazy := s.features.lazyItems && s.features.sharedRange
	if lazy {
		if list.ItemDefaults.Data, err = protocol.Marshal(p.TextDocument.URI); err != nil {
			return nil, err
		}
	}
	list.Items = make([]protocol.CompletionItem, 0, len(items))
	for i, it := range items {
		item := protocol.CompletionItem{
			Label: it.Label,
			Kind:  itemKinds[it.Kind],
			// Clients sort by this text: the best first, as they come.
			SortText: protocol.NewOptional(sortText(i)),
		}
		switch {
		case !s.features.sharedRange || it.Replace != items[0].Replace:
			item.TextEdit = &protocol.TextEdit{Range: f.rangeOf(it.Replace), NewText: it.Insert}
		case it.Insert != it.Label:
			item.TextEditText = protocol.NewOptional(it.Insert)
		}
		if it.Insert != it.Label || it.Filter != it.Label {
			item.FilterText = protocol.NewOptional(it.Filter) // what was typed is part of it
		}
		if it.Detail != "" {
			item.Detail = protocol.NewOptional(it.Detail)
		}
		if it.Documentation != "" && !(lazy && ofTopic(it.Kind)) {
			item.Documentation = protocol.String(it.Documentation)
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// sortText writes the place of one of at most a thousand items with three digits.
func sortText(i int) string {
	return string([]byte{byte('0' + i/100), byte('0' + i/10%10), byte('0' + i%10)})
}

// ofTopic reports whether items of a kind name topics, of which there may be many.
func ofTopic(k language.ItemKind) bool {
	return k == language.LinkTarget || k == language.TopicName
}
