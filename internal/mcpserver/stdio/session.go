package stdio

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// session is the connection as mcp-go sees it: what initialize negotiated, and where broadcasts go. Handlers of calls
// see a *call, which embeds it and answers for the one request.
type session struct {
	id    string
	conn  *conn
	notes *notifier

	initialized atomic.Bool // by the handshake

	mu      sync.Mutex
	level   mcp.LoggingLevel
	info    mcp.Implementation
	caps    mcp.ClientCapabilities
	version string
	subs    map[string]bool // resources/subscribe, handshake era
	listens map[*call]mcp.SubscriptionFilter
}

var (
	_ server.SessionWithLogging               = (*session)(nil)
	_ server.SessionWithClientInfo            = (*session)(nil)
	_ server.SessionWithProtocolVersion       = (*session)(nil)
	_ server.SessionWithResourceSubscriptions = (*session)(nil)
	_ server.SessionWithSubscriptionFilter    = (*session)(nil)
	_ server.SessionWithElicitation           = (*session)(nil)
	_ server.SessionWithRoots                 = (*session)(nil)
	_ server.SessionWithSampling              = (*session)(nil)
	_ server.SessionWithSubscriptionFilter    = (*call)(nil)
	_ server.SessionWithElicitation           = (*call)(nil)
	_ server.SessionWithSampling              = (*call)(nil)
	_ server.SessionWithRoots                 = (*call)(nil)
	_ server.SessionWithClientInfo            = (*call)(nil)
	_ server.SessionWithResourceSubscriptions = (*call)(nil)
)

func (s *session) SessionID() string { return s.id }
func (s *session) Initialize()       { s.initialized.Store(true) }

// Initialized: a client of the stateless era is reached by broadcasts only through a stream that it opened.
func (s *session) Initialized() bool {
	if s.initialized.Load() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listens) > 0
}

func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notes.channel(nil) }

func (s *session) SetLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

// GetLogLevel is error until the client sets another, as in mcp-go's own transports.
func (s *session) GetLogLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.level == "" {
		return mcp.LoggingLevelError
	}
	return s.level
}

func (s *session) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

func (s *session) SetClientInfo(info mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info
}

func (s *session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caps
}

func (s *session) SetClientCapabilities(caps mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caps = caps
}

func (s *session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *session) SetProtocolVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

func (s *session) SubscribeToResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs == nil {
		s.subs = make(map[string]bool)
	}
	s.subs[uri] = true
}

func (s *session) UnsubscribeFromResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subs, uri)
}

// SubscribedResources are those of both eras.
func (s *session) SubscribedResources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.subs)
	if all == nil {
		all = make(map[string]bool)
	}
	for _, f := range s.listens {
		for _, uri := range f.ResourceSubscriptions {
			all[uri] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (s *session) IsSubscribedToResource(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs[uri] {
		return true
	}
	for _, f := range s.listens {
		if slices.Contains(f.ResourceSubscriptions, uri) {
			return true
		}
	}
	return false
}

func (s *session) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return s.conn.elicit(ctx, s.GetClientCapabilities(), r)
}

func (s *session) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return s.conn.sample(ctx, s.GetClientCapabilities(), r)
}

func (s *session) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return s.conn.roots(ctx, s.GetClientCapabilities())
}

// inline is the session that handlers on the reader see: while they run, nobody could read an answer.
type inline struct {
	*session
	over chan struct{} // closed when the handler has returned
}

func (s *inline) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.session.RequestElicitation(ctx, r)
}

func (s *inline) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.session.RequestSampling(ctx, r)
}

func (s *inline) ListRoots(ctx context.Context, r mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.session.ListRoots(ctx, r)
}
