package dream

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test program is its own second process: with these variables it is one that
// dreams, told what to do on its input, one line for one answer.
const (
	envMemory = "MEM_TEST_DREAM_MEMORY"
	envState  = "MEM_TEST_DREAM_STATE"
	envKillAt = "MEM_TEST_DREAM_KILL_AT" // "n step": at the n-th time that it gets to this step
	envLacks  = "MEM_TEST_DREAM_LACKS"   // what the file system does not have
)

// WholeRun dreams in a second process, in a home; the tests of the package dream_test set it.
var WholeRun func(home string) int

const EnvHome = "MEM_TEST_DREAM_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(EnvHome); home != "" {
		os.Exit(WholeRun(home))
	}
	if dir := os.Getenv(envMemory); dir != "" {
		os.Exit(dreamer(dir, os.Getenv(envState)))
	}
	// Properties are of one goroutine: make test draws many without the race detector.
	if RaceEnabled {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func dreamer(dir, state string) int {
	l := &Lock{Directory: dir, State: state, Now: time.Now, lacks: lacking(os.Getenv(envLacks))}
	if n, step, ok := strings.Cut(os.Getenv(envKillAt), " "); ok {
		left, _ := strconv.Atoi(n)
		l.instant = func(at string) {
			if at != step {
				return
			}
			if left--; left == 0 {
				killSelf()
			}
		}
	}
	var h *Held
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var err error
		word := "ok"
		switch in.Text() {
		case "take":
			if h, err = l.Take("job", nil); err == nil {
				word = "held"
			}
		case "auto": // takes where it is due, and is over at once
			if h, err = l.Take("job", func(last time.Time) string {
				if time.Since(last) < time.Hour {
					return "not due"
				}
				return ""
			}); err == nil {
				if err = h.Done(); err == nil {
					word = "ran"
				}
			}
		case "done":
			err = h.Done()
		case "rollback":
			err = h.Rollback()
		}
		var busy *BusyError
		var due *NotDueError
		switch {
		case errors.As(err, &busy):
			word = "busy"
		case errors.As(err, &due):
			word = "not due"
		case err != nil:
			word = "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		fmt.Println(word)
	}
	return 0
}

// lacking gives a file system that lacks something, as Lock knows it.
func lacking(what string) func(string) error {
	return func(s string) error {
		if what != "" && strings.Contains(what, s) {
			return errors.ErrUnsupported
		}
		return nil
	}
}

// Kinds of file systems, by what they lack.
const (
	lackNone   = ""
	lackRename = "exclusive rename"
	lackBoth   = "exclusive rename, hard link"
)

func killSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

// EndAtOnce is a variable of the environment for second processes: under the race detector
// a process sleeps a second before it ends, so that its other goroutines may still report.
// All that these do is over by then.
func EndAtOnce() string {
	return "GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")
}

// process is a second process.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startDreamer(t *testing.T, dir, state string, env ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envMemory+"="+dir, envState+"="+state, EndAtOnce())
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(p.end)
	return p
}

func (p *process) end() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// ask gives the answer to one line, "" where the process died.
func (p *process) ask(line string) string {
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		return ""
	}
	if !p.out.Scan() {
		return ""
	}
	return p.out.Text()
}

// askAll asks all processes at the same moment.
func askAll(all []*process, line string) (words map[string][]int) {
	words = map[string][]int{}
	var mu sync.Mutex
	var ready, wg sync.WaitGroup
	gun := make(chan struct{})
	for i, p := range all {
		ready.Add(1)
		wg.Go(func() {
			ready.Done()
			<-gun
			w := p.ask(line)
			mu.Lock()
			defer mu.Unlock()
			words[w] = append(words[w], i)
		})
	}
	ready.Wait()
	close(gun)
	wg.Wait()
	return words
}

func rounds(least int) int {
	if n, err := strconv.Atoi(os.Getenv("MEM_SOAK")); err == nil && n > 0 {
		return 10 * least
	}
	return least
}

func TestOneOfSixteenProcessesRuns(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	var all []*process
	for range 16 {
		all = append(all, startDreamer(t, dir, state))
	}
	lock := filepath.Join(dir, LockName)
	for round := range rounds(10) {
		// A dream that takes its time, from no lock file and from an emptied one.
		if round%2 == 0 {
			_ = os.Remove(lock)
		}
		words := askAll(all, "take")
		if len(words["held"]) != 1 || len(words["busy"]) != 15 {
			t.Fatalf("round %d: %v", round, words)
		}
		how := []string{"done", "rollback"}[round/2%2]
		if w := all[words["held"][0]].ask(how); w != "ok" {
			t.Fatalf("round %d: %s: %s", round, how, w)
		}
		// A dream that is over before the others look: they see that it is not due.
		old := time.Now().Add(-25 * time.Hour)
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock, old, old); err != nil {
			t.Fatal(err)
		}
		words = askAll(all, "auto")
		if len(words["ran"]) != 1 || len(words["busy"])+len(words["not due"]) != 15 {
			t.Fatalf("round %d, by itself: %v", round, words)
		}
	}
}

// TestOneOfSixteenRunsWithoutLockFile is the race for the first dream of all: whoever
// comes late sees that it has happened, on any file system.
func TestOneOfSixteenRunsWithoutLockFile(t *testing.T) {
	for _, lacks := range []string{lackNone, lackRename, lackBoth} {
		t.Run("without "+lacks, func(t *testing.T) {
			dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
			var all []*process
			for range 16 {
				all = append(all, startDreamer(t, dir, state, envLacks+"="+lacks))
			}
			for round := range rounds(10) {
				_ = os.Remove(filepath.Join(dir, LockName))
				words := askAll(all, "auto")
				if len(words["ran"]) != 1 || len(words["busy"])+len(words["not due"]) != 15 {
					t.Fatalf("round %d: %v", round, words)
				}
			}
			names, err := os.ReadDir(dir)
			if err != nil || len(names) != 1 {
				t.Fatalf("left behind: %v, %v", names, err)
			}
		})
	}
}

// TestKilledAnywhere kills a dream at every step at which the lock file and the record
// may differ: afterwards nobody holds the lock, and the next dream is as due as it should be.
func TestKilledAnywhere(t *testing.T) {
	const none, some = false, true
	for _, c := range []struct {
		at    string
		prior bool
		end   string
		over  bool // the success counts
		lacks string
	}{
		{"1 create: temp", none, "done", false, lackNone},
		{"1 create: locked", none, "done", false, lackNone},
		{"1 create: named", none, "done", false, lackNone},
		{"1 create: named", none, "done", false, lackRename},
		{"1 create: looked", none, "done", false, lackBoth},
		{"1 create: named", none, "done", false, lackBoth},
		{"1 create: temp removed", none, "done", false, lackNone},
		{"1 create: temp removed", none, "done", false, lackRename},
		{"1 begin: recorded", none, "done", false, lackNone},
		{"1 begin: recorded", some, "done", false, lackNone},
		{"1 put: truncated", none, "done", false, lackNone},
		{"1 put: truncated", some, "done", false, lackNone},
		{"1 put: written", some, "done", false, lackNone},
		{"1 put: timed", none, "done", false, lackNone},
		{"1 put: timed", some, "done", false, lackNone},
		{"1 done: recorded", none, "done", true, lackNone},
		{"1 done: recorded", some, "done", true, lackNone},
		{"2 put: truncated", some, "done", true, lackNone},
		{"2 put: written", some, "done", true, lackNone},
		{"2 put: timed", some, "done", true, lackNone},
		{"1 rollback: recorded", none, "rollback", false, lackNone},
		{"1 rollback: recorded", some, "rollback", false, lackNone},
		{"1 restore: removed", none, "rollback", false, lackNone},
		{"2 put: truncated", some, "rollback", false, lackNone},
		{"2 put: written", some, "rollback", false, lackNone},
		{"2 put: timed", some, "rollback", false, lackNone},
		{"1 rollback: over", none, "rollback", false, lackNone},
		{"1 rollback: over", some, "rollback", false, lackNone},
	} {
		t.Run(fmt.Sprintf("%s/%t/%s/without %s", strings.ReplaceAll(c.at, " ", "_"), c.prior, c.end, c.lacks), func(t *testing.T) {
			t.Parallel()
			dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
			lock := filepath.Join(dir, LockName)
			var before time.Time
			if c.prior {
				before = time.Now().Add(-30 * time.Hour).Truncate(time.Second)
				if err := errors.Join(os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, before, before)); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			p := startDreamer(t, dir, state, envKillAt+"="+c.at, envLacks+"="+c.lacks)
			if w := p.ask("take"); w == "held" {
				if w = p.ask(c.end); w != "" {
					t.Fatalf("it said %q where it should have died", w)
				}
			} else if w != "" {
				t.Fatalf("it said %q where it should have died", w)
			}
			p.end()

			l := &Lock{Directory: dir, State: state}
			check := func(when string) {
				t.Helper()
				st, err := l.Standing()
				if err != nil {
					t.Fatal(err)
				}
				if st.Holder != 0 {
					t.Errorf("%s: process %d holds the lock", when, st.Holder)
				}
				if c.over && st.Last.Before(began.Add(-time.Second)) || !c.over && !st.Last.Equal(before) {
					t.Errorf("%s: the last success is %v; before it was %v, over is %t", when, st.Last, before, c.over)
				}
			}
			check("after the crash")
			if err := l.Mend(); err != nil {
				t.Fatal(err)
			}
			check("mended")
			info, err := os.Lstat(lock)
			switch {
			case c.over:
			case !c.prior && !errors.Is(err, os.ErrNotExist):
				t.Errorf("there is a lock file after the mending: %v, %v", info, err)
			case c.prior && (err != nil || !info.ModTime().Equal(before)):
				t.Errorf("other programs see a dream at %v: %v", info, err)
			}
			h, err := l.Take("next", nil)
			if err != nil {
				t.Fatal(err)
			}
			if !h.Last.Equal(before) && !c.over {
				t.Errorf("the next run is told of a success at %v", h.Last)
			}
			if err := h.Done(); err != nil {
				t.Fatal(err)
			}
			if st, err := l.Standing(); err != nil || !st.Last.Equal(h.Began) || st.Holder != 0 {
				t.Errorf("after the next run: %+v, %v", st, err)
			}
		})
	}
}
