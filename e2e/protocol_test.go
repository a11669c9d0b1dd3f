package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"mem/internal/need"
)

func TestHandshakes(t *testing.T) {
	for _, c := range []struct{ offered, chosen string }{
		{"2025-11-25", "2025-11-25"}, {"2025-06-18", "2025-06-18"}, {"2025-03-26", "2025-03-26"}, {"2024-11-05", "2024-11-05"},
		{"1999-01-01", "2025-11-25"},
	} {
		t.Run(c.offered, func(t *testing.T) {
			s := newPlace(t).start(t)
			m, err := s.ask(s.request("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}`, c.offered)))
			if err != nil || m.Error != nil {
				t.Fatalf("%v %+v", err, m.Error)
			}
			var r struct {
				ProtocolVersion, Instructions string
				ServerInfo                    struct{ Name, Version string }
			}
			if err := json.Unmarshal(m.Result, &r); err != nil || r.ProtocolVersion != c.chosen || r.ServerInfo.Name != "mem" || r.Instructions == "" {
				t.Errorf("%+v %v", r, err)
			}
			s.stop(t)
		})
	}
	t.Run("2026-07-28", func(t *testing.T) {
		s := newPlace(t).start(t)
		s.modern = true
		m, err := s.ask(s.request("server/discover", ""))
		if err != nil || m.Error != nil || !strings.Contains(string(m.Result), "2026-07-28") {
			t.Errorf("%s %+v %v", m.Result, m.Error, err)
		}
		s.stop(t)
	})
}

// Both eras on one connection: a client may look before it decides.
func TestErasSideBySide(t *testing.T) {
	s := newPlace(t).start(t)
	if err := s.shake(); err != nil {
		t.Fatal(err)
	}
	for n := range 6 {
		s.modern = n%2 == 1
		if err := s.call("memory_write", memory(fmt.Sprint("n", n), "x"), new(written)); err != nil {
			t.Error(err)
		}
	}
	var l struct{ Total int }
	if err := s.call("memory_list", args{}, &l); err != nil || l.Total != 6 {
		t.Error(l, err)
	}
	s.stop(t)
}

// While another program holds the lock, twelve writes wait; a ping and a read
// beside them do not. Then all twelve are done.
func TestPingBesideSlowCalls(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "the lock is another file there")
	p := newPlace(t)
	s := p.start(t)
	if err := s.shake(); err != nil {
		t.Fatal(err)
	}
	var first written
	if err := s.call("memory_write", memory("first", "x"), &first); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(first.Directory, flock.SetFlag(os.O_RDONLY))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	waiting := map[string]bool{}
	for n := range 12 {
		id, line := s.toolCall("memory_write", memory(fmt.Sprint("slow-", n), "x"))
		waiting[id] = true
		if err := s.send(line); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	if m, err := s.ask(s.request("ping", "")); err != nil || m.Error != nil {
		t.Errorf("%+v %v", m.Error, err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the ping took %s", took)
	}
	if err := s.call("memory_read", args{"topic": "first"}, new(any)); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("ping and read took %s", took)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	for len(waiting) > 0 {
		m, err := s.receive()
		if err == nil {
			err = result(m, new(written))
		}
		if err != nil || !waiting[string(m.ID)] {
			t.Fatalf("reply to %s: %v", m.ID, err)
		}
		delete(waiting, string(m.ID))
	}
	s.stop(t)
}

// A lock that is not let go gives an error that says who holds it.
func TestLockHeld(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "the lock is another file there")
	p := newPlace(t)
	p.write(t, "config/mem/config.yaml", "lock:\n  wait: 200ms\n")
	s := p.start(t)
	s.modern = true
	var first written
	if err := s.call("memory_write", memory("first", "x"), &first); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(first.Directory, flock.SetFlag(os.O_RDONLY))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	err := s.call("memory_write", memory("second", "x"), new(written))
	if p, ok := err.(*problem); !ok || p.Kind != "locked" || !strings.Contains(p.Text, first.Directory) {
		t.Errorf("%v", err)
	}
	s.stop(t)
}

// A cancel right behind its call: the call gets no reply, and the server goes on.
func TestCancel(t *testing.T) {
	s := newPlace(t).start(t)
	if err := s.shake(); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		id, line := s.toolCall("memory_context", args{})
		cancel := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
		if err := s.send(line + "\n" + cancel); err != nil {
			t.Fatal(err)
		}
		ping, line := s.request("ping", "")
		if err := s.send(line); err != nil {
			t.Fatal(err)
		}
		for { // a call that was faster than its cancel may have been answered
			m, err := s.receive()
			if err != nil {
				t.Fatal(err)
			}
			if string(m.ID) == ping {
				break
			}
		}
	}
	s.stop(t)
}

// The input ends right behind the last call: every call is answered, once.
func TestRepliesAtEndOfInput(t *testing.T) {
	const calls = 100
	p := newPlace(t)
	s := p.start(t)
	s.modern = true
	open := map[string]bool{}
	var all strings.Builder
	for n := range calls {
		tool, a := "memory_write", memory(fmt.Sprint("n", n), "x")
		if n%2 == 1 {
			tool, a = "memory_list", args{}
		}
		id, line := s.toolCall(tool, a)
		open[id] = true
		all.WriteString(line + "\n")
	}
	if err := s.send(strings.TrimSuffix(all.String(), "\n")); err != nil {
		t.Fatal(err)
	}
	s.in.Close()
	for range calls {
		m, err := s.receive()
		if err == nil {
			err = result(m, new(any))
		}
		if err != nil {
			t.Fatalf("%d replies are missing: %v", len(open), err)
		}
		if !open[string(m.ID)] {
			t.Errorf("a second reply to %s", m.ID)
		}
		delete(open, string(m.ID))
	}
	s.stop(t)
	if n := len(topics(t, p.memory(t))); n != calls/2 {
		t.Errorf("%d topics", n)
	}
	p.noTempFiles(t)
}

// What is no message gets an error or is passed over, and the server goes on.
func TestGarbage(t *testing.T) {
	s := newPlace(t).start(t)
	if err := s.shake(); err != nil {
		t.Fatal(err)
	}
	garbage := []string{
		"", " ", "\r", "{", "null", "[]", "42", `"text"`, "garbage", "\xff\xfe\x00", "\x00", `{"jsonrpc":"2.0"}`, "\ufeff{}",
		`{"jsonrpc":"2.0","id":"b","method":"no/such"}`, `{"jsonrpc":"2.0","id":"c"}`,
		`{"jsonrpc":"2.0","id":"d","method":"tools/call"}`, `{"jsonrpc":"2.0","id":"e","method":"tools/call","params":[]}`,
		`{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{"name":7}}`, `{"jsonrpc":"2.0","id":"g","method":7}`,
		`{"jsonrpc":"2.0","id":{"x":1},"method":"ping"}`, `{"jsonrpc":"2.0","id":"h","result":{}}`,
		`[{"jsonrpc":"2.0","id":"i","method":"ping"}]`, `{"jsonrpc":"2.0","method":"notifications/nothing"}`,
		`{"jsonrpc":"2.0","id":"j","method":"tools/call","params":{"name":"memory_read","arguments":"x"}}`,
		strings.Repeat("[", 200_000), strings.Repeat(`{"a":`, 100_000), strings.Repeat("x", 1<<20),
	}
	replies := map[string]int{}
	for _, line := range garbage {
		id, ping := s.request("ping", "")
		if err := s.send(line + "\n" + ping); err != nil {
			t.Fatal(err)
		}
		for replies[id] == 0 {
			m, err := s.receive()
			if err != nil {
				t.Fatalf("after %.60q: %v", line, err)
			}
			if replies[string(m.ID)]++; string(m.ID) != id && result(m, new(any)) == nil {
				t.Errorf("before the ping after %.60q: %s was taken: %s", line, m.ID, m.Result)
			}
		}
	}
	for id, n := range replies {
		if n > 1 && id != "null" || n > len(garbage) {
			t.Errorf("%d replies to %s", n, id)
		}
	}
	s.stop(t)
}

// A call of 12 MB is refused with the limit, one that no message may have
// without reading it; nothing is written, and the server goes on.
func TestLongLine(t *testing.T) {
	p := newPlace(t)
	s := p.start(t)
	s.modern = true
	for _, size := range []int{12 << 20, 20 << 20} {
		m, err := s.ask(s.toolCall("memory_write", memory("big", strings.Repeat("All work and no play.\n", size/22))))
		if err == nil {
			err = result(m, new(written))
		}
		if err == nil || !strings.Contains(err.Error(), "byte") && !strings.Contains(err.Error(), "MB") {
			t.Errorf("%d MB: %v", size>>20, err)
		}
	}
	if err := s.call("memory_write", memory("small", "x"), new(written)); err != nil {
		t.Error(err)
	}
	s.stop(t)
	if all := topics(t, p.memory(t)); len(all) != 1 {
		t.Errorf("%d topics", len(all))
	}
	p.noTempFiles(t)
}

// A client that dies takes its server with it: both ends of the streams close.
func TestClientDies(t *testing.T) {
	p := newPlace(t)
	s := p.start(t)
	s.modern = true
	if err := s.call("memory_write", memory("one", "x"), new(written)); err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		_, line := s.toolCall("memory_write", memory(fmt.Sprint("n", n), "x"))
		if err := s.send(line); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	s.stop(t)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the server went on for %s", took)
	}
	p.noTempFiles(t)
}

// An interrupt ends a server that waits for input.
func TestInterrupt(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "no such signal there")
	s := newPlace(t).start(t)
	if err := s.shake(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.wait(t)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Nobody reads what the server says, and the client is gone.
func TestNobodyReads(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "needs a shell")
	p := newPlace(t)
	s := p.shell(t, `exec "$1" >"$2/out"`, binary, p.root)
	s.modern = true
	_, line := s.toolCall("memory_write", memory("one", "x"))
	if err := s.send(line); err != nil {
		t.Fatal(err)
	}
	s.stop(t)
	if b, err := os.ReadFile(filepath.Join(p.root, "out")); err != nil || !strings.Contains(string(b), `"created":true`) {
		t.Errorf("%s %v", b, err)
	}
}

// A client that can open addresses but shows no forms is not asked by form.
func TestOnlyURLElicitation(t *testing.T) {
	s := newPlace(t).start(t)
	m, err := s.ask(s.request("initialize", `"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"raw","version":"1"}`))
	if err != nil || m.Error != nil {
		t.Fatalf("%+v %v", m.Error, err)
	}
	err = s.call("memory_write", memory("token", "token ghp_"+"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"), new(written))
	if p, ok := err.(*problem); !ok || p.Kind != "secret" {
		t.Errorf("%v", err)
	}
	s.stop(t)
}
