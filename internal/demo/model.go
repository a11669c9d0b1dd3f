package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// answer is what the demo's model says to one request.
type answer struct {
	text  string
	calls []call
}

type call struct {
	name  string
	input map[string]string
}

// scripted is a model on this machine that says what is written for it: it speaks the
// Messages API as a provider does, so that what mem does with a model is played without
// one. It keeps what it was sent.
type scripted struct {
	url    string
	server *http.Server

	mu     sync.Mutex
	script []answer
	sent   []string
}

// maxAsked bounds one request to the demo's model, in bytes.
const maxAsked = 4 << 20

func startModel(script ...answer) (*scripted, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the demo's model on this machine: %w", err)
	}
	m := &scripted{url: "http://" + l.Addr().String(), script: script}
	m.server = &http.Server{Handler: http.HandlerFunc(m.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.server.Serve(l) }() // it ends with stop
	return m, nil
}

func (m *scripted) stop() error { return m.server.Close() }

// asked gives the requests so far.
func (m *scripted) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.sent...)
}

func (m *scripted) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAsked))
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages") {
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"not found"}}`, http.StatusNotFound)
		return
	}
	m.mu.Lock()
	n := len(m.sent)
	m.sent = append(m.sent, string(body))
	m.mu.Unlock()
	if n >= len(m.script) {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"the demo's model has nothing more to say"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range m.script[n].events(n) {
		b, err := json.Marshal(e)
		if err != nil {
			return // maps of strings and numbers always encode
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], b)
	}
}

type object = map[string]any

// events are those of a streamed answer.
func (a answer) events(n int) []object {
	out := []object{{"type": "message_start", "message": object{"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": "scripted",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 900, "output_tokens": 1}}}}
	block := func(start, delta object) {
		i := (len(out) - 1) / 3
		out = append(out, object{"type": "content_block_start", "index": i, "content_block": start},
			object{"type": "content_block_delta", "index": i, "delta": delta}, object{"type": "content_block_stop", "index": i})
	}
	if a.text != "" {
		block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text})
	}
	stop := "end_turn"
	for i, c := range a.calls {
		stop = "tool_use"
		input, err := json.Marshal(c.input)
		if err != nil {
			return nil // maps of strings always encode
		}
		block(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": string(input)})
	}
	return append(out, object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 60}},
		object{"type": "message_stop"})
}
