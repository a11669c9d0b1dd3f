package transcript

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"mem/core/transcript/transcripttest"
	"mem/internal/need"
)

// memoryPath names the transcript that a child process of the test reads.
const memoryPath = "MEM_TRANSCRIPT_READ"

// TestPeakMemory reads a transcript of 60 MB, or of MEM_TRANSCRIPT_MB, in a
// process of its own and looks at the most memory that it had: at most 64 MB
// and 96 bytes a row.
func TestPeakMemory(t *testing.T) {
	if path := os.Getenv(memoryPath); path != "" {
		readAndTell(t, path)
		return
	}
	need.Asked(t, !raceEnabled, "the race detector hides peaks: make unit runs this without it, too")
	need.System(t, runtime.GOOS == "linux", "the peak of a process is read from /proc")
	mb := int64(60)
	if s := os.Getenv("MEM_TRANSCRIPT_MB"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		mb = n
	}
	for name, dense := range map[string]bool{"as in real sessions": false, "nothing but short messages": true} {
		t.Run(name, func(t *testing.T) { peakMemory(t, mb, dense) })
	}
}

// TestBytesARow holds what each row adds to all that is ever allocated for reading a transcript
// and for its chain, garbage and room for growth with it: at most the 96 bytes that the peak may
// grow by. What is there but once, such as buffers, is in the smaller of two transcripts as well.
func TestBytesARow(t *testing.T) {
	allocated := func(size int64) (bytes, rows int64) {
		var data strings.Builder
		if _, err := transcripttest.Write(&data, transcripttest.Options{Seed: 2, Bytes: size, ShortTexts: true}); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tr, err := Read(t.Context(), strings.NewReader(data.String()), int64(data.Len()), Options{Workers: 1, part: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if c := tr.Chain(UUID{}); len(c.Rows) < tr.Rows.Len()*9/10 {
			t.Fatalf("%d of %d rows on the chain", len(c.Rows), tr.Rows.Len())
		}
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc), int64(tr.Rows.Len())
	}
	few, a := allocated(5e6)
	many, b := allocated(45e6)
	each := float64(many-few) / float64(b-a)
	t.Logf("%d rows: %d bytes; %d rows: %d bytes; %.1f bytes a row", a, few, b, many, each)
	if each > 96 {
		t.Errorf("each row adds %.1f bytes; at most 96", each)
	}
}

func peakMemory(t *testing.T, mb int64, dense bool) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	o := transcripttest.Options{Seed: 2, Bytes: mb * 1e6, Noise: 0.8, LongLines: true, CompactEvery: mb * 2e5}
	if dense {
		o = transcripttest.Options{Seed: 2, Bytes: mb * 1e6, ShortTexts: true} // rows of 700 bytes, all on the chain
	}
	made, err := transcripttest.Write(f, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPeakMemory$", "-test.v")
	cmd.Env = append(os.Environ(), memoryPath+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`rows (\d+) peak (\d+) kB`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s", out)
	}
	rows, _ := strconv.ParseInt(string(m[1]), 10, 64)
	peak, _ := strconv.ParseInt(string(m[2]), 10, 64)
	if rows != int64(made.Rows) {
		t.Errorf("%d rows, want %d", rows, made.Rows)
	}
	limit := 64<<10 + rows*96>>10
	t.Logf("%d MB with %d rows: a peak of %d kB; the limit is %d kB", mb, rows, peak, limit)
	if peak > limit {
		t.Errorf("a peak of %d kB for %d rows; the limit is %d kB", peak, rows, limit)
	}
}

func readAndTell(t *testing.T, path string) {
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := Read(context.Background(), f, f.Size, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Chain(UUID{}).Rows) == 0 {
		t.Fatal("no chain")
	}
	status, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	for s := bufio.NewScanner(status); s.Scan(); {
		var peak int
		if n, _ := fmt.Sscanf(s.Text(), "VmHWM: %d kB", &peak); n == 1 {
			fmt.Printf("rows %d peak %d kB\n", tr.Rows.Len(), peak)
		}
	}
}
