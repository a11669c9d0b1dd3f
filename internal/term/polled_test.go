//go:build !windows

package term

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// pipes gives both ends of a pipe that is read as os.Stdin is: not by the runtime.
func pipes(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	t.Cleanup(func() { r.Close(); w.Close() })
	if r.SetReadDeadline(time.Time{}) == nil {
		t.Fatal("the runtime waits for this pipe already")
	}
	return r, w
}

func TestPolledPipe(t *testing.T) {
	r, w := pipes(t)
	in, restore := Polled(r)
	p, ok := in.(*os.File)
	if !ok || p == r || p.SetReadDeadline(time.Time{}) != nil {
		t.Fatalf("the runtime does not wait for %v", in)
	}
	go w.WriteString("hello")
	b := make([]byte, 5)
	if _, err := io.ReadFull(in, b); err != nil || string(b) != "hello" {
		t.Errorf("read %q, %v", b, err)
	}
	restore()
	// Whoever has the pipe after us waits again: a read without anything to read blocks.
	done := make(chan error, 1)
	go func() {
		_, err := syscall.Read(int(r.Fd()), make([]byte, 1))
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("a read after restore ended with %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	w.WriteString("x")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Closing the input ends a read that waits for a client.
func TestPolledIsClosed(t *testing.T) {
	r, _ := pipes(t)
	in, restore := Polled(r)
	done := make(chan error, 1)
	go func() {
		_, err := in.Read(make([]byte, 1))
		done <- err
	}()
	time.Sleep(10 * time.Millisecond)
	if err := in.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err == nil {
			t.Error("the read gave something")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the read goes on")
	}
	restore() // of what is closed: nothing
}

func TestPolledLeavesTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, in := range []io.Reader{f, bytes.NewReader(nil)} {
		got, restore := Polled(in)
		if got != in {
			t.Errorf("%T became %T", in, got)
		}
		restore()
	}
}
