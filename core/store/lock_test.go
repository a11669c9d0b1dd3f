package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mem/core/memdir"
)

// lockerEnv makes this test binary a foreign process that takes the flock on the
// directory it names, says so, and keeps it until its input ends.
const lockerEnv = "MEM_TEST_LOCKER"

func lockerProcess(dir string) error {
	l := newFlock(dir, filepath.Dir(dir))
	if err := l.Lock(); err != nil {
		return err
	}
	fmt.Println("locked")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return l.Unlock()
}

// holdLock lets another process take the lock of a directory.
func holdLock(t *testing.T, s *Store) (pid int, letGo func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := s.Directory()
	if runtime.GOOS == "windows" {
		dir = filepath.Join(s.StateDirectory(), "memory")
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), lockerEnv+"="+dir)
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
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	letGo = func() { once.Do(func() { _ = in.Close(); _ = cmd.Wait() }) }
	t.Cleanup(letGo)
	return cmd.Process.Pid, letGo
}

func logChange() memdir.LogNote { return memdir.LogNote{Body: "noted"} }

func TestLockOfAForeignProcess(t *testing.T) {
	s := open(t, func(o *Options) { o.LockWait = 150 * time.Millisecond })
	write(t, s, memory("one", "1"))
	pid, letGo := holdLock(t, s)
	for range 3 { // waits that were given up do not pile up
		start := time.Now()
		_, err := s.Apply(t.Context(), memdir.Log(logChange(), stamp), How{})
		var locked *LockedError
		if !errors.As(err, &locked) {
			t.Fatalf("err = %v", err)
		}
		if took := time.Since(start); took < 150*time.Millisecond || took > 3*time.Second {
			t.Errorf("waited %v", took)
		}
		if runtime.GOOS == "linux" && !strings.Contains(locked.Holder, strconv.Itoa(pid)) {
			t.Errorf("holder %q, want process %d", locked.Holder, pid)
		}
		if !strings.Contains(err.Error(), s.Directory()) || !strings.Contains(err.Error(), "Nothing was written") {
			t.Errorf("error %v", err)
		}
	}
	// Reading goes on.
	if v := view(t, s); len(v.Topics) != 1 {
		t.Errorf("%d topics", len(v.Topics))
	}
	letGo()
	if _, err := s.Apply(t.Context(), memdir.Log(logChange(), stamp), How{}); err != nil {
		t.Errorf("after it let go: %v", err)
	}
	if _, err := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory())).Apply(t.Context(), memdir.Log(logChange(), stamp), How{}); err != nil {
		t.Errorf("another store, after it let go: %v", err)
	}
}

func TestLockIsGivenUpAtOnce(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	_, letGo := holdLock(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(30*time.Millisecond, cancel)
	start := time.Now()
	_, err := s.Apply(ctx, memdir.Log(logChange(), stamp), How{})
	if !errors.Is(err, context.Canceled) || time.Since(start) > 2*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
	if _, err := s.Apply(ctx, memdir.Log(logChange(), stamp), How{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	deadline, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := s.Apply(deadline, memdir.Log(logChange(), stamp), How{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a deadline of the caller: %v", err)
	}
	letGo()
	// The wait that was given up lets go of the lock when it gets it.
	time.Sleep(20 * time.Millisecond)
	if _, err := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory())).Apply(t.Context(), memdir.Log(logChange(), stamp), How{}); err != nil {
		t.Error(err)
	}
}

func TestLockWithinTheProcess(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	other := reopen(t, s.Directory(), filepath.Dir(s.StateDirectory()), func(o *Options) { o.LockWait = 50 * time.Millisecond })
	_, unlock, err := s.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var locked *LockedError
	if _, err := other.Apply(t.Context(), memdir.Log(logChange(), stamp), How{}); !errors.As(err, &locked) || !strings.Contains(err.Error(), "process") {
		t.Errorf("err = %v", err)
	}
}

func TestHolderSaysSoWhenItTakesLong(t *testing.T) {
	s := open(t, func(o *Options) { o.Actor = "mem-test" })
	_, unlock, err := s.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(holderAfter + 100*time.Millisecond)
	unlock()
	b, err := os.ReadFile(filepath.Join(s.StateDirectory(), holderFile))
	if err != nil || !strings.Contains(string(b), "mem-test") || !strings.Contains(string(b), strconv.Itoa(os.Getpid())) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestDirectoryReplaced puts another directory in the place of the memory
// directory at each instant of a write: what is acknowledged is in the new one.
func TestDirectoryReplaced(t *testing.T) {
	sc := scenarios()[1]
	_, ops := sc.rehearse(t)
	for k := 1; k <= ops.n; k++ {
		st := sc.stage(t)
		c := &counter{at: map[int]func() error{k: func() error {
			if err := os.Rename(st.dir, st.dir+".old"); err != nil {
				return err
			}
			return os.Mkdir(st.dir, 0o755)
		}}}
		r, err := sc.act(t, st.open(t, c))
		if err != nil {
			if !strings.Contains(err.Error(), st.dir) && !errors.As(err, new(*ConflictError)) {
				t.Errorf("replaced at %s: %v", ops.op(k), err)
			}
			continue
		}
		files := tree(t, st.dir)
		for _, f := range r.Files {
			if files[f.Path] != f.After && k < ops.n-4 {
				t.Errorf("replaced at %s: acknowledged, and %s is not there", ops.op(k), f.Path)
			}
		}
	}
}

func TestDirectoryReplacedBetweenWrites(t *testing.T) {
	s := open(t)
	write(t, s, memory("one", "1"))
	if err := os.RemoveAll(s.Directory()); err != nil {
		t.Fatal(err)
	}
	if v := view(t, s); v.Exists || len(v.Topics) > 0 {
		t.Errorf("exists %v, %d topics", v.Exists, len(v.Topics))
	}
	write(t, s, memory("two", "2"))
	if got := readFile(t, s, "MEMORY.md"); got != "- [two](two.md) — about two\n" {
		t.Errorf("index %q", got)
	}
}

func TestMemoryDirectoryIsALink(t *testing.T) {
	base := t.TempDir()
	real := filepath.Join(base, "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "memory")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	s, other := reopen(t, link, filepath.Join(base, "state")), reopen(t, real, filepath.Join(base, "state"))
	if s.Directory() != other.Directory() || s.StateDirectory() != other.StateDirectory() {
		t.Errorf("%s %s, %s %s", s.Directory(), s.StateDirectory(), other.Directory(), other.StateDirectory())
	}
	r := write(t, s, memory("one", "1"))
	if _, err := other.Undo(t.Context(), r.ID, How{}); err != nil {
		t.Error(err)
	}
}

// TestManyGoroutines lets two stores in one process write from many goroutines,
// while others read.
func TestManyGoroutines(t *testing.T) {
	const writers, each = 8, 5
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	base := fastDir(t)
	dir, state := filepath.Join(base, "memory"), filepath.Join(base, "state")
	stores := []*Store{reopen(t, dir, state), reopen(t, dir, state)}
	var wg sync.WaitGroup
	for w := range writers {
		s := stores[w%2]
		wg.Go(func() {
			for i := range each {
				v, err := s.View(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				p := fmt.Sprintf("w%d-%d.md", w, i)
				c, err := v.Create(p, memory(strings.TrimSuffix(p, ".md"), "text"), stamp)
				if err != nil {
					t.Error(err)
					return
				}
				r, err := s.Apply(context.Background(), c, How{})
				if err != nil {
					t.Error(err)
					return
				}
				if i == each-1 {
					if _, err := s.Undo(context.Background(), r.ID, How{}); err != nil {
						t.Error(err)
					}
				}
				if _, _, err := s.History("", "", 10); err != nil {
					t.Error(err)
				}
				if _, ok := s.Base(r.Files[0].Hash); !ok {
					t.Errorf("no base for %s", p)
				}
			}
		})
	}
	wg.Wait()
	v := view(t, stores[0])
	if want := writers * (each - 1); len(v.Topics) != want || len(v.Index.Entries) != want || len(v.Losses) > 0 {
		t.Errorf("%d topics, %d entries, losses %v; want %d", len(v.Topics), len(v.Index.Entries), v.Losses, want)
	}
}
