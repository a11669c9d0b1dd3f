package tools

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/sessions"
)

const (
	// quietFor is how long a call runs before it tells how far it is.
	quietFor = 500 * time.Millisecond
	// tellEvery is how often it tells after that.
	tellEvery = 200 * time.Millisecond
	// beatEvery is how often it tells that it goes on while it counts nothing.
	beatEvery = time.Second
)

type progressKey struct{}

// Progress gives what an operation reports to so that a client that asked for it in the meta
// fields of its request is told how far it is; nil where it did not ask.
func Progress(ctx context.Context, meta *mcp.Meta) sessions.Progress {
	srv := server.ServerFromContext(ctx)
	if srv == nil || meta == nil || meta.ProgressToken == nil {
		return nil
	}
	r := newReporter(ctx, srv, meta)
	return r.tell
}

func newReporter(ctx context.Context, srv *server.MCPServer, meta *mcp.Meta) *reporter {
	return &reporter{token: meta.ProgressToken, due: time.Now().Add(quietFor), send: func(params map[string]any) {
		// A client that cannot be told still gets its answer.
		_ = srv.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), params)
	}}
}

// withProgress keeps where a client that asked for it is told how far a call is. Until
// the call ends, which stop tells, a client that hears nothing else is told in the words of doing that it goes on.
func withProgress(ctx context.Context, req mcp.CallToolRequest, doing string) (with context.Context, stop func()) {
	srv, meta := server.ServerFromContext(ctx), req.Params.Meta
	if srv == nil || meta == nil || meta.ProgressToken == nil {
		return ctx, func() {}
	}
	r := newReporter(ctx, srv, meta)
	end := make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() { r.beat(doing, end) })
	return context.WithValue(ctx, progressKey{}, sessions.Progress(r.tell)), sync.OnceFunc(func() {
		close(end)
		beats.Wait()
	})
}

// progress gives what an operation reports to, nil where the client did not ask.
func progress(ctx context.Context) sessions.Progress {
	p, _ := ctx.Value(progressKey{}).(sessions.Progress)
	return p
}

// reporter tells a client how far a call is. An operation has parts, each with its own
// count; what is told only grows, as the protocol asks.
type reporter struct {
	token any
	send  func(params map[string]any)

	mu    sync.Mutex
	due   time.Time // when to tell next
	part  string
	base  int64 // of the parts before
	total int64 // of this part
	told  int64
}

// beat tells that a call goes on while it counts nothing, until end.
func (r *reporter) beat(doing string, end <-chan struct{}) {
	tick := time.NewTimer(quietFor)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		now, all := time.Now(), r.base+r.total
		if !now.Before(r.due) && (all == 0 || r.told < all) { // never more than there is
			r.due, r.told = now.Add(tellEvery), r.told+1
			params := map[string]any{"progressToken": r.token, "progress": r.told, "message": doing}
			if all > 0 {
				params["total"] = all
			}
			r.send(params)
		}
		r.mu.Unlock()
		tick.Reset(beatEvery)
	}
}

func (r *reporter) tell(what string, done, total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if what != r.part {
		r.part, r.base, r.total = what, r.base+r.total, 0
	}
	r.total = max(r.total, total)
	now := time.Now()
	if now.Before(r.due) || r.base+done <= r.told {
		return
	}
	r.due, r.told = now.Add(tellEvery), r.base+done
	r.send(map[string]any{"progressToken": r.token, "progress": r.told, "total": r.base + r.total, "message": what})
}
