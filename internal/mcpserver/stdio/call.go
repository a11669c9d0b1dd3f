package stdio

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// call is one request of the client and the session that its handler sees: what it sends is ordered before its reply,
// and in the stateless era the client's identity and capabilities are those of this request, not of its neighbour.
type call struct {
	*session
	id      json.RawMessage
	key     string
	method  string
	message json.RawMessage
	ctx     context.Context
	cancel  context.CancelCauseFunc

	state atomic.Int32 // callOpen, callCancelled, callAnswered
	code  atomic.Pointer[codedError]

	mu     sync.Mutex
	notes  *notifier // made when the handler sends something
	over   bool      // the handler has returned
	modern bool      // the request carried its own identity
	info   *mcp.Implementation
	caps   *mcp.ClientCapabilities
	filter *mcp.SubscriptionFilter // of a listen stream that is not yet acknowledged
}

const (
	callOpen int32 = iota
	callCancelled
	callAnswered
)

func (c *call) listens() bool     { return c.method == string(mcp.MethodSubscriptionsListen) }
func (c *call) isCancelled() bool { return c.state.Load() == callCancelled }

// markCancelled reports false when the reply is already on its way.
func (c *call) markCancelled() bool { return c.state.CompareAndSwap(callOpen, callCancelled) }

// markAnswered reports false when the call was cancelled: it gets no reply.
func (c *call) markAnswered() bool { return c.state.CompareAndSwap(callOpen, callAnswered) }

// NotificationChannel waits while the client reads more slowly than the handler sends. When the call is cancelled or
// has returned it is nil, and what is sent is refused with server.ErrNotificationChannelBlocked: the protocol wants no
// further message for such a call. Work that goes on in the background reports through the server's broadcasts.
func (c *call) NotificationChannel() chan<- mcp.JSONRPCNotification {
	c.mu.Lock()
	if c.over || c.isCancelled() {
		c.mu.Unlock()
		return nil
	}
	if c.notes == nil {
		c.notes = newNotifier(c.conn.out.dead, c.put)
	}
	notes := c.notes
	c.mu.Unlock()
	return notes.channel(c.ctx.Done())
}

func (c *call) put(note mcp.JSONRPCNotification) {
	line, err := encodeNote(note)
	if err != nil {
		c.conn.opts.Logger.Error("a notification cannot be encoded and was dropped", "method", note.Method, "error", err)
		return
	}
	c.conn.out.push(frame{line: line, of: c})
	if c.listens() && note.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
		c.session.openStream(c)
	}
}

// flush queues what the handler has sent, to itself or to the session, and reports whether it sent to itself.
func (c *call) flush() bool {
	c.session.notes.settle()
	c.mu.Lock()
	c.over = true
	notes := c.notes
	c.mu.Unlock()
	if notes == nil {
		return false
	}
	notes.end()
	return notes.sent.Load() > 0
}

// Initialize is called for each request of the stateless era.
func (c *call) Initialize() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.modern = true
}

func (c *call) Initialized() bool {
	c.mu.Lock()
	modern := c.modern
	c.mu.Unlock()
	return modern || c.session.Initialized()
}

func (c *call) SetClientInfo(info mcp.Implementation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.modern, c.info = true, &info
}

func (c *call) GetClientInfo() mcp.Implementation {
	c.mu.Lock()
	info := c.info
	c.mu.Unlock()
	if info != nil {
		return *info
	}
	return c.session.GetClientInfo()
}

func (c *call) SetClientCapabilities(caps mcp.ClientCapabilities) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.modern, c.caps = true, &caps
}

func (c *call) GetClientCapabilities() mcp.ClientCapabilities {
	c.mu.Lock()
	caps := c.caps
	c.mu.Unlock()
	if caps != nil {
		return *caps
	}
	return c.session.GetClientCapabilities()
}

func (c *call) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return c.conn.elicit(ctx, c.GetClientCapabilities(), r)
}

func (c *call) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return c.conn.sample(ctx, c.GetClientCapabilities(), r)
}

func (c *call) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return c.conn.roots(ctx, c.GetClientCapabilities())
}
