package transcript_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"mem/core/transcript"
	"mem/internal/need"
)

// TestTimeBesideCounting reads a transcript whole, and its chain alone, in turn with a count of
// its lines. The promise is 2.5 times and once the time of that on two free processors; it
// holds where MEM_TRANSCRIPT_MB asks for a large one, as `make soak` does, and the processors are
// free: that is measured, too. Otherwise only what is wrong by far fails.
func TestTimeBesideCounting(t *testing.T) {
	f := benchFile(t)
	whole, tail := 2.5, 1.0
	if os.Getenv("MEM_TRANSCRIPT_MB") == "" {
		whole, tail = 100, 100
	}
	again, err := transcript.OpenFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	ctx := context.Background()
	least := map[string]time.Duration{}
	timed := func(what string, f func()) {
		at := time.Now()
		f()
		if took := time.Since(at); least[what] == 0 || took < least[what] {
			least[what] = took
		}
	}
	for range 7 {
		timed("count", func() { countLines(t, f) })
		timed("count by two", func() {
			var other sync.WaitGroup
			other.Go(func() { countLines(t, again) })
			countLines(t, f)
			other.Wait()
		})
		var tr *transcript.Transcript
		read := func() {
			var err error
			if tr, err = transcript.ReadTail(ctx, f, f.Size, transcript.Options{}); err != nil {
				t.Fatal(err)
			}
			if len(tr.Chain(transcript.UUID{}).Rows) == 0 {
				t.Fatal("no chain")
			}
		}
		timed("tail", read)
		timed("whole", func() {
			read()
			var err error
			if tr, err = tr.Complete(ctx); err != nil || tr.Base != 0 {
				t.Fatal(err)
			}
		})
	}
	count := float64(least["count"])
	t.Logf("%d MB: lines counted in %v; chain %.2f, whole %.2f times that", f.Size/1e6, least["count"], float64(least["tail"])/count, float64(least["whole"])/count)
	together := least["count by two"]
	need.Quiet(t, whole >= 100 || float64(together) <= 1.3*count,
		fmt.Sprintf("two that count at once take %v each and one alone %v, so there are no two free processors", together, least["count"]))
	if r := float64(least["whole"]) / count; r > whole {
		t.Errorf("the whole file takes %.2f times the time of counting its lines; at most %.1f", r, whole)
	}
	if r := float64(least["tail"]) / count; r > tail {
		t.Errorf("the chain takes %.2f times the time of counting the file's lines; at most %.1f", r, tail)
	}
}
