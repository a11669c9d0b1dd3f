package lspserver

import (
	"context"
	"slices"
	"sync"
)

// outbox sends what the server says unasked, in order, from a goroutine of its
// own. A client that writes all it has before it reads would stop a server that
// writes where it reads; so nothing that handles a notification writes.
type outbox struct {
	mu    sync.Mutex
	items []letter
	wake  chan struct{}
}

type letter struct {
	key  string
	send func(context.Context) error
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put adds something to be sent. It takes the place of what waits under the same
// key, unless that is "".
func (o *outbox) put(key string, send func(context.Context) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if key != "" {
		o.items = slices.DeleteFunc(o.items, func(l letter) bool { return l.key == key })
	}
	o.items = append(o.items, letter{key, send})
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run sends until ctx ends.
func (o *outbox) run(ctx context.Context, failed func(error)) {
	for {
		o.mu.Lock()
		items := o.items
		o.items = nil
		o.mu.Unlock()
		for _, l := range items {
			if err := l.send(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
		if len(items) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
	}
}
