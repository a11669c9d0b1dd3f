package lspserver

import (
	"context"
	"slices"
	"sync"
)

// outbox sends what the server says unasked, in order, from a goroutine of its
// own. A client that writes all it has before it reads would stop a server that
// writes where it reads; so nothing that handles a notification writes. What has a
// goroutine of its own anyway sends by itself: to wake another one takes longer.
type outbox struct {
	mu      sync.Mutex
	items   []letter
	sending bool // somebody does, and goes on until nothing is left
	wake    chan struct{}
	failed  func(error)
}

type letter struct {
	key  string
	send func(context.Context) error
}

func newOutbox(failed func(error)) *outbox {
	return &outbox{wake: make(chan struct{}, 1), failed: failed}
}

// put has something sent, and does not wait for it. It takes the place of what waits
// under the same key, unless that is "".
func (o *outbox) put(key string, send func(context.Context) error) {
	o.add(key, send)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// add is put for somebody who calls flush soon.
func (o *outbox) add(key string, send func(context.Context) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if key != "" {
		o.items = slices.DeleteFunc(o.items, func(l letter) bool { return l.key == key })
	}
	o.items = append(o.items, letter{key, send})
}

// flush sends all there is, in order, unless somebody does already. Nothing may call
// it that the client waits for, or that holds what such a one needs.
func (o *outbox) flush(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sending {
		return
	}
	o.sending = true
	for len(o.items) > 0 {
		items := o.items
		o.items = nil
		o.mu.Unlock()
		for _, l := range items {
			if err := l.send(ctx); err != nil && ctx.Err() == nil {
				o.failed(err)
			}
		}
		o.mu.Lock()
	}
	o.sending = false
}

// run sends until ctx ends.
func (o *outbox) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
			o.flush(ctx)
		}
	}
}
