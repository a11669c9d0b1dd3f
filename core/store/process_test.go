package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
)

// writerEnv makes this test binary a process that writes memories: its value is
// "directory|state|name|count".
const writerEnv = "MEM_TEST_WRITER"

func TestMain(m *testing.M) {
	if job := os.Getenv(writerEnv); job != "" {
		if err := writerProcess(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(lockerEnv); dir != "" {
		if err := lockerProcess(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writerProcess writes count memories and acknowledges each on standard output.
func writerProcess(job string) error {
	f := strings.Split(job, "|")
	count, err := strconv.Atoi(f[3])
	if err != nil {
		return err
	}
	s, err := New(Options{Directory: f[0], StateDir: f[1], Actor: f[2], Origin: f[2], LockWait: time.Minute})
	if err != nil {
		return err
	}
	for i := range count {
		m := memory(fmt.Sprintf("%s-%d", f[2], i), strings.Repeat("body of "+f[2]+"\n", 20))
		v, err := s.View(context.Background())
		if err != nil {
			return err
		}
		p, _, err := v.Place(m)
		if err != nil {
			return err
		}
		c, err := v.Create(p, m, memdir.Stamp{Origin: f[2], Now: time.Now()})
		if err != nil {
			return err
		}
		if _, err := s.Apply(context.Background(), c, How{}); err != nil {
			return err
		}
		fmt.Println(p)
	}
	return s.Close()
}

// writer starts a writing process and collects what it acknowledges.
type writer struct {
	cmd   *exec.Cmd
	acked chan []string
	errs  strings.Builder
}

func startWriter(t *testing.T, dir, state, name string, count int) *writer {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{cmd: exec.Command(exe), acked: make(chan []string, 1)}
	w.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%s|%d", writerEnv, dir, state, name, count))
	w.cmd.Stderr = &w.errs
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		var paths []string
		for sc := bufio.NewScanner(out); sc.Scan(); {
			paths = append(paths, sc.Text())
		}
		w.acked <- paths
	}()
	return w
}

func (w *writer) wait() ([]string, error) {
	paths := <-w.acked
	return paths, w.cmd.Wait()
}

// checkWhole reports everything that is torn, lost or left behind.
func checkWhole(t *testing.T, dir, state string, acked []string) {
	t.Helper()
	s := reopen(t, dir, state)
	v := view(t, s)
	if len(v.Losses) > 0 {
		t.Errorf("reported as lost: %v", v.Losses)
	}
	for _, p := range acked {
		topic := v.Topic(p)
		if topic == nil {
			t.Errorf("acknowledged topic %s is gone", p)
			continue
		}
		if v.Index.Entry(p) == nil {
			t.Errorf("acknowledged entry of %s is gone", p)
		}
	}
	for _, topic := range v.Topics {
		b, err := v.Load(topic)
		if err != nil {
			t.Errorf("%s: %v", topic.Path, err)
			continue
		}
		if len(b.File.Problems) > 0 || !strings.HasSuffix(b.File.Text.String(), "\n") || topic.Meta.OriginSessionID == "" {
			t.Errorf("%s is torn: %q", topic.Path, b.File.Text.String())
		}
		if v.Index.Entry(topic.Path) == nil {
			t.Errorf("%s has no entry: the change was made by half", topic.Path)
		}
	}
	for _, e := range v.Index.Entries {
		if v.Topic(e.Target) == nil {
			t.Errorf("the entry of %s has no topic: the change was made by half", e.Target)
		}
	}
	onlyOurs(t, s)
}

func TestManyProcessesLoseNothing(t *testing.T) {
	const processes, each = 32, 25
	base := t.TempDir()
	dir, state := filepath.Join(base, "memory"), filepath.Join(base, "state")
	var writers []*writer
	for i := range processes {
		writers = append(writers, startWriter(t, dir, state, fmt.Sprintf("p%d", i), each))
	}
	var acked []string
	for _, w := range writers {
		paths, err := w.wait()
		if err != nil {
			t.Errorf("a writer failed: %v: %s", err, w.errs.String())
		}
		acked = append(acked, paths...)
	}
	if len(acked) != processes*each {
		t.Errorf("%d acknowledged, want %d", len(acked), processes*each)
	}
	checkWhole(t, dir, state, acked)
	v := view(t, reopen(t, dir, state))
	if len(v.Topics) != processes*each || len(v.Index.Entries) != processes*each {
		t.Errorf("%d topics and %d entries, want %d of each", len(v.Topics), len(v.Index.Entries), processes*each)
	}
}

// kills is how many processes are killed; make soak sets more.
func kills(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("MEM_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return 10
	}
	return 100
}

func TestKilledAtAnyInstant(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, state := filepath.Join(base, "memory"), filepath.Join(base, "state")
	var acked []string
	for i := range kills(t) {
		w := startWriter(t, dir, state, fmt.Sprintf("k%d", i), 1000)
		time.Sleep(time.Duration(10+rand.IntN(60)) * time.Millisecond)
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		paths, _ := w.wait() // killed: the error is the point
		acked = append(acked, paths...)
		if i%10 == 9 {
			checkWhole(t, dir, state, acked)
			if t.Failed() {
				t.FailNow()
			}
			if len(acked) > 400 { // keep each round short
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				acked = nil
				if err := os.RemoveAll(state); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestWriterWithoutLocks lets a program that takes no lock rewrite the index
// from what it read before, while processes of ours write.
func TestWriterWithoutLocks(t *testing.T) {
	base := t.TempDir()
	dir, state := filepath.Join(base, "memory"), filepath.Join(base, "state")
	s := reopen(t, dir, state)
	write(t, s, memory("first", "1"))
	pause := 5 * time.Millisecond
	if raceEnabled { // everything of ours takes ten times as long
		pause *= 10
	}
	stop := make(chan struct{})
	var rude sync.WaitGroup
	rude.Go(func() {
		index := filepath.Join(dir, memfile.IndexName)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			b, err := os.ReadFile(index)
			if err != nil {
				continue
			}
			time.Sleep(pause)
			// It keeps only its last lines, so that the index stays of a size.
			old := fmt.Sprintf("- [rude %d](rude-%d.md) — theirs\n", i-20, i-20)
			line := fmt.Sprintf("- [rude %d](rude-%d.md) — theirs\n", i, i)
			_ = os.WriteFile(index, []byte(line+strings.Replace(string(b), old, "", 1)), 0o644)
		}
	})
	var writers []*writer
	for i := range 4 {
		writers = append(writers, startWriter(t, dir, state, fmt.Sprintf("w%d", i), 25))
	}
	var acked []string
	for _, w := range writers {
		paths, err := w.wait()
		if err != nil {
			t.Errorf("a writer failed: %v: %s", err, w.errs.String())
		}
		acked = append(acked, paths...)
	}
	close(stop)
	rude.Wait()
	if len(acked) != 100 {
		t.Fatalf("%d acknowledged", len(acked))
	}
	restoreAll(t, s)
	v := view(t, s)
	for _, p := range acked {
		if v.Index.Entry(p) == nil || v.Topic(p) == nil {
			t.Errorf("%s is neither in the files nor was it reported and restored", p)
		}
	}
}

// restoreAll takes back every loss that the history holds.
func restoreAll(t *testing.T, s *Store) {
	t.Helper()
	view(t, s)
	events, more, err := s.History("", "", 10_000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.Op == OpVanished && e.UndoneBy == "" {
			if _, err := s.Undo(t.Context(), e.ID, How{}); err != nil {
				t.Errorf("restoring %s: %v", e.ID, err)
			}
		}
	}
}
