package job

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

	"mem/core/settings"
	"mem/internal/need"
)

// childEnv makes this test binary another process: "what|state directory|argument".
const childEnv = "MEM_TEST_JOB"

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if err := child(strings.SplitN(what, "|", 3)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func child(f []string) error {
	j := Open(f[1], settings.FromOS())
	switch f[0] {
	case "create": // so many records
		n, err := strconv.Atoi(f[2])
		for range n {
			if err == nil {
				_, err = j.Create(Record{Kind: Extract})
			}
		}
		return err
	case "count": // up a shared record, so many times
		id, n, _ := strings.Cut(f[2], ",")
		times, err := strconv.Atoi(n)
		for range times {
			if err == nil {
				_, err = j.Update(id, func(r *Record) error { r.Turns++; return nil })
			}
		}
		return err
	case "begin": // and work until cancelled
		ctx, run, err := j.Begin(context.Background(), f[2])
		if err != nil {
			return err
		}
		fmt.Println("begun")
		select {
		case <-ctx.Done():
			return run.End(Cancelled, func(r *Record) { r.Reason = context.Cause(ctx).Error() })
		case <-time.After(20 * time.Second):
			return errors.New("nobody cancelled")
		}
	case "lock":
		unlock, ok, err := j.TryLock(f[2])
		if err != nil || !ok {
			return fmt.Errorf("no lock: %v", err)
		}
		defer unlock()
		fmt.Println("locked")
		time.Sleep(20 * time.Second)
	case "detach": // a grandchild that outlives us
		pid, err := Detach(Program{Path: os.Args[0], Env: []string{childEnv + "=say||" + f[2]}, Log: filepath.Join(f[1], "log")})
		fmt.Println(pid)
		return err
	case "say":
		time.Sleep(300 * time.Millisecond)
		fmt.Println("out", len(os.Environ()))
		fmt.Fprintln(os.Stderr, "err")
		return os.WriteFile(f[2], []byte("done"), 0o600)
	}
	return nil
}

func command(t *testing.T, what ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	// Under the race detector a process waits a second before it exits.
	c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childEnv+"="+strings.Join(what, "|"))
	c.Stderr = os.Stderr
	return c
}

// start starts another process and waits for its first line.
func start(t *testing.T, what ...string) *exec.Cmd {
	t.Helper()
	c := command(t, what...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	if _, err := out.Read(make([]byte, 64)); err != nil {
		t.Fatalf("%v said nothing: %v", what, err)
	}
	return c
}

func TestManyProcesses(t *testing.T) {
	j, _ := scene(t)
	shared := create(t, j, Record{})
	const processes, each = 8, 10
	var wg sync.WaitGroup
	for i := range processes {
		what, arg := "create", fmt.Sprint(each)
		if i%2 == 0 {
			what, arg = "count", fmt.Sprintf("%s,%d", shared.ID, each)
		}
		wg.Go(func() {
			if out, err := command(t, what, j.state, arg).Output(); err != nil {
				t.Errorf("%s: %v %s", what, err, out)
			}
		})
	}
	wg.Wait()
	if got := get(t, j, shared.ID); got.Turns != processes/2*each {
		t.Errorf("counted %d, want %d", got.Turns, processes/2*each)
	}
	if got := list(t, j, ListOptions{}); len(got) != processes/2*each+1 {
		t.Errorf("%d records", len(got))
	}
	left, err := filepath.Glob(filepath.Join(j.dir, "*"+tempExt))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestCancelFromAnotherProcess(t *testing.T) {
	j, _ := scene(t)
	r := create(t, j, Record{})
	c := start(t, "begin", j.state, r.ID)
	if got := get(t, j, r.ID); got.State != Running || got.Process != c.Process.Pid {
		t.Errorf("got %+v", got)
	}
	var busy *BusyError
	if _, _, err := j.Begin(t.Context(), r.ID); !errors.As(err, &busy) {
		t.Errorf("a second begin gives %v", err)
	}
	began := time.Now()
	if _, err := j.Cancel(r.ID); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	if got := get(t, j, r.ID); got.State != Cancelled || got.Reason != ErrCancelled.Error() || got.Ended.IsZero() {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(j.cancelFile(r.ID)); !os.IsNotExist(err) {
		t.Errorf("the word to stop stays: %v", err)
	}
}

func TestKilled(t *testing.T) {
	j, _ := scene(t)
	r := create(t, j, Record{})
	c := start(t, "begin", j.state, r.ID)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	got := get(t, j, r.ID)
	if got.State != Lost || got.Ended.IsZero() || !strings.Contains(got.Reason, fmt.Sprint(c.Process.Pid)) {
		t.Errorf("got %+v", got)
	}
	if open := list(t, j, ListOptions{Open: true}); len(open) != 0 {
		t.Errorf("still open: %v", open)
	}
	if _, _, err := j.Begin(t.Context(), r.ID); err == nil {
		t.Error("a lost job was begun again")
	}
	if got, err := j.Cancel(r.ID); err != nil || got.State != Lost {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPidReuse(t *testing.T) {
	self := os.Getpid()
	start := ProcessStart(self)
	if start == "" {
		t.Fatal("no start time of this process")
	}
	if !Alive(self, start) || !Alive(self, "") || ProcessStart(self) != start {
		t.Error("this process is dead")
	}
	if Alive(self, start+"0") {
		t.Error("another process with this pid lives")
	}
	if Alive(0, "") || Alive(-1, "") || Alive(self, "garbage") || ProcessStart(-5) != "" {
		t.Error("no process lives")
	}
	j, _ := scene(t)
	r := create(t, j, Record{})
	if _, err := j.Update(r.ID, func(r *Record) error {
		r.State, r.Process, r.ProcessStart = Running, self, start+"0"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := get(t, j, r.ID); got.State != Lost {
		t.Errorf("got %+v", got)
	}
}

func TestProcessWhereWeCannotLook(t *testing.T) {
	need.System(t, runtime.GOOS != "freebsd", "start times of processes are not told")
	_, rest, _ := strings.Cut(ProcessStart(os.Getpid()), ":")
	elsewhere := "ffffffff:" + rest
	if runtime.GOOS == "linux" {
		parts := strings.Split(rest, ":")
		elsewhere = "ffffffff:another-boot:" + parts[1] + ":" + parts[2]
		otherContainer := machine() + ":" + parts[0] + ":1:" + parts[2]
		if !Alive(os.Getpid(), otherContainer) {
			t.Error("one in another container counts as dead")
		}
		if Alive(os.Getpid(), machine()+":another-boot:"+parts[1]+":"+parts[2]) {
			t.Error("one from before the machine was started anew lives")
		}
	}
	if !Alive(1<<22-7, elsewhere) {
		t.Error("one on another machine counts as dead")
	}
	j, c := scene(t)
	c.at = time.Now()
	r := create(t, j, Record{})
	if _, err := j.Update(r.ID, func(r *Record) error {
		r.State, r.Process, r.ProcessStart = Running, 1<<22-7, elsewhere
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := get(t, j, r.ID); got.State != Running {
		t.Errorf("got %+v", got)
	}
	c.move(unseenAfter + time.Minute)
	if got := get(t, j, r.ID); got.State != Lost || !strings.Contains(got.Reason, "another machine") {
		t.Errorf("got %+v", got)
	}
}

func TestLockBetweenProcesses(t *testing.T) {
	j, _ := scene(t)
	c := start(t, "lock", j.state, "extract")
	if _, ok, err := j.TryLock("extract"); ok || err != nil {
		t.Errorf("got %v %v", ok, err)
	}
	unlock, ok, err := j.TryLock("session-memory-1")
	if !ok || err != nil {
		t.Fatalf("got %v %v", ok, err)
	}
	if _, again, err := j.TryLock("session-memory-1"); again || err != nil {
		t.Errorf("taken twice: %v", err)
	}
	unlock()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	unlock, ok, err = j.TryLock("extract")
	if !ok || err != nil {
		t.Fatalf("the lock of a dead process stays: %v %v", ok, err)
	}
	unlock()
	for _, name := range []string{"", "..", "a/b", "A", "-x", strings.Repeat("a", 65)} {
		if _, _, err := j.TryLock(name); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

// A process that is detached outlives its parent, and nobody waits for its output who
// waits for the parent's.
func TestDetach(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	began := time.Now()
	out, err := command(t, "detach", dir, mark).Output() // waits for the end of output
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Errorf("the parent waited %s for its child", time.Since(began))
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || !Alive(pid, "") {
		t.Fatalf("process %q does not run: %v", out, err)
	}
	for end := time.Now().Add(10 * time.Second); Alive(pid, "") && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if b, err := os.ReadFile(mark); string(b) != "done" {
		t.Errorf("got %q, %v", b, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || string(b) != "out 1\nerr\n" {
		t.Errorf("log %q, %v", b, err)
	}
	if _, err := Detach(Program{Path: filepath.Join(dir, "missing")}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
}
