package gate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSwap exchanges files and folders for links while calls run: between the check
// and the use is no gap.
func TestSwap(t *testing.T) {
	s := newScene(t)
	mem := func(name string) string { return filepath.Join(s.memory, name) }
	s.put("stage/memory/swap.md", "harmless\n")
	s.put("stage/memory/dir/notes.md", "harmless\n")
	s.put("stage/memory/dir/id_rsa", "harmless\n")
	s.link(filepath.Join(s.outside, "notes.md"), "link.aside")
	s.link(s.outside, "dir.aside")
	s.link(".consolidate-lock", "lock.aside")
	before := s.outsideState()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	exchange := func(name string, others ...string) {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				// Out of the way, the other one in, and back.
				other := mem(others[i%len(others)])
				if os.Rename(mem(name), mem(name+".real")) == nil {
					if os.Rename(other, mem(name)) == nil {
						_ = os.Rename(mem(name), other)
					}
					_ = os.Rename(mem(name+".real"), mem(name))
				}
			}
		})
	}
	exchange("swap.md", "link.aside", "lock.aside")
	exchange("dir", "dir.aside")
	deadline := time.Now().Add(swapTime())
	calls, good := 0, 0
	for time.Now().Before(deadline) {
		for _, c := range [][]any{
			{"Read", "file_path", "/memory/swap.md"},
			{"Read", "file_path", "/memory/dir/notes.md"},
			{"Grep", "pattern", ".", "output_mode", "content"},
			{"Grep", "pattern", ".", "output_mode", "content", "path", "/memory/dir"},
			{"Glob", "pattern", "**"},
			{"Bash", "command", "cat swap.md dir/notes.md dir/*; ls -R dir; grep -r . dir; cat < swap.md"},
			{"Bash", "command", "cd dir && cat notes.md id_rsa .ssh/id_rsa; for f in */* ../dir/*/*; do cat $f; done; cat < etc/passwd; sort notes.md; find . -type f | xargs cat"},
			{"Write", "file_path", "/memory/dir/made.md", "content", "made"},
			{"Write", "file_path", "/memory/dir/notes.md", "content", "harmless\n"},
			{"Edit", "file_path", "/memory/swap.md", "old_string", "harmless", "new_string", "harmless "},
		} {
			got := s.call(c[0].(string), c[1:]...)
			if strings.Contains(got.Text, canary) {
				t.Fatalf("%v reads what it may not:\n%s", c, got.Text)
			}
			calls++
			if got.Refused == "" && !got.Failed {
				good++
			}
		}
	}
	close(stop)
	wg.Wait()
	if after := s.outsideState(); after != before {
		t.Errorf("something outside has changed:\n%s\n---\n%s", before, after)
	}
	t.Logf("%d calls, %d worked", calls, good)
	if good == 0 {
		t.Error("nothing ever worked, so nothing was tested")
	}
	if _, err := os.Lstat(filepath.Join(s.outside, "made.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was written outside")
	}
}

// swapTime is how long TestSwap runs.
func swapTime() time.Duration {
	if os.Getenv("MEM_SOAK") != "" {
		return 30 * time.Second
	}
	return 500 * time.Millisecond
}
