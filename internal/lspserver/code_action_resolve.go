package lspserver

import (
	"context"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

func announceResolve(f *features, c *protocol.ServerCapabilities) {
	if f.actions && f.lazyEdits {
		actionOptions(c).ResolveProvider = ptr(true)
	}
}

// actionData is what an action needs to be computed again when it is taken. It
// holds nothing that was found, so that it cannot be out of date unnoticed.
type actionData struct {
	Path  string            `json:"path"` // of the document
	Hash  string            `json:"hash"` // of its text
	All   bool              `json:"all,omitempty"`
	Rule  string            `json:"rule,omitempty"`
	Span  text.Span         `json:"span,omitzero"`
	Offer diagnostics.Offer `json:"offer,omitzero"`
}

// resolveAction computes the edit of an action that is taken, from what is open
// and on disk now.
func (s *server) resolveAction(ctx context.Context, docs *documents, action *protocol.CodeAction) (*protocol.CodeAction, error) {
	if len(action.Data) == 0 {
		return action, nil
	}
	var data actionData
	if err := protocol.Unmarshal(action.Data, &data); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the data of the action is none of this server's")
	}
	doc := docs.at(data.Path)
	d := s.directory(doc)
	if d == nil || doc.lost || text.Hash(doc.text.String()) != data.Hash {
		return nil, modified("%s has changed since this was offered", shown(data.Path))
	}
	c, err := d.find(ctx, docs.in(d.path), s.isLate(data.Rule))
	if err != nil {
		return nil, err
	}
	made, err := s.make(ctx, c, doc, data)
	if err != nil {
		return nil, err
	}
	if made.Empty() {
		return nil, modified("there is nothing left to mend")
	}
	if err := s.guarded(made); err != nil {
		return nil, err
	}
	if action.Edit, err = s.workspaceEdit(docs, d.path, made); err != nil {
		return nil, err
	}
	return action, nil
}

func (s *server) make(ctx context.Context, c checked, doc *document, data actionData) (change.Change, error) {
	if data.All {
		return s.fixAll(ctx, c, doc)
	}
	for _, f := range c.found[doc.rel] {
		if f.Rule == data.Rule && f.Span == data.Span && slices.Contains(f.Offers, data.Offer) {
			return c.ws.Engine.Make(ctx, c.snap, f, data.Offer)
		}
	}
	return change.Change{}, modified("what this was offered for is not found any more")
}

func (s *server) isLate(rule string) bool {
	return slices.ContainsFunc(s.rules, func(r diagnostics.Rule) bool { return r.ID == rule && r.Late })
}
