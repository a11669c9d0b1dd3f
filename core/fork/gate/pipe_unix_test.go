//go:build unix

package gate

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestNamedPipe: a pipe without a writer blocks nobody.
func TestNamedPipe(t *testing.T) {
	s := newScene(t)
	if err := syscall.Mkfifo(filepath.Join(s.memory, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s.want(s.call("Read", "file_path", "pipe.md").Refused, "no regular file")
	s.want(s.call("Write", "file_path", "pipe.md", "content", "x").Refused, "no regular file")
	s.want(s.call("Read", "file_path", "pipe.md/x.md").Text, "is not a folder")
	s.want(s.call("Bash", "command", "cat pipe.md; cat < pipe.md; cat *").Refused, "no regular file")
	_ = s.ok("Grep", "pattern", ".")
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v", took)
	}
}
