package lspserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// broken are methods that fail in every way, for tests.
func broken(s *server) {
	add := func(m method) { s.routes[m.name] = &m }
	add(request("test/panic", func(*server, context.Context, *documents, *none) (any, error) { panic("in a request") }, nil))
	add(inline(request("test/panicInline", func(*server, context.Context, *documents, *none) (any, error) { panic("in line") }, nil)))
	add(notification("test/panicked", func(*server, *none) { panic("in a notification") }, nil))
	add(request("test/error", func(*server, context.Context, *documents, *none) (any, error) { return nil, errors.New("it failed") }, nil))
	add(request("test/coded", func(*server, context.Context, *documents, *none) (any, error) { return nil, modified("it changed") }, nil))
	add(request("test/wait", func(_ *server, ctx context.Context, _ *documents, _ *none) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil))
}

// Three hundred edits, with hovers between them, nonsense and failures, give the
// right text and an answer to each request. Each hover sees the text as it was
// when it was asked.
func TestStress(t *testing.T) {
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		var seen atomic.Int64
		e := start(t, nil, broken, func(s *server) {
			m := request("test/text", func(_ *server, _ context.Context, docs *documents, p *struct {
				URI  string `json:"uri"`
				Want int    `json:"want"`
			}) (any, error) {
				path, _ := pathOf(p.URI)
				if got := docs.at(path).text.Len(); got != p.Want {
					return nil, fmt.Errorf("%d bytes, want %d", got, p.Want)
				}
				seen.Add(1)
				return nil, nil
			}, nil)
			s.routes[m.name] = &m
		})
		e.initialize(capable)
		e.open("MEMORY.md", "")
		want := ""
		var asked []int
		for i := range 300 {
			piece := fmt.Sprintf("%d,", i)
			e.edit("MEMORY.md", replace(0, len(want), 0, len(want), piece))
			want += piece
			asked = append(asked, e.post("test/text", map[string]any{"uri": e.uri("MEMORY.md"), "want": len(want)}))
			asked = append(asked, e.post("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}, "position": point{0, i}}))
			switch i % 7 {
			case 0:
				e.notify("$/unknown", "{}")
				e.notify("workspace/unknown", "[]")
			case 1:
				e.notify("test/panicked", "{}")
			case 2:
				asked = append(asked, e.post("test/panic", "{}"), e.post("test/panicInline", "{}"))
			case 3:
				asked = append(asked, e.post("test/error", "{}"), e.post("no/such/method", "{}"))
			case 4:
				e.notify("textDocument/didChange", `{"textDocument":5}`)
			case 5:
				id := e.post("test/wait", "{}")
				asked = append(asked, id)
				e.notify("$/cancelRequest", map[string]any{"id": id})
			case 6:
				asked = append(asked, e.post("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")},
					"range": span{}, "context": map[string]any{"diagnostics": []any{}}}))
			}
		}
		e.edit("MEMORY.md", replace(0, 0, 0, 0, "[a]("), replace(0, 99999, 0, 99999, ".md)"))
		if got := e.text("MEMORY.md"); got != "[a]("+want+".md)" {
			t.Fatalf("the text is %q", got)
		}
		for _, id := range asked {
			e.answer(id)
		}
		if seen.Load() != 300 {
			t.Errorf("%d of 300 requests saw the text as it was", seen.Load())
		}
		if err := e.quit(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFailuresOfHandlers(t *testing.T) {
	e := start(t, nil, broken)
	e.initialize(capable)
	for method, want := range map[string]struct {
		code int
		says string
	}{
		"test/panic":       {int(jsonrpc2.InternalError), "in a request"},
		"test/panicInline": {int(jsonrpc2.InternalError), "in line"},
		"test/error":       {int(codeRequestFailed), "it failed"},
		"test/coded":       {-32801, "it changed"},
	} {
		m := e.answer(e.post(method, "{}"))
		if m.Error == nil || m.Error.Code != want.code || !strings.Contains(m.Error.Message, want.says) {
			t.Errorf("%s: %+v", method, m.Error)
		}
	}
}

// A request is cancelled also where the cancellation comes right behind it, or
// while it waits for its turn.
func TestCancel(t *testing.T) {
	e := start(t, nil, broken)
	e.initialize(capable)
	var ids []int
	for range 3 * atOnce {
		ids = append(ids, e.post("test/wait", "{}"))
	}
	for _, id := range ids {
		e.notify("$/cancelRequest", map[string]any{"id": id})
	}
	for _, id := range ids {
		if m := e.answer(id); m.Error == nil || m.Error.Code != -32800 {
			t.Fatalf("a cancelled request: %+v", m.Error)
		}
	}
	e.notify("$/cancelRequest", map[string]any{"id": ids[0]}) // it is answered already
	e.notify("$/cancelRequest", map[string]any{"id": "x"})
	e.notify("$/cancelRequest", map[string]any{"id": nil})
	e.notify("$/cancelRequest", "5")
	id := e.post("test/wait", "{}")
	e.notify("$/cancelRequest", map[string]any{"id": id})
	e.answer(id)
}

// Requests that never end do not keep the server.
func TestLeavingWithRequestsUnderWay(t *testing.T) {
	e := start(t, nil, broken)
	e.initialize(capable)
	for range 2 * atOnce {
		e.post("test/wait", "{}")
	}
	began := time.Now()
	e.ask("shutdown", "null", nil)
	e.notify("exit", "null")
	if err := e.result(); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// A client that writes all it has before it reads anything is not stuck: where
// notifications are handled nothing is written.
func TestClientThatWritesBeforeItReads(t *testing.T) {
	e := start(t, nil)
	e.initialize(capable)
	e.mu.Lock() // nothing is read after the next message
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 50 {
			name := fmt.Sprintf("t%d.md", i)
			e.open(name, bom+strings.Repeat("text ", 2000))
			e.send(`{bad`)
			e.close(name)
		}
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Error("the server does not read while it cannot write")
	}
	e.mu.Unlock()
	if err := e.quit(); err != nil {
		t.Fatal(err)
	}
}
