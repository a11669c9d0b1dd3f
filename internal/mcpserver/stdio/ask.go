package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// questions are the server's requests to the client that wait for an answer.
type questions struct {
	mu     sync.Mutex
	next   int64
	open   map[string]chan answer
	closed bool
}

type answer struct {
	message json.RawMessage
	err     error
}

func (q *questions) add() (id string, reply chan answer, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return "", nil, false
	}
	if q.open == nil {
		q.open = make(map[string]chan answer)
	}
	q.next++
	id = strconv.FormatInt(q.next, 10)
	reply = make(chan answer, 1)
	q.open[id] = reply
	return id, reply, true
}

func (q *questions) drop(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, id)
}

// settle hands an answer over; false when nobody waits for it (any more).
func (q *questions) settle(id json.RawMessage, a answer) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := idKey(id)
	reply, ok := q.open[key]
	if ok {
		delete(q.open, key)
		reply <- a
	}
	return ok
}

// close fails what is open and what comes.
func (q *questions) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for id, reply := range q.open {
		delete(q.open, id)
		reply <- answer{err: ErrEnded}
	}
}

// ask sends a request to the client and waits for its result, at most for the given time.
func (c *conn) ask(ctx context.Context, limit time.Duration, method mcp.MCPMethod, params, result any) error {
	if server.IsModernRequest(ctx) {
		return fmt.Errorf("asking the client for %s: %w", method, server.ErrServerInitiatedRequestUnsupported)
	}
	id, reply, ok := c.questions.add()
	if !ok {
		return fmt.Errorf("asking the client for %s: %w", method, ErrEnded)
	}
	defer c.questions.drop(id)
	line, err := encodeLine(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  mcp.MCPMethod   `json:"method"`
		Params  any             `json:"params,omitempty"`
	}{mcp.JSONRPC_VERSION, json.RawMessage(id), method, params})
	if err != nil {
		return fmt.Errorf("asking the client for %s: %w", method, err)
	}
	// What the handler sent before it asked comes first on the wire too.
	if !c.out.push(frame{line: line}) {
		return fmt.Errorf("asking the client for %s: %w", method, ErrEnded)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-reply:
		if a.err == nil {
			a.err = decodeAnswer(a.message, result)
		}
		if a.err != nil {
			return fmt.Errorf("asking the client for %s: %w", method, a.err)
		}
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("no answer within %s: %w", limit, context.DeadlineExceeded)
	case <-c.out.dead:
		return fmt.Errorf("asking the client for %s: %w", method, ErrEnded)
	}
	c.retract(id, err)
	return fmt.Errorf("asking the client for %s: %w", method, err)
}

// retract tells the client that its answer is not wanted any more.
func (c *conn) retract(id string, why error) {
	line, err := encodeLine(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"method":  mcp.MethodNotificationCancelled,
		"params":  map[string]any{"requestId": json.RawMessage(id), "reason": why.Error()},
	})
	if err == nil {
		c.out.push(frame{line: line})
	}
}

func decodeAnswer(message json.RawMessage, result any) error {
	var m struct {
		Result json.RawMessage          `json:"result"`
		Error  *mcp.JSONRPCErrorDetails `json:"error"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return fmt.Errorf("reading its answer: %w", err)
	}
	if m.Error != nil {
		return fmt.Errorf("it answered with error %d: %s", m.Error.Code, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("reading its answer: %w", err)
	}
	return nil
}

func (c *conn) elicit(ctx context.Context, caps mcp.ClientCapabilities, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	declared := caps.Elicitation
	// An empty declaration means forms, the only mode before 2025-11-25.
	if declared == nil || r.Params.Mode == mcp.ElicitationModeURL && declared.URL == nil ||
		r.Params.Mode != mcp.ElicitationModeURL && declared.Form == nil && declared.URL != nil {
		return nil, fmt.Errorf("%w: %w: elicitation (mode %q)", server.ErrElicitationNotSupported, ErrUndeclared, r.Params.Mode)
	}
	var result mcp.ElicitationResult
	if err := c.ask(ctx, c.opts.AskTimeout, mcp.MethodElicitationCreate, r.Params, &result); err != nil {
		return nil, err
	}
	return &result, nil
}

func (c *conn) sample(ctx context.Context, caps mcp.ClientCapabilities, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if caps.Sampling == nil {
		return nil, fmt.Errorf("%w: sampling", ErrUndeclared)
	}
	var result mcp.CreateMessageResult
	if err := c.ask(ctx, c.opts.AskTimeout, mcp.MethodSamplingCreateMessage, r.CreateMessageParams, &result); err != nil {
		return nil, err
	}
	content, err := mcp.ParseSamplingContent(result.Content)
	if err != nil {
		return nil, fmt.Errorf("reading the client's sampling answer: %w", err)
	}
	result.Content = content
	return &result, nil
}

func (c *conn) roots(ctx context.Context, caps mcp.ClientCapabilities) (*mcp.ListRootsResult, error) {
	if caps.Roots == nil {
		return nil, fmt.Errorf("%w: %w: roots", server.ErrRootsNotSupported, ErrUndeclared)
	}
	var result mcp.ListRootsResult
	if err := c.ask(ctx, min(rootsTimeout, c.opts.AskTimeout), mcp.MethodListRoots, nil, &result); err != nil {
		return nil, err
	}
	return &result, nil
}

// wait lets a goroutine that a handler on the reader started ask once that handler has returned.
func (s *inline) wait(ctx context.Context) error {
	timer := time.NewTimer(admitPatience)
	defer timer.Stop()
	select {
	case <-s.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ErrAskInline
	}
}
