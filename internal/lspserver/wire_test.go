package lspserver

import (
	"fmt"
	"strings"
	"testing"
)

// Garbage is skipped up to the next message, and the server lives.
func TestGarbageOnTheWire(t *testing.T) {
	frame := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
	for name, garbage := range map[string]string{
		"bad JSON":                     frame(`{bad json`),
		"no object":                    frame(`5`),
		"a batch":                      frame(`[{"jsonrpc":"2.0","id":99,"method":"shutdown"}]`),
		"an empty batch":               frame(`[]`),
		"no version":                   frame(`{"id":99,"method":"shutdown"}`),
		"no UTF-8":                     frame("{\"jsonrpc\":\"2.0\",\"method\":\"$/x\",\"params\":\"\xff\xfe\"}"),
		"deep":                         frame(strings.Repeat("[", 100_000)),
		"no length":                    "Content-Type: text\r\n\r\n",
		"a length of words":            "Content-Length: many\r\n\r\n",
		"a length of 0":                "Content-Length: 0\r\n\r\n",
		"a negative length":            "Content-Length: -5\r\n\r\n",
		"a length beyond numbers":      "Content-Length: 99999999999999999999999\r\n\r\n",
		"text":                         "hello\nworld: this is no header\n\n\r\n",
		"HTTP":                         "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a message without header":     `{"jsonrpc":"2.0","method":"x"}`,
		"a long line":                  strings.Repeat("x", 100_000),
		"a line that ends in a header": strings.Repeat("x", 2*maxHeader-7),
		"NULs":                         strings.Repeat("\x00", 5000) + "\n",
		"too long":                     fmt.Sprintf("Content-Length: %d\r\n\r\n%s", maxMessage+1, strings.Repeat(" ", maxMessage+1)),
		"other headers and spaces":     "content-length:   2  \r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}",
		"bare line feeds":              "Content-Length: 2\n\n{}",
		"a response to nothing":        frame(`{"jsonrpc":"2.0","id":12345,"result":{}}`),
		"an error to nothing":          frame(`{"jsonrpc":"2.0","id":"12345","error":{"code":1,"message":"x"}}`),
		"a method that is no name":     frame(`{"jsonrpc":"2.0","method":5}`),
		"a call with strange id":       frame(`{"jsonrpc":"2.0","id":{},"method":"shutdown"}`),
		"a notification of a call":     frame(`{"jsonrpc":"2.0","method":"shutdown"}`),
		"unknown notifications":        frame(`{"jsonrpc":"2.0","method":"$/x","params":{}}`) + frame(`{"jsonrpc":"2.0","method":"workspace/x","params":[]}`),
		"notifications with nothing":   frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen"}`) + frame(`{"jsonrpc":"2.0","method":"textDocument/didClose","params":null}`),
		"parameters of another kind":   frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[1,2]}`) + frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":5}}`),
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, nil)
			e.initialize(capable)
			e.open("MEMORY.md", "before\n")
			if err := e.raw(garbage); err != nil {
				t.Fatal(err)
			}
			e.edit("MEMORY.md", replace(0, 0, 0, 0, "after and "))
			if got := e.text("MEMORY.md"); got != "after and before\n" {
				t.Errorf("the text is %q", got)
			}
			if err := e.quit(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What could not be understood is answered, so that a client does not wait.
func TestGarbageIsAnswered(t *testing.T) {
	e := start(t, nil)
	e.initialize(capable)
	e.send(`{bad json`)
	e.wait("the answer to bad JSON", func() bool {
		for _, m := range e.messages {
			if m.Error != nil && m.Error.Code == -32700 {
				return true
			}
		}
		return false
	})
}

func TestBeforeInitialize(t *testing.T) {
	e := start(t, nil)
	if m := e.answer(e.post("textDocument/hover", "{}")); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("hover before initialize: %+v", m.Error)
	}
	e.open("MEMORY.md", bom) // ignored
	e.initialize(capable)
	if m := e.answer(e.post("initialize", `{"processId":null,"rootUri":null,"capabilities":{}}`)); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("the second initialize: %+v", m.Error)
	}
	if e.settled(); e.server.documents().byPath != nil {
		t.Error("a document was opened before initialize")
	}
	e.ask("shutdown", "null", nil)
	if m := e.answer(e.post("textDocument/hover", "{}")); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("hover after shutdown: %+v", m.Error)
	}
	e.notify("exit", "null")
	if err := e.result(); err != nil {
		t.Fatal(err)
	}
}

func TestInitializeOfStrangers(t *testing.T) {
	for _, params := range []string{`{}`, `null`, `{"processId":"x"}`, `{"capabilities":5}`, `[]`, `{"rootUri":"nonsense","capabilities":{"general":{"positionEncodings":null},"textDocument":{"codeAction":{}}}}`} {
		e := start(t, nil)
		m := e.answer(e.post("initialize", params))
		if m.Error != nil && m.Error.Code != -32602 {
			t.Errorf("initialize(%s): %+v", params, m.Error)
		}
		if m.Error != nil {
			e.initialize(capable) // it may try again
		}
		if err := e.quit(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnknownRequests(t *testing.T) {
	e := start(t, nil)
	e.initialize(capable)
	for _, method := range []string{"textDocument/rename", "x", "exit", "textDocument/didOpen", "$/cancelRequest"} {
		if m := e.answer(e.post(method, "{}")); m.Error == nil || m.Error.Code != -32601 {
			t.Errorf("%s: %+v", method, m.Error)
		}
	}
	for _, params := range []string{"{}", "null", "[]", `{"textDocument":{"uri":5},"position":{}}`, `{"textDocument":{"uri":"file:///x.md"},"position":{"line":-1,"character":0}}`} {
		m := e.answer(e.post("textDocument/hover", params))
		if m.Error != nil && m.Error.Code != -32602 {
			t.Errorf("hover(%s): %+v", params, m.Error)
		}
	}
}

func TestLeavingWithoutShutdown(t *testing.T) {
	e := start(t, nil)
	e.initialize(capable)
	e.notify("exit", "null")
	if err := e.result(); err != ErrNoShutdown {
		t.Errorf("exit gives %v", err)
	}

	e = start(t, nil)
	e.initialize(capable)
	e.in.Close()
	if err := e.result(); err != ErrNoShutdown {
		t.Errorf("the end of the input gives %v", err)
	}

	e = start(t, nil)
	e.initialize(capable)
	e.ask("shutdown", "null", nil)
	e.in.Close()
	if err := e.result(); err != nil {
		t.Errorf("the end of the input after shutdown gives %v", err)
	}

	e = start(t, nil)
	e.raw("Content-Length: 100\r\n\r\n{")
	e.in.Close()
	if err := e.result(); err != ErrNoShutdown {
		t.Errorf("an end in the middle of a message gives %v", err)
	}
}
