package stdio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"mem/internal/need"
)

// The TypeScript SDK loses progress that it reads together with its reply (see DefaultProgressGap).
func TestReplyComesInAReadOfItsOwn(t *testing.T) {
	need.System(t, runtime.GOOS == "linux", "only Linux tells what the reader has taken")
	ts := newTools()
	inR, inW := io.Pipe()
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer outR.Close()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), ts.MCPServer, inR, outW, Options{}) }()
	buf := make([]byte, 1<<20)
	for round := range 10 {
		fmt.Fprintln(inW, modern("1", "tools/call", "x", "{}", `,"name":"progress"`), "\n"+ping(`"not held up"`))
		time.Sleep(20 * time.Millisecond) // a client that has other things to do
		n, err := outR.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if got := buf[:n]; bytes.Count(got, []byte("notifications/progress")) != 3 || !bytes.Contains(got, []byte("not held up")) || bytes.Contains(got, []byte(`"done"`)) {
			t.Errorf("round %d: the first read has %s", round, got)
		}
		if n, err = outR.Read(buf); err != nil || !bytes.Contains(buf[:n], []byte(`"done"`)) {
			t.Errorf("round %d: the second read has %s, %v", round, buf[:n], err)
		}
	}
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	outW.Close()
}

func TestUnreadProbe(t *testing.T) {
	need.System(t, runtime.GOOS == "linux", "only Linux tells what the reader has taken")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	probe, _ := unreadProbe(w)
	fmt.Fprint(w, "12345")
	if n, ok := probe(); n != 5 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	io.CopyN(io.Discard, r, 5)
	if n, ok := probe(); n != 0 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	if none, _ := unreadProbe(new(bytes.Buffer)); none != nil {
		t.Error("a buffer has no reader to wait for")
	}
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if none, _ := unreadProbe(file); none != nil {
		t.Error("a file has no reader to wait for")
	}
}
