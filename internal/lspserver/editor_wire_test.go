package lspserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

type message struct {
	ID     *json.RawMessage `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// listen reads what the server says until it ends. The test ends after it.
func (e *editor) listen(out io.Reader) {
	read := make(chan struct{})
	go func() { defer close(read); e.read(out) }()
	e.t.Cleanup(func() {
		e.in.Close()
		<-read
		e.result()
		if e.t.Failed() {
			e.t.Logf("the server's log:\n%s", e.log)
		}
	})
}

func (e *editor) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		m, err := readMessage(in)
		e.mu.Lock()
		if err != nil {
			e.ended = true
			e.changed.Broadcast()
			e.mu.Unlock()
			return
		}
		var id int
		switch {
		case m.Method == "" && m.ID != nil && json.Unmarshal(*m.ID, &id) == nil:
			e.answers[id] = m
		case m.Method == "textDocument/publishDiagnostics":
			var p publication
			if err := json.Unmarshal(m.Params, &p); err != nil {
				e.t.Errorf("a publication: %v", err)
			}
			e.pushed[p.URI] = append(e.pushed[p.URI], p)
		default:
			e.messages = append(e.messages, m)
		}
		e.changed.Broadcast()
		e.mu.Unlock()
		if m.Method != "" && m.ID != nil { // a request of the server
			e.mu.Lock()
			reply := e.replies[m.Method]
			e.mu.Unlock()
			go func() {
				result := "null"
				if reply != nil {
					result = reply(m.Params)
				}
				if result == notServed {
					e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"it is not served"}}`, *m.ID))
					return
				}
				e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, *m.ID, result))
			}()
		}
	}
}

// notServed is the reply of a client that does not know what it is asked.
const notServed = "not served"

func readMessage(in *bufio.Reader) (message, error) {
	var m message
	n := -1
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if _, err := fmt.Sscanf(line, "Content-Length: %d", &n); err != nil {
			return m, fmt.Errorf("header %q: %w", line, err)
		}
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

// raw writes bytes as they are.
func (e *editor) raw(s string) error {
	_, err := io.WriteString(e.in, s)
	return err
}

func (e *editor) send(body string) error {
	return e.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, encode(e.t, params))); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// post sends a request and gives its id.
func (e *editor) post(method string, params any) int {
	e.t.Helper()
	e.mu.Lock()
	e.ids++
	id := e.ids
	e.mu.Unlock()
	if err := e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, encode(e.t, params))); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	return id
}

// answer waits for the answer to a request.
func (e *editor) answer(id int) message {
	e.t.Helper()
	var m message
	e.wait(fmt.Sprintf("the answer %d", id), func() (ok bool) { m, ok = e.answers[id]; return ok })
	return m
}

// ask sends a request and decodes its result into out.
func (e *editor) ask(method string, params, out any) {
	e.t.Helper()
	m := e.answer(e.post(method, params))
	if m.Error != nil {
		e.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	if out != nil {
		if err := json.Unmarshal(m.Result, out); err != nil {
			e.t.Fatalf("%s: %v in %s", method, err, m.Result)
		}
	}
}
