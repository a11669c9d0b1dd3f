package sessions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mem/core/memory"
	"mem/core/transcript"
)

// childVariable makes the test binary a process that works on sessions until it is killed: it
// holds what it does and the home it does it in.
const childVariable = "MEM_SESSIONS_CHILD"

// child says that it begins, and then each uuid that it was told is recorded.
func child() error {
	what, home, _ := strings.Cut(os.Getenv(childVariable), "|")
	env := envOf(home, time.Now, func(string) (string, bool) { return "", false })
	m, err := memory.Open(memory.Options{Env: env})
	if err != nil {
		return err
	}
	defer m.Close()
	s := Open(m, Options{Version: "test"})
	defer s.Close()
	ctx := context.Background()
	fmt.Println("begins")
	switch what {
	case "search":
		_, err = s.Search(ctx, SearchOptions{Query: "quokka", Wait: time.Minute})
	case "archive":
		_, err = s.Archive(ctx, ArchiveOptions{Every: true})
	case "adopt":
		_, err = m.Adopt(ctx, memory.AdoptOptions{Old: filepath.Join(home, "before")})
	case "append":
		for range 200 {
			var r *transcript.Recorded
			r, err = s.Append(ctx, AppendOptions{Session: "shared", Entries: []transcript.Entry{{Role: "user", Text: strings.Repeat("recorded ", 500)}}})
			if err != nil {
				return err
			}
			fmt.Println(strings.Join(r.UUIDs, "\n"))
		}
	}
	return err
}

// TestKilled kills processes in the middle of indexing, archiving, recording and taking over, as many
// of each as MEM_KILLS says. Then all of it is done to its end, and nothing is lost, torn or there twice.
func TestKilled(t *testing.T) {
	kills := 3
	if v := os.Getenv("MEM_KILLS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	d := newDesk(t)
	d.env.Now = time.Now
	const topics, rows = 25, 400
	old := filepath.Join(d.env.Home, "before")
	contents := map[string]string{}
	for i := range 6 {
		id, cwd := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), d.env.Cwd
		if i >= 4 {
			cwd = old
		}
		said := make([]string, rows)
		for k := range said {
			said[k] = fmt.Sprintf("quokka %d of %d %s", k, i, strings.Repeat("and what else was said ", 40))
		}
		contents[id] = talk(id, cwd, said...)
		d.write(filepath.Join(d.folder(cwd), id+".jsonl"), contents[id], time.Hour)
	}
	index := ""
	for i := range topics {
		name := fmt.Sprintf("topic-%d", i)
		d.write(filepath.Join(d.folder(old), "memory", name+".md"), fmt.Sprintf("---\nname: %s\ndescription: about %d\ntype: project\n---\n\ntext %d\n", name, i, i), time.Hour)
		index += fmt.Sprintf("- [%s](%s.md) — about %d\n", name, name, i)
	}
	d.write(filepath.Join(d.folder(old), "memory", "MEMORY.md"), index, time.Hour)

	recorded := map[string]bool{}
	whole := map[string]time.Duration{} // how long each takes, about: it grows until it is known
	for i := range 4 * kills {
		what := []string{"search", "archive", "append", "adopt"}[i%4]
		after := time.Duration(rand.Int64N(int64(max(whole[what], 10*time.Millisecond))))
		uuids, ended, took := d.killed(what, after)
		for _, u := range uuids {
			recorded[u] = true
		}
		if !ended {
			took = 2 * max(whole[what], 10*time.Millisecond)
		}
		whole[what] = min(took, 2*time.Second)
		if what == "search" && ended { // it is all indexed: begin anew
			if err := os.RemoveAll(d.env.CacheDir); err != nil {
				t.Fatal(err)
			}
		}
	}

	s := d.open(Options{})
	f, err := s.Search(t.Context(), SearchOptions{Query: "quokka", Session: "00000002", Wait: time.Minute})
	if err != nil || f.Total != rows || f.Indexing {
		t.Errorf("search: %+v %v", f, err)
	}
	a, err := s.Archive(t.Context(), ArchiveOptions{Sessions: []string{"00000000", "00000001", "00000002", "00000003"}})
	if err != nil || len(a.Sessions) != 4 || len(a.Skipped) > 0 {
		t.Errorf("archive: %+v %v", a, err)
	}
	adopted, err := s.m.Adopt(t.Context(), memory.AdoptOptions{Old: old})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range append(slices.Clone(a.Sessions), adopted.Sessions.Sessions...) {
		if got := readAll(t, o.Path); got != contents[o.Session] {
			t.Errorf("the copy of %s has %d bytes, and should have %d", o.Session, len(got), len(contents[o.Session]))
		}
	}
	l, err := s.m.ListAll(t.Context(), memory.ListOptions{})
	if err != nil || l.Total != topics {
		t.Errorf("%d topics: %v", l.Total, err)
	}
	text, err := os.ReadFile(filepath.Join(s.m.Location.Directory, "MEMORY.md"))
	if err != nil || strings.Count(string(text), "](topic-") != topics {
		t.Errorf("%v\n%s", err, text)
	}
	// The recorded one is there where one of its writers lived to say so; it may be, else.
	if all, err := s.ListAll(t.Context(), ListOptions{}); err != nil || all.Total > 7 || all.Total < 6+min(len(recorded), 1) {
		t.Errorf("%d sessions: %v", all.Total, err)
	}
	d.checkRecorded(s, recorded)
}

// killed runs a process until it has ended, or been killed some time after it began.
func (d *desk) killed(what string, after time.Duration) (uuids []string, ended bool, took time.Duration) {
	d.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+what+"|"+d.env.Home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	begun := time.Now()
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	for lines.Scan() {
		if u := lines.Text(); len(u) == 36 { // a line that was cut tells nothing
			uuids = append(uuids, u)
		}
	}
	err = cmd.Wait()
	timer.Stop()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || stderr.Len() > 0) {
		d.t.Errorf("%s: %v: %s", what, err, stderr.String())
	}
	return uuids, err == nil, time.Since(begun)
}

// checkRecorded looks whether every row that was told to be recorded is, in one chain.
func (d *desk) checkRecorded(s *Sessions, recorded map[string]bool) {
	d.t.Helper()
	x, err := s.pick(d.t.Context(), "shared", nil)
	if err != nil {
		if len(recorded) > 0 {
			d.t.Error(err)
		}
		return
	}
	parents := map[string]bool{"": true}
	for i, line := range strings.Split(strings.TrimSuffix(readAll(d.t, x.Path), "\n"), "\n") {
		var r struct{ UUID, ParentUUID string }
		if json.Unmarshal([]byte(line), &r) != nil {
			continue // a process died in the middle of it, before it told the uuid
		}
		if !parents[r.ParentUUID] {
			d.t.Errorf("line %d hangs on %s, which is not before it", i+1, r.ParentUUID)
		}
		parents[r.UUID] = true
		delete(recorded, r.UUID)
	}
	if len(recorded) > 0 {
		d.t.Errorf("%d rows are lost", len(recorded))
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	src, err := transcript.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	b := make([]byte, src.Size())
	if _, err := src.ReadAt(b, 0); err != nil && len(b) > 0 {
		t.Fatal(err)
	}
	return string(b)
}
