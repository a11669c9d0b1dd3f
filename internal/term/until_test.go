package term

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// A read that waits ends with its context; one that does not gives what there is.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if b, err := io.ReadAll(Until(ctx, strings.NewReader("what was typed"))); err != nil || string(b) != "what was typed" {
		t.Errorf("%q, %v", b, err)
	}
	silent, w := io.Pipe()
	defer w.Close()
	cancel()
	if n, err := Until(ctx, silent).Read(make([]byte, 10)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", n, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	in := bufio.NewReader(Until(ctx, silent))
	go func() {
		_, _ = w.Write([]byte("half a li"))
		cancel()
	}()
	if line, err := in.ReadString('\n'); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", line, err)
	}
}

// An interrupt is no answer, and no is not yes: also where the yes was typed before.
func TestAskInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, w := io.Pipe()
	defer w.Close()
	for _, in := range []io.Reader{silent, strings.NewReader("y\n")} {
		var b bytes.Buffer
		p := Printer{Streams: Streams{In: in, Err: &b, InTerminal: true, ErrTerminal: true}}
		if yes, asked := p.Ask(ctx, "Sure?"); yes || !asked || b.String() != "Sure? [y/N] \n" {
			t.Errorf("%v, %v, %q", yes, asked, b.String())
		}
	}
}
