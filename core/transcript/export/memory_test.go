package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"mem/core/guard"
	"mem/core/transcript"
	"mem/core/transcript/deliver"
	"mem/core/transcript/transcripttest"
	"mem/internal/need"
)

// memoryPath names the transcript that a child process of the test works on, and
// memoryWhat what it does with it.
const memoryPath, memoryWhat = "MEM_TRANSCRIPT_EXPORT", "MEM_TRANSCRIPT_WHAT"

// maxPeak is the most memory that handing over a transcript may take, in kB, beside
// 96 bytes a row: as for reading it.
const maxPeak = 64 << 10

// TestPeakMemory hands over and exports a transcript of 50 MB, or of
// MEM_TRANSCRIPT_MB, each in a process of its own, and looks at the most memory
// that it had.
func TestPeakMemory(t *testing.T) {
	if path := os.Getenv(memoryPath); path != "" {
		workAndTell(t, path, os.Getenv(memoryWhat))
		return
	}
	need.Asked(t, !raceEnabled, "the race detector hides peaks: make unit runs this without it, too")
	need.System(t, runtime.GOOS == "linux", "the peak of a process is read from /proc")
	mb := int64(50)
	if s := os.Getenv("MEM_TRANSCRIPT_MB"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		mb = n
	}
	for name, o := range map[string]transcripttest.Options{
		"as in real sessions":        {Seed: 3, Bytes: mb * 1e6, Noise: 0.8, LongLines: true},
		"nothing but short messages": {Seed: 3, Bytes: mb * 1e6, ShortTexts: true},
	} {
		t.Run(name, func(t *testing.T) { peakMemory(t, mb, o) })
	}
}

func peakMemory(t *testing.T, mb int64, o transcripttest.Options) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	made, err := transcripttest.Write(f, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"messages", "brief", "markdown", "html"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPeakMemory$", "-test.v")
		cmd.Env = append(os.Environ(), memoryPath+"="+path, memoryWhat+"="+what)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		m := regexp.MustCompile(`peak (\d+) kB`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("%s", out)
		}
		peak, _ := strconv.Atoi(string(m[1]))
		limit := maxPeak + made.Rows*96>>10
		t.Logf("%s of %d MB with %d rows: a peak of %d kB; the limit is %d kB", what, mb, made.Rows, peak, limit)
		if peak > limit {
			t.Errorf("%s: a peak of %d kB; the limit is %d kB", what, peak, limit)
		}
	}
}

func workAndTell(t *testing.T, path, what string) {
	ctx := context.Background()
	f, err := transcript.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := transcript.Read(ctx, f, f.Size, transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := Source{Src: f, Transcript: tr}
	switch what {
	case "markdown":
		_, err = Markdown(ctx, io.Discard, s, Options{Attachments: true})
	case "html":
		_, err = HTML(ctx, io.Discard, s, Options{Attachments: true})
	default:
		o := deliver.Options{Format: deliver.Format(what), ToolResults: true, Thinking: true, Attachments: true, Redact: g}
		_, err = deliver.Deliver(ctx, f, tr, tr.Chain(transcript.UUID{}), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	for s := bufio.NewScanner(status); s.Scan(); {
		var peak int
		if n, _ := fmt.Sscanf(s.Text(), "VmHWM: %d kB", &peak); n == 1 {
			fmt.Printf("peak %d kB\n", peak)
		}
	}
}
