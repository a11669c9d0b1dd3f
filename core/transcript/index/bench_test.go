package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestScratch measures a file by hand.
func TestScratch(t *testing.T) {
	p := os.Getenv("SCRATCH")
	if p == "" {
		t.Skip()
	}
	dir := t.TempDir()
	x := open(t, Options{Dir: dir})
	at := time.Now()
	st, _ := os.Stat(p)
	rep := update(t, x, Source{p, "a", "p"})
	d := time.Since(at)
	fmt.Printf("%+v %v %.0f MB/s\n", rep, d, float64(st.Size())/d.Seconds()/1e6)
	at = time.Now()
	update(t, x, Source{p, "a", "p"})
	fmt.Println("again", time.Since(at))
	es, _ := os.ReadDir(dir)
	for _, e := range es {
		i, _ := e.Info()
		fmt.Println(e.Name(), i.Size())
	}
	fmt.Println(filepath.Base(p))
	for _, q := range []string{"error", "http server timeout", "how does the client handle redirects with cookies", "context deadline exceeded in transport", "return", "if err nil return error", "transprot", "module cache checksum"} {
		for i := 0; i < 2; i++ {
			at = time.Now()
			r, err := x.Search(context.Background(), Query{Text: q})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println(q, i, r.Total, len(r.Hits), r.Newest, r.Corrections, time.Since(at))
		}
	}
}
