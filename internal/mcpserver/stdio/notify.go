package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// notifier takes what a handler sends and queues it, in order and without loss.
//
// mcp-go sends a notification with a send that does not wait: where the channel is full the notification is lost.
// Each such send is preceded by a call of NotificationChannel, so that is where ours waits, until a place in the
// channel is free for the one send that follows. (mcp-go 1.2.1 calls it in three places, all of which send. A caller
// that does not would keep the place until its call ends.)
type notifier struct {
	put    func(mcp.JSONRPCNotification) // encodes and queues; may wait for the client
	dead   <-chan struct{}
	places chan struct{} // one token for each send that is announced or under way
	in     chan mcp.JSONRPCNotification
	sent   atomic.Int64
	done   chan struct{} // closed when drain has returned
}

// A mark travels behind what was sent before it and tells when its turn has come. No notification of the protocol
// has its method.
const (
	markMethod  = "\x00mark"
	markReached = "reached" // chan struct{}
	markLast    = "last"    // bool: the notifier ends
)

func newNotifier(dead <-chan struct{}, put func(mcp.JSONRPCNotification)) *notifier {
	n := &notifier{
		put: put, dead: dead,
		places: make(chan struct{}, notifyBuffer),
		in:     make(chan mcp.JSONRPCNotification, notifyBuffer),
		done:   make(chan struct{}),
	}
	go n.drain()
	return n
}

// channel waits for a free place and returns where to send, or nil, into which nothing can be sent, once stop or
// the session has ended.
func (n *notifier) channel(stop <-chan struct{}) chan<- mcp.JSONRPCNotification {
	select {
	case n.places <- struct{}{}:
		return n.in
	case <-stop:
		return nil
	case <-n.dead:
		return nil
	}
}

func (n *notifier) drain() {
	defer close(n.done)
	for {
		select {
		case <-n.dead:
			return
		case note := <-n.in:
			if n.pass(note) {
				n.drainRest()
				return
			}
		}
	}
}

// pass queues a notification, or tells that the turn of a mark has come, and reports whether that was the last one.
func (n *notifier) pass(note mcp.JSONRPCNotification) (last bool) {
	if note.Method == markMethod {
		last = note.Params.AdditionalFields[markLast].(bool)
		close(note.Params.AdditionalFields[markReached].(chan struct{}))
	} else {
		n.put(note)
		n.sent.Add(1)
	}
	<-n.places
	return last
}

// drainRest passes what goroutines that the handler left behind managed to send before the notifier ends.
func (n *notifier) drainRest() {
	for {
		select {
		case note := <-n.in:
			n.pass(note)
		default:
			return
		}
	}
}

// settle returns when everything that was sent before is queued.
func (n *notifier) settle() {
	// Each send holds a place from before it until it is queued.
	if len(n.places) > 0 {
		n.sendMark(false)
	}
}

// end is settle, and ends the notifier. It may be called once.
func (n *notifier) end() {
	n.sendMark(true)
	<-n.done
}

func (n *notifier) sendMark(last bool) {
	reached := make(chan struct{})
	var note mcp.JSONRPCNotification
	note.Method = markMethod
	note.Params.AdditionalFields = map[string]any{markReached: reached, markLast: last}
	select {
	case n.places <- struct{}{}: // a mark needs a place too, else it would take a notification's
		n.in <- note
	case <-n.done:
		return
	}
	select {
	case <-reached:
	case <-n.done:
	}
}

// encodeNote never panics: what a notification carries comes from a handler.
func encodeNote(note mcp.JSONRPCNotification) (line []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return encodeLine(note)
}

// encodeLine is json.Marshal with a newline and without the escapes that are for HTML.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
