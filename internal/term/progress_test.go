package term_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/internal/term"
)

// safe is a buffer that a bar draws to while a test reads it.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A bar shows what takes longer than half a second, on a terminal, and goes away.
func TestProgress(t *testing.T) {
	var out safe
	p := term.Printer{Streams: term.Streams{Err: &out, ErrTerminal: true}}
	tell, stop := p.Progress("waiting")
	tell("reading", 1, 10)
	stop()
	if out.String() != "" {
		t.Errorf("what is quick shows a bar: %q", out.String())
	}
	tell, stop = p.Progress("waiting")
	for _, part := range []string{"reading", "writing"} {
		for deadline := time.Now().Add(5 * time.Second); !strings.Contains(out.String(), part); {
			if time.Now().After(deadline) {
				t.Fatalf("no bar: %q", out.String())
			}
			tell(part, 9<<20, 8<<20) // more than there was to be
			time.Sleep(20 * time.Millisecond)
		}
	}
	start := time.Now()
	stop()
	if time.Since(start) > time.Second {
		t.Errorf("it took %v to stop", time.Since(start))
	}
	drawn := out.String()
	tell("more", 1, 2)
	time.Sleep(150 * time.Millisecond)
	if out.String() != drawn {
		t.Error("it draws after its end")
	}
	// What was told early shows although nothing is told any more, and what tells nothing
	// shows what it is.
	for doing, early := range map[string]bool{"counting": true, "thinking": false} {
		var out safe
		tell, stop := term.Printer{Streams: term.Streams{Err: &out, ErrTerminal: true}}.Progress(doing)
		if early {
			tell("counted", 1, 10)
		}
		time.Sleep(time.Second)
		stop()
		if s := out.String(); strings.Contains(s, "counted") != early || strings.Contains(s, "thinking") == early {
			t.Errorf("%s: %q", doing, s)
		} else if strings.Contains(s, "[0B") {
			t.Errorf("bytes are told where none are counted: %q", s)
		}
	}
	// Into a pipe nothing is shown.
	var pipe safe
	tell, stop = term.Printer{Streams: term.Streams{Err: &pipe}}.Progress("waiting")
	if stop(); tell != nil {
		t.Error("a pipe gets a bar")
	}
}
