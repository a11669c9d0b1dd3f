package dream_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"mem/core/dream"
	"mem/core/memory"
	"mem/core/proposal"
)

func init() {
	dream.WholeRun = func(home string) int {
		m, err := openHome(home, func() time.Time { return now })
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("begins")
		if _, err := dream.Run(context.Background(), m, dream.RunOptions{Start: dream.Explicit, Policy: proposal.Apply, Fixer: fixer()}); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
}

// TestKilledDuringARun kills a dream at twenty moments (fewer under the race detector, more in make soak): memory is
// whole, as before or as after, and the next dream comes to the same end.
func TestKilledDuringARun(t *testing.T) {
	t.Parallel()
	g := generate(3, 40, 60)
	ref := newHome(t, g)
	before := files(ref.base)
	began := time.Now()
	ref.run(dream.RunOptions{Start: dream.Explicit, Policy: proposal.Apply})
	took := time.Since(began)
	after := files(ref.base)
	if maps.Equal(before, after) {
		t.Fatal("there is nothing to do in this memory")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	times := 20
	if dream.RaceEnabled {
		times = 8
	}
	if n, err := strconv.Atoi(os.Getenv("MEM_SOAK")); err == nil && n > 0 {
		times = 200
	}
	var untouched, done int
	for i := range times {
		h := newHome(t, g)
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), dream.EnvHome+"="+h.base, dream.EndAtOnce())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 16)); err != nil { // it begins now
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i) / time.Duration(times) * 3 / 2)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		m := h.open() // looking at it completes what was begun
		if _, _, err := m.View(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := m.History(context.Background(), memory.HistoryOptions{}); err != nil {
			t.Fatal(err)
		}
		mid := files(h.base)
		for p, s := range mid {
			if s != before[p] && s != after[p] {
				t.Errorf("kill %d: %s is neither as before nor as after:\n%s", i, p, s)
			}
		}
		switch {
		case maps.Equal(mid, before):
			untouched++
		case maps.Equal(mid, after):
			done++
		}
		h.Memory = m
		r := h.run(dream.RunOptions{Start: dream.Explicit, Policy: proposal.Apply})
		if r.Closed != nil {
			t.Errorf("kill %d: the next dream does not begin: %+v", i, r.Closed)
		}
		if end := files(h.base); !maps.Equal(end, after) {
			t.Errorf("kill %d: the next dream comes to another end", i)
		}
		if names, err := filepath.Glob(filepath.Join(h.base, "memory", ".mem-*")); err != nil || len(names) > 0 {
			t.Logf("kill %d: left %v", i, names)
		}
	}
	t.Logf("of %d kills %d left the memory as it was, %d as it was to be", times, untouched, done)
	if untouched == 0 && done == times {
		t.Error("no kill came in time: the test shows nothing")
	}
}
