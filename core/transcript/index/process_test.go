package index

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"mem/internal/need"
)

// childVariable makes the test binary a process that updates an index: it holds
// the directory of the index and that of the sessions.
const childVariable = "MEM_INDEX_CHILD"

func child() int {
	dir, sessions, _ := strings.Cut(os.Getenv(childVariable), "|")
	err := func() error {
		ctx := context.Background()
		x, err := Open(ctx, Options{Dir: dir})
		if err != nil {
			return err
		}
		defer x.Close()
		for range 5 {
			if _, err := x.Update(ctx, sourcesIn(sessions), UpdateOptions{}); err != nil {
				return err
			}
			if _, err := x.Search(ctx, Query{Text: "shared word"}); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func sourcesIn(dir string) []Source {
	names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	sort.Strings(names)
	var out []Source
	for _, n := range names {
		out = append(out, Source{n, strings.TrimSuffix(filepath.Base(n), ".jsonl"), "p"})
	}
	return out
}

func TestEightProcesses(t *testing.T) {
	need.Asked(t, !testing.Short(), "starts processes")
	dir, sessions := t.TempDir(), t.TempDir()
	var all []*session
	for i := range 20 {
		s := newSession(t, sessions, fmt.Sprint("s", i))
		for k := range 40 {
			s.prompt(fmt.Sprintf("shared word number%dof%d", k, i))
		}
		all = append(all, s)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+dir+"|"+sessions)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	// Meanwhile sessions go on.
	for k := range 40 {
		for _, s := range all {
			s.prompt(fmt.Sprintf("shared word later%dof%s", k, s.id))
		}
	}
	wg.Wait()
	x := open(t, Options{Dir: dir})
	update(t, x, sourcesIn(sessions)...)
	var entries, terms, distinct int
	for into, q := range map[*int]string{
		&entries: "SELECT count(*) FROM entry", &terms: "SELECT count(*) FROM term WHERE term MATCH 'share'",
		&distinct: "SELECT count(DISTINCT uuid) FROM entry",
	} {
		if err := scanOne(t.Context(), x.db, into, q); err != nil {
			t.Fatal(err)
		}
	}
	if want := 20 * 80; entries != want || terms != want || distinct != want {
		t.Errorf("%d entries, %d in FTS5, %d distinct; want %d", entries, terms, distinct, want)
	}
	if len(x.Notices()) > 0 {
		t.Error(x.Notices())
	}
}
