package sessionmem

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/settings"
)

// counted counts what is read of a transcript.
type counted struct {
	io.ReaderAt
	bytes int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.bytes += int64(n)
	return n, err
}

// silent adds an answer that does not tell its tokens.
func (s *script) silent(text string, calls ...string) {
	content := fmt.Sprintf(`{"type":"text","text":%q}`, text)
	for _, c := range calls {
		content += fmt.Sprintf(`,{"type":"tool_use","id":%q,"name":"Read","input":{}}`, c)
	}
	s.row("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","content":[%s]}`, s.n, content))
}

// TestGaugeAgrees: what is read of the new part alone is never other than what all of it says,
// over many conversations that tell their tokens, do not, or begin to, with compactions,
// rewinds and asides; and most of the time it says it.
func TestGaugeAgrees(t *testing.T) {
	said, whole := 0, 0
	for n := range uint64(6) {
		r := rand.New(rand.NewPCG(n, 2))
		s := &script{}
		var st *State
		var g *Gauge
		context, tells := 0, n%3 == 1
		for step := range 40 {
			if n%3 == 2 && step == 20 {
				tells = true
			}
			var calls []string
			switch r.IntN(9) {
			case 0:
				s.prompt(strings.Repeat("word ", r.IntN(3_000)))
			case 1:
				if step > 10 && r.IntN(4) == 0 {
					s.compact()
					context = 2_000
				}
			case 2:
				s.row("user", `"isSidechain":true,"message":{"role":"user","content":"aside"}`)
			case 3: // goes back to an earlier message
				if s.n > 4 && r.IntN(3) == 0 {
					s.last = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.n-3)
				}
			case 4, 5, 6:
				calls = []string{fmt.Sprint("c", step)}
				fallthrough
			default:
				words := strings.Repeat("text ", r.IntN(600))
				context += r.IntN(2_500)
				if tells {
					s.answer(context, calls...)
				} else {
					s.silent(words, calls...)
				}
				for _, c := range calls {
					if r.IntN(4) > 0 {
						s.result(c)
					}
				}
			}
			if s.last == "" {
				continue
			}
			src, size := strings.NewReader(s.b.String()), int64(s.b.Len())
			m := s.take(t, st)
			all := Decide(seed, st, m)
			if g != nil && g.Of("x", src, size, st) {
				if err := g.Advance(t.Context(), src, size); err != nil {
					t.Fatal(err)
				}
				if d, surely := g.Peek(seed); surely {
					said++
					if all.Due {
						t.Fatalf("seed %d, step %d: the new part says %q, all of it %q", n, step, d.Reason, all.Reason)
					}
					continue
				}
			}
			whole++
			if all.Due {
				st = &State{Session: "s", Leaf: m.Leaf, Tokens: m.Tokens, Boundary: m.Boundary, Updated: time.Unix(int64(step+1), 0), Size: size}
			}
			g = NewGauge("x", src, size, st, m)
		}
	}
	if t.Logf("it says so %d times, and has all read %d times", said, whole); said < 2*whole {
		t.Error("it says so too seldom")
	}
}

// TestGaugeReadsWhatIsNew: whatever the size of a transcript, a look reads what came since.
func TestGaugeReadsWhatIsNew(t *testing.T) {
	s := &script{}
	for range 200 {
		s.prompt(strings.Repeat("word ", 20))
		s.silent(strings.Repeat("text ", 2_000))
	}
	conf := settings.SessionMemoryConfig{FirstTokens: 1 << 30, EveryTokens: 1 << 30, ToolCalls: 3}
	size := int64(s.b.Len())
	g := NewGauge("x", strings.NewReader(s.b.String()), size, nil, s.take(t, nil))
	for range 3 {
		s.silent("a little more", "c1")
		fmt.Fprint(&s.b, `{"type":"user","uuid":"half of a li`)
		src := &counted{ReaderAt: strings.NewReader(s.b.String())}
		now := int64(s.b.Len())
		if !g.Of("x", src, now, nil) {
			t.Fatal("it is not known again")
		}
		if err := g.Advance(t.Context(), src, now); err != nil {
			t.Fatal(err)
		}
		if src.bytes > 3<<10 {
			t.Errorf("%d bytes of %d were read", src.bytes, now)
		}
		if d, surely := g.Peek(conf); !surely || d.Tokens < int(size)/5 || !d.Estimated {
			t.Errorf("%+v", d)
		}
		fmt.Fprintln(&s.b, `ne"}`)
	}
	// Another transcript in its place, a shorter one, another summary: all of it is read again.
	other := strings.Replace(s.b.String(), "a little more", "a Little more", 3)
	if g.Of("x", strings.NewReader(other), int64(len(other)), nil) || g.Of("x", strings.NewReader("{}\n"), 3, nil) ||
		g.Of("y", strings.NewReader(s.b.String()), int64(s.b.Len()), nil) || g.Of("x", strings.NewReader(s.b.String()), int64(s.b.Len()), &State{Updated: time.Unix(1, 0)}) {
		t.Error("it is taken for that of another transcript")
	}
}

func TestGaugeIsKept(t *testing.T) {
	env := settings.Env{CacheDir: filepath.Join(t.TempDir(), "cache")}
	if LoadGauge(env, "/p/a.jsonl") != nil {
		t.Error("there is one already")
	}
	g := &Gauge{Version: 1, Transcript: "/p/a.jsonl", Size: 9, Seam: "s", Tokens: 7, Updated: time.Unix(5, 0)}
	if err := g.Save(env); err != nil {
		t.Fatal(err)
	}
	if got := LoadGauge(env, "/p/a.jsonl"); got == nil || got.Size != 9 || !got.Updated.Equal(g.Updated) {
		t.Errorf("%+v", got)
	}
	// Those that nobody looks at go when another session begins; one that is damaged is none.
	old := time.Now().Add(-gaugeKept - time.Hour)
	if err := os.Chtimes(gaugeFile(env, "/p/a.jsonl"), old, old); err != nil {
		t.Fatal(err)
	}
	b := &Gauge{Version: 1, Transcript: "/p/b.jsonl", Size: 9}
	if err := b.Save(env); err != nil {
		t.Fatal(err)
	}
	if LoadGauge(env, "/p/a.jsonl") != nil {
		t.Error("it was kept")
	}
	if err := os.WriteFile(gaugeFile(env, "/p/b.jsonl"), []byte(`{"v":1,"size":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if LoadGauge(env, "/p/b.jsonl") != nil || LoadGauge(settings.Env{}, "/p/b.jsonl") != nil || b.Save(settings.Env{}) != nil {
		t.Error("a damaged one, or one without a cache")
	}
}

// TestGaugeLongLine: a line that is too long to be parsed counts as much as it may be.
func TestGaugeLongLine(t *testing.T) {
	s := &script{}
	s.prompt("x")
	g := NewGauge("x", strings.NewReader(s.b.String()), int64(s.b.Len()), nil, Measure{Tokens: 10})
	s.prompt(strings.Repeat("y", maxGaugeLine+5))
	s.silent("z")
	src := strings.NewReader(s.b.String())
	if err := g.Advance(t.Context(), src, src.Size()); err != nil || g.Size != src.Size() || g.Tokens < (maxGaugeLine-envelope)/4 || g.Calls != 1 || !g.Pause {
		t.Errorf("%+v, %v", g, err)
	}
}
