package stdio

import (
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// The streams of subscriptions/listen (2026-07-28): each has a filter of its own, each message on it carries the id
// of the request that opened it, and the first one is the acknowledgement. mcp-go keeps one filter for a session and
// broadcasts one untagged message, so the copies are made here.

// SetSubscriptionFilter is called by mcp-go before it acknowledges a stream and, with an empty filter, at its end.
func (c *call) SetSubscriptionFilter(filter mcp.SubscriptionFilter) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if filter.IsEmpty() {
		c.filter = nil
		delete(c.session.listens, c)
		return
	}
	c.filter = &filter
}

// SubscribeToResource, for a stream, is part of its filter already.
func (c *call) SubscribeToResource(uri string) {
	if !c.listens() {
		c.session.SubscribeToResource(uri)
	}
}

// UnsubscribeFromResource, for a stream, happens with its filter: another one may still want the resource.
func (c *call) UnsubscribeFromResource(uri string) {
	if !c.listens() {
		c.session.UnsubscribeFromResource(uri)
	}
}

// openStream starts delivery, after the acknowledgement has been queued.
func (s *session) openStream(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.filter == nil {
		return
	}
	if s.listens == nil {
		s.listens = make(map[*call]mcp.SubscriptionFilter)
	}
	s.listens[c] = *c.filter
}

// SetSubscriptionFilter on the session itself has no stream to belong to.
func (s *session) SetSubscriptionFilter(mcp.SubscriptionFilter) {}

// SubscriptionFilter is what mcp-go filters its broadcasts by: all streams together. A client that did the handshake
// gets everything, as its era has it.
func (s *session) SubscriptionFilter() (union mcp.SubscriptionFilter, active bool) {
	if s.initialized.Load() {
		return union, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.listens {
		union.ToolsListChanged = union.ToolsListChanged || f.ToolsListChanged
		union.PromptsListChanged = union.PromptsListChanged || f.PromptsListChanged
		union.ResourcesListChanged = union.ResourcesListChanged || f.ResourcesListChanged
		union.ResourceSubscriptions = append(union.ResourceSubscriptions, f.ResourceSubscriptions...)
	}
	return union, len(s.listens) > 0
}

// put queues what was sent to the session: as it is for a client of the handshake, and a tagged copy for every stream
// that asked for it.
func (s *session) put(note mcp.JSONRPCNotification) {
	wants, listed := streamFilter(note)
	if s.initialized.Load() || !listed {
		s.queue(note, nil)
	}
	if !listed {
		return
	}
	s.mu.Lock()
	var streams []*call
	for c, f := range s.listens {
		if wants(f) {
			streams = append(streams, c)
		}
	}
	s.mu.Unlock()
	for _, c := range streams {
		tagged := note
		tagged.Params.Meta = maps.Clone(note.Params.Meta)
		if tagged.Params.Meta == nil {
			tagged.Params.Meta = make(map[string]any, 1)
		}
		tagged.Params.Meta[mcp.MetaKeySubscriptionID] = c.id
		s.queue(tagged, c)
	}
}

func (s *session) queue(note mcp.JSONRPCNotification, of *call) {
	line, err := encodeNote(note)
	if err != nil {
		s.conn.opts.Logger.Error("a notification cannot be encoded and was dropped", "method", note.Method, "error", err)
		return
	}
	s.conn.out.push(frame{line: line, of: of})
}

// streamFilter reports whether streams can ask for note, and which do.
func streamFilter(note mcp.JSONRPCNotification) (wants func(mcp.SubscriptionFilter) bool, listed bool) {
	switch note.Method {
	case mcp.MethodNotificationToolsListChanged:
		return func(f mcp.SubscriptionFilter) bool { return f.ToolsListChanged }, true
	case mcp.MethodNotificationPromptsListChanged:
		return func(f mcp.SubscriptionFilter) bool { return f.PromptsListChanged }, true
	case mcp.MethodNotificationResourcesListChanged:
		return func(f mcp.SubscriptionFilter) bool { return f.ResourcesListChanged }, true
	case mcp.MethodNotificationResourceUpdated:
		uri, _ := note.Params.AdditionalFields["uri"].(string)
		return func(f mcp.SubscriptionFilter) bool { return slices.Contains(f.ResourceSubscriptions, uri) }, true
	}
	return nil, false
}
