package job

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/settings"
)

// scene gives jobs in a scratch state directory and the clock that they read.
func scene(t *testing.T) (*Jobs, *clock) {
	t.Helper()
	c := &clock{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	return Open(filepath.Join(t.TempDir(), "state"), settings.Env{Now: c.now}), c
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) move(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

func create(t *testing.T, j *Jobs, r Record) *Record {
	t.Helper()
	if r.Kind == "" {
		r.Kind = Extract
	}
	out, err := j.Create(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func get(t *testing.T, j *Jobs, ref string) *Record {
	t.Helper()
	r, err := j.Get(ref)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func list(t *testing.T, j *Jobs, o ListOptions) []string {
	t.Helper()
	rs, err := j.List(o)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestOpenTouchesNothing(t *testing.T) {
	j, _ := scene(t)
	if got := list(t, j, ListOptions{}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	_, err := j.Get("0")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no job") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(j.state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state directory was made: %v", err)
	}
}

func TestCreateGetList(t *testing.T) {
	j, c := scene(t)
	a := create(t, j, Record{Kind: Extract, By: "hook", Session: "s1", Params: []byte(`{"v":1,"cursor":"x"}`)})
	c.move(time.Second)
	b := create(t, j, Record{Kind: Dream, State: Waiting})
	if a.State != Queued || a.Version != Version || !a.Created.Equal(c.now().Add(-time.Second)) || a.ID >= b.ID {
		t.Errorf("got %+v, then %+v", a, b)
	}
	if got := get(t, j, a.ID); got.Session != "s1" || strings.Join(strings.Fields(string(got.Params)), "") != `{"v":1,"cursor":"x"}` {
		t.Errorf("got %+v", got)
	}
	common := 0
	for a.ID[common] == b.ID[common] {
		common++
	}
	if got := get(t, j, b.ID[:common+1]); got.ID != b.ID {
		t.Errorf("its beginning gives %s", got.ID)
	}
	var missing *NotFoundError
	if _, err := j.Get(a.ID[:common]); !errors.As(err, &missing) || len(missing.Match) != 2 {
		t.Errorf("got %v", err)
	}
	for _, ref := range []string{"", "..", "../jobs/" + a.ID, a.ID + ".json", "/", "lock"} {
		if _, err := j.Get(ref); !errors.As(err, &missing) {
			t.Errorf("%q: got %v", ref, err)
		}
	}
	if got := list(t, j, ListOptions{}); !slices.Equal(got, []string{b.ID, a.ID}) {
		t.Errorf("got %v", got)
	}
	if got := list(t, j, ListOptions{Kind: Extract}); !slices.Equal(got, []string{a.ID}) {
		t.Errorf("got %v", got)
	}
	if got := list(t, j, ListOptions{Limit: 1}); !slices.Equal(got, []string{b.ID}) {
		t.Errorf("got %v", got)
	}
	info, err := os.Stat(j.recordFile(a.ID))
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := j.Create(Record{}); err == nil {
		t.Error("a job without a kind was created")
	}
}

func TestUpdateThatFailsChangesNothing(t *testing.T) {
	j, _ := scene(t)
	a := create(t, j, Record{})
	no := errors.New("no")
	if _, err := j.Update(a.ID, func(r *Record) error { r.Reason = "x"; return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if got := get(t, j, a.ID); got.Reason != "" {
		t.Errorf("got %+v", got)
	}
}

func TestClockBackwards(t *testing.T) {
	j, c := scene(t)
	var want []string
	for range 20 {
		want = append(want, create(t, j, Record{}).ID)
		c.move(-time.Hour)
	}
	slices.Reverse(want)
	if got := list(t, j, ListOptions{}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestGarbageIsReportedAndHurtsNothing(t *testing.T) {
	j, c := scene(t)
	good := create(t, j, Record{})
	wrong := map[string]string{
		"":                 "unexpected end",
		"{":                "unexpected end",
		"null":             "no version",
		`{"v":1}`:          "no version, kind or state",
		`{"v":99,"kind":1`: "unexpected end",
		`{"v":99,"kind":"extract","state":"queued"}`: "later version",
		`{"v":1,"kind":"extract","state":5}`:         "state",
		strings.Repeat("[", 100):                     "unexpected end",
	}
	n := 0
	for text, reason := range wrong {
		c.move(time.Second)
		id, err := newID(c.now(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(j.recordFile(id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n++
		var bad *RecordError
		if _, err := j.Get(id); !errors.As(err, &bad) || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), id) {
			t.Errorf("%q: got %v, want %q", text, err, reason)
		}
		if _, err := j.Update(id, func(*Record) error { return nil }); !errors.As(err, &bad) {
			t.Errorf("%q: update gives %v", text, err)
		}
	}
	if err := os.Mkdir(filepath.Join(j.dir, "0000000000000zz.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(j.dir, "notes.json"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	rs, err := j.List(ListOptions{})
	if err != nil || len(rs) != n+2 {
		t.Fatalf("got %d records, %v", len(rs), err)
	}
	for _, r := range rs {
		if r.ID != good.ID && (r.State != Lost || r.Reason == "") {
			t.Errorf("got %+v", r)
		}
	}
	if got := list(t, j, ListOptions{Open: true}); !slices.Equal(got, []string{good.ID}) {
		t.Errorf("got %v", got)
	}
	create(t, j, Record{})
}

func TestOldAndManyAreDropped(t *testing.T) {
	j, c := scene(t)
	c.at = time.Now()
	old := create(t, j, Record{State: Done})
	open := create(t, j, Record{State: Waiting})
	if _, err := j.Update(old.ID, func(r *Record) error { r.Ended = c.now(); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(j.Log(old.ID), []byte("said"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.move(KeepAge - time.Hour)
	create(t, j, Record{})
	get(t, j, old.ID)
	touch := c.now() // the waiting one was heard of meanwhile
	if err := os.Chtimes(j.recordFile(open.ID), touch, touch); err != nil {
		t.Fatal(err)
	}
	c.move(2 * time.Hour)
	create(t, j, Record{})
	if _, err := j.Get(old.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(j.Log(old.ID)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its log stays: %v", err)
	}
	get(t, j, open.ID)
	// One that nobody took says so when it is given up, and goes later.
	long := c.at.Add(-KeepAge - time.Hour)
	if err := os.Chtimes(j.recordFile(open.ID), long, long); err != nil {
		t.Fatal(err)
	}
	create(t, j, Record{})
	if r := get(t, j, open.ID); r.State != Cancelled || !strings.Contains(r.Reason, "nobody took it within 30 days") {
		t.Errorf("%+v", r)
	}
}

func TestTooManyRecords(t *testing.T) {
	j, c := scene(t)
	put := func(s State) {
		t.Helper()
		c.move(time.Second)
		id, err := newID(c.now(), "")
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"v":1,"kind":"extract","state":%q,"ended":%q}`, s, c.now().Format(time.RFC3339))
		if err := os.WriteFile(j.recordFile(id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	create(t, j, Record{State: Done})
	for range KeepRecords + 20 {
		put(Done)
	}
	c.move(time.Second)
	newest := create(t, j, Record{})
	got := list(t, j, ListOptions{})
	if len(got) != KeepRecords || got[0] != newest.ID {
		t.Errorf("%d records, the newest is %s", len(got), got[0])
	}
	for range KeepRecords {
		put(Queued)
	}
	if _, err := j.Create(Record{Kind: Extract}); err == nil || !strings.Contains(err.Error(), "jobs cancel") {
		t.Errorf("got %v", err)
	}
}

func TestBounds(t *testing.T) {
	j, _ := scene(t)
	long := strings.Repeat("ü", 4<<20)
	r := Record{Reason: long, Report: long}
	for i := range 3000 {
		r.Last = append(r.Last, fmt.Sprintf("turn %d %s", i, long[:2000]))
		r.Touched = append(r.Touched, fmt.Sprint(i))
		r.Refused = append(r.Refused, Refused{What: long[:5000]})
	}
	got := get(t, j, create(t, j, r).ID)
	if !strings.HasPrefix(got.Last[len(got.Last)-1], "turn 2999") || len(got.Last) != maxLast {
		t.Errorf("last turns: %d", len(got.Last))
	}
	if got.Touched[len(got.Touched)-1] != "… and 2500 more" || !strings.Contains(got.Refused[maxRefused].What, "2800 more") {
		t.Errorf("not said what was cut: %v", got.Touched[len(got.Touched)-1])
	}
	if !strings.HasSuffix(got.Report, "(cut)") || len(got.Report) > maxReport {
		t.Errorf("report of %d bytes", len(got.Report))
	}
	if _, err := j.Create(Record{Kind: Extract, Params: []byte(`"` + strings.Repeat("x", maxRecord) + `"`)}); err == nil {
		t.Error("a huge record was stored")
	}
}
