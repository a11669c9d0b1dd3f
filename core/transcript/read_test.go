package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"mem/core/transcript/transcripttest"
	"mem/internal/need"
)

func readString(t *testing.T, s string, o Options) *Transcript {
	t.Helper()
	tr, err := Read(context.Background(), strings.NewReader(s), int64(len(s)), o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func row(uuid, parent string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	return `{"parentUuid":` + p + `,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"` + uuid + `"}` + "\n"
}

func generated(t testing.TB, o transcripttest.Options) ([]byte, transcripttest.Made) {
	t.Helper()
	var b bytes.Buffer
	made, err := transcripttest.Write(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), made
}

func TestEmpty(t *testing.T) {
	for _, s := range []string{"", "\n", " \r\n\n", "\xef\xbb\xbf"} {
		tr := readString(t, s, Options{})
		if c := tr.Chain(UUID{}); len(c.Rows) != 0 || c.By != ByNothing || !c.ResumePoint(tr).IsZero() || tr.Problems.Total() != 0 {
			t.Errorf("%q: %+v %s", s, c, tr.Problems)
		}
	}
}

func TestNoTranscript(t *testing.T) {
	for _, s := range []string{
		"[\n  {\n\"type\": \"user\"}\n]\n", `[{"type":"user","uuid":"u1"}]`, `{"sessions":[]}`, "hello\n", "\x00\x00\x00", "\x7fELF\x01",
		"{\n  \"type\": \"user\",\n  \"uuid\": \"u1\"\n}\n",
	} {
		tr, err := Read(context.Background(), strings.NewReader(s), int64(len(s)), Options{})
		if !errors.Is(err, ErrNoRecords) || tr == nil || tr.Problems.Total() == 0 {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestTranscriptFacts(t *testing.T) {
	line := func(more string) string { return `{"isSidechain":false,` + more + "}\n" }
	s := line(`"type":"user","uuid":"u1","parentUuid":null,"message":{"content":"one"},"timestamp":"2026-05-04T08:00:00.000Z","cwd":"/srv/a","gitBranch":"main","sessionId":"s0","version":"1"`) +
		line(`"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"model":"claude-test-1","content":[]},"timestamp":"2026-05-04T07:59:00+02:00","cwd":"/srv/b","gitBranch":"topic","sessionId":"s1","version":"2"`) +
		line(`"type":"assistant","uuid":"a2","parentUuid":"a1","message":{"model":"<synthetic>","content":[]},"isApiErrorMessage":true,"timestamp":"2026-05-04T09:30:00Z","cwd":"/srv/a","gitBranch":"","sessionId":"s1","version":"3"`) +
		line(`"type":"user","uuid":"k1","parentUuid":null,"isSidechain":true,"message":{"content":"of a subagent"},"timestamp":"2027-01-01T00:00:00Z","agentId":"x"`) +
		line(`"type":"user","uuid":"u2","parentUuid":"a2","message":{"content":"two"},"timestamp":"no time"`) +
		line(`"type":"user","uuid":"u3","parentUuid":"u2","message":{"content":"`+strings.Repeat("長", 1000)+`"}`)
	tr := readString(t, s, Options{})
	if tr.Session != "s1" || tr.Branch != "topic" || tr.Version != "3" || tr.Model != "claude-test-1" || tr.Agent != "" || tr.Subagent ||
		strings.Join(tr.Cwds, " ") != "/srv/a /srv/b" || tr.FirstPrompt != "one" || tr.Turns != 3 || tr.Title != "" {
		t.Errorf("%+v", tr)
	}
	if tr.Start.Format(time.RFC3339) != "2026-05-04T05:59:00Z" || tr.End.Format(time.RFC3339) != "2026-05-04T09:30:00Z" {
		t.Errorf("from %s to %s", tr.Start, tr.End)
	}
	if r := tr.Rows.At(2); !r.Flags.Has(FlagAPIError) {
		t.Errorf("%+v", r)
	}
	last := row("u4", "")
	tr = readString(t, strings.Replace(last, "hello", strings.Repeat("長", 1000), 1), Options{})
	if n := len(tr.FirstPrompt); n > maxText+3 || !strings.HasSuffix(tr.FirstPrompt, "長…") {
		t.Errorf("a first prompt of %d bytes", n)
	}
}

func TestUnknownLeaf(t *testing.T) {
	tr := readString(t, row("u1", "")+row("u2", "u1"), Options{})
	if c := tr.Chain(ParseUUID("elsewhere")); len(c.Rows) != 0 || c.By != ByNothing || c.Coverage.Messages != 2 || c.Coverage.Unreachable != 2 {
		t.Errorf("%+v", c)
	}
	if c := tr.Chain(ParseUUID("u1")); len(c.Rows) != 1 || c.By != ByAsking || c.Coverage.Why[0].Reason != OffBranch {
		t.Errorf("%+v", c)
	}
}

func TestTooLong(t *testing.T) {
	long := `{"type":"user","uuid":"u2","parentUuid":"u1","message":{"content":"` + strings.Repeat("x", 5000) + `"}}` + "\n"
	noise := `{"type":"api-request-blob","x":"` + strings.Repeat("x", 5000) + `"}` + "\n"
	s := row("u1", "") + long + noise + row("u3", "u2")
	for _, window := range []int64{0, 100, 7000} {
		tr := readString(t, s, Options{MaxRecord: 4000, window: window})
		if p := tr.Problems; p.TooLong.Count != 2 || p.TooLong.Lines[0] != 2 || p.Dangling.Count != 1 || tr.Lines != 4 || len(tr.Chain(UUID{}).Rows) != 2 {
			t.Errorf("window %d: %s", window, p)
		}
		tr = readString(t, s, Options{MaxRecord: 6000, window: window})
		if tr.Problems.Total() != 0 || tr.Rows.Len() != 3 || tr.Types["api-request-blob"] != 1 {
			t.Errorf("window %d: %s", window, tr.Problems)
		}
	}
}

// TestNoiseIsOnlyLookedAt states what reading without Strict does not see.
func TestNoiseIsOnlyLookedAt(t *testing.T) {
	s := row("u1", "") + `{"type":"api-request","x":` + row("u2", "u1") + `{"type":"mode","x":1` + "\n" + row("u3", "u1")
	loose, strict := readString(t, s, Options{}), readString(t, s, Options{Strict: true})
	if loose.Problems.Malformed.Count != 1 || strict.Problems.Malformed.Count != 2 {
		t.Errorf("%s; strictly: %s", loose.Problems, strict.Problems)
	}
	if loose.Rows.Len() != 2 || strict.Rows.Len() != 2 {
		t.Error("the rows differ")
	}
}

func TestPartsAndFrom(t *testing.T) {
	data, _ := generated(t, transcripttest.Options{Seed: 3, Bytes: 60_000, Noise: 0.5, CompactEvery: 20_000})
	src := bytes.NewReader(data)
	want, err := Read(context.Background(), src, int64(len(data)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := int64(bytes.IndexByte(data[30_000:], '\n') + 30_001)
	rest, err := Read(context.Background(), src, int64(len(data)), Options{From: at, part: 1000, Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if rest.Base != at || rest.Rows.Len() == 0 || rest.Rows.At(0).Offset < at || !rest.Chain(UUID{}).Coverage.Pending {
		t.Errorf("from %d: base %d, first row at %d", at, rest.Base, rest.Rows.At(0).Offset)
	}
	before, err := Read(context.Background(), src, at, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if before.Lines+rest.Lines != want.Lines || before.Rows.Len()+rest.Rows.Len() != want.Rows.Len() || before.Size != at {
		t.Errorf("%d and %d lines, want %d", before.Lines, rest.Lines, want.Lines)
	}
}

// changing is a file that another process cuts or writes to while it is read.
type changing struct {
	data []byte
	size int // what is there now
	err  error
}

func (c *changing) ReadAt(p []byte, at int64) (int, error) {
	if c.err != nil && at > int64(c.size) {
		return 0, c.err
	}
	if at >= int64(c.size) {
		return 0, io.EOF
	}
	n := copy(p, c.data[at:c.size])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestShrinkingFile(t *testing.T) {
	data, _ := generated(t, transcripttest.Options{Seed: 4, Bytes: 80_000, Noise: 0.3})
	for _, size := range []int{0, 1, 5000, 40_000, 79_999} {
		for _, part := range []int64{0, 700, 9000} {
			src := &changing{data: data, size: size}
			o := Options{part: part, window: 500, Workers: 2}
			tr, err := Read(context.Background(), src, int64(len(data)), o)
			if err != nil && size > 1 || !tr.Shrunk || tr.Size > int64(size) {
				t.Errorf("cut at %d: %v, shrunk %v, %d bytes", size, err, tr.Shrunk, tr.Size)
				continue
			}
			want, err := Read(context.Background(), bytes.NewReader(data[:size]), int64(size), Options{})
			if err != nil && size > 1 || want.Rows.Len() != tr.Rows.Len() || want.Lines != tr.Lines || want.Size != tr.Size {
				t.Errorf("cut at %d: %d rows in %d lines, want %d in %d", size, tr.Rows.Len(), tr.Lines, want.Rows.Len(), want.Lines)
			}
			if _, err := ReadTail(context.Background(), src, int64(len(data)), o); err != nil && size > 1 {
				t.Errorf("the tail, cut at %d: %v", size, err)
			}
		}
	}
}

func TestGrowingFile(t *testing.T) {
	data := []byte(row("u1", "") + row("u2", "u1") + row("u3", "u2"))
	cut := len(row("u1", "")) + len(row("u2", "u1")) + 20
	tr, err := Read(context.Background(), bytes.NewReader(data), int64(cut), Options{})
	if err != nil || tr.Shrunk || tr.Rows.Len() != 2 || tr.Problems.Truncated.Count != 1 || tr.Size != int64(cut) {
		t.Errorf("%v %+v", err, tr)
	}
}

func TestReadError(t *testing.T) {
	data, _ := generated(t, transcripttest.Options{Seed: 4, Bytes: 80_000})
	broken := errors.New("the disk is broken")
	for _, read := range []func(context.Context, io.ReaderAt, int64, Options) (*Transcript, error){Read, ReadTail} {
		_, err := read(context.Background(), &changing{data: data, size: 30_000, err: broken}, int64(len(data)), Options{part: 4000, window: 600, Workers: 2})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "reading at byte") {
			t.Error(err)
		}
	}
	if _, err := Read(context.Background(), bytes.NewReader(nil), -1, Options{}); err == nil {
		t.Error("a negative size is accepted")
	}
}

func TestCancelAndProgress(t *testing.T) {
	data, _ := generated(t, transcripttest.Options{Seed: 5, Bytes: 200_000, Noise: 0.5})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	var last, calls int64
	o := Options{part: 5000, window: 700, Workers: 2, Progress: func(done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if done <= last || done > total || total != int64(len(data)) {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
		calls++
	}}
	if _, err := Read(ctx, bytes.NewReader(data), int64(len(data)), o); err != nil || last != int64(len(data)) || calls < 10 {
		t.Errorf("%v: %d of %d bytes in %d calls", err, last, len(data), calls)
	}
	o.Progress = func(done, _ int64) {
		if done > 20_000 {
			cancel()
		}
	}
	if _, err := Read(ctx, bytes.NewReader(data), int64(len(data)), o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(path, []byte(row("u1", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path)
	if err != nil || f.Size == 0 || f.Modified.IsZero() {
		t.Fatal(err)
	}
	f.Close()
	if _, err := OpenFile(filepath.Join(dir, "none.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := OpenFile(dir); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	pipe := filepath.Join(dir, "pipe.jsonl")
	if out, err := exec.Command(need.Program(t, "mkfifo"), pipe).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %s %v", out, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := OpenFile(pipe)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a pipe was opened")
		}
	case <-time.After(5 * time.Second):
		t.Error("opening a pipe blocks")
	}
}

// TestRowSize keeps the promise of 96 bytes a row: the row, its link, and its
// share of the index at its emptiest.
func TestRowSize(t *testing.T) {
	const row, link = 64, 4
	if got := unsafe.Sizeof(Row{}); got != row {
		t.Errorf("a row has %d bytes", got)
	}
	for _, n := range []int{13, 100_000, 196_609, 1 << 20} {
		x := newIndex(n)
		if per := row + link + float64(len(x.slots)*4)/float64(n); n > 100 && per > 96 {
			t.Errorf("%.1f bytes a row of %d", per, n)
		}
	}
}

// TestHostile reads files that are made to be slow or large. Each has to be done
// in a time that is linear in its size.
func TestHostile(t *testing.T) {
	cases := map[string]string{}
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"type":"system","subtype":"compact_boundary","uuid":"b%d","parentUuid":null,"logicalParentUuid":"b%d","compactMetadata":{"preservedSegment":{"headUuid":"b0","anchorUuid":"b%d","tailUuid":"b%d"}}}`+"\n", i, i-1, i, i-1)
	}
	cases["boundaries"] = b.String()
	b.Reset()
	for i := range 50_000 {
		fmt.Fprintf(&b, `{"type":"progress","uuid":"p%d","parentUuid":"p%d"}`+"\n", i, (i+1)%50_000)
	}
	cases["a cycle of progress"] = b.String() + row("u1", "p0")
	cases["deep"] = `{"type":"user","uuid":"u1","x":` + strings.Repeat("[", 2_000_000) + "\n"
	cases["deep and closed"] = `{"type":"user","uuid":"u1","x":` + strings.Repeat("[", 900_000) + strings.Repeat("]", 900_000) + "}\n"
	cases["blank lines"] = strings.Repeat("\n", 3_000_000)
	cases["one line"] = strings.Repeat("x", 20_000_000)
	b.Reset()
	for i := range 100_000 {
		fmt.Fprintf(&b, `{"type":"t%d"}`+"\n", i)
	}
	cases["types"] = b.String()
	b.Reset()
	for i := range 100_000 {
		fmt.Fprintf(&b, `{"type":"user","uuid":"u","parentUuid":"u%d"}`+"\n", i)
	}
	cases["one uuid"] = b.String()
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			tr, err := Read(context.Background(), strings.NewReader(s), int64(len(s)), Options{})
			if err != nil && !errors.Is(err, ErrNoRecords) {
				t.Fatal(err)
			}
			tr.Chain(UUID{})
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
			if len(tr.Types) > maxTypes+1 {
				t.Errorf("%d types", len(tr.Types))
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(row("u1", "")+row("u2", "u1")), int64(100), int64(30))
	data, _ := generated(f, transcripttest.Options{Seed: 1, Bytes: 5000, CompactEvery: 2000, ShortTexts: true, Noise: 0.2})
	f.Add(data, int64(1000), int64(300))
	f.Add([]byte("\xef\xbb\xbf{\"type\":\"user\",\"uuid\":\"\\u0000\"}\r\n\x00\n"), int64(7), int64(5))
	f.Fuzz(func(t *testing.T, data []byte, part, window int64) {
		if len(data) > 20_000 {
			return // the oracle is slow
		}
		o := Options{Strict: true, MaxRecord: 5000, Workers: 2, part: 4 + part&0xfff, window: 4 + window&0xfff}
		if diff := compare(data, o); diff != "" {
			t.Error(diff)
		}
		tr, err := ReadTail(context.Background(), bytes.NewReader(data), int64(len(data)), o)
		if err != nil && !errors.Is(err, ErrNoRecords) {
			t.Fatal(err)
		}
		c := tr.Chain(UUID{})
		for range Load(context.Background(), bytes.NewReader(data), tr, c.Rows) {
		}
		if _, err := tr.FileHistory(context.Background(), bytes.NewReader(data), c); err != nil {
			t.Error(err)
		}
	})
}
