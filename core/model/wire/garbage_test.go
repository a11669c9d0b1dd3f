package wire_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"mem/core/model"
	"mem/core/model/modeltest"
	"mem/core/model/wire"
)

// canned answers every request with the same bytes, without a network.
type canned struct {
	body []byte
	err  error // after them
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	var body io.Reader = bytes.NewReader(c.body)
	if c.err != nil {
		body = io.MultiReader(body, failing{c.err})
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: r}, nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// listener gives what a model makes of bytes. It must not hang.
func listener(api string) func(t *testing.T, c canned) (*model.Reply, error) {
	var now canned
	m, _ := make1(&modeltest.Server{URL: "http://127.0.0.1:1"}, api, func(o *wire.Options) {
		o.HTTP, o.Retries = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) { return now.RoundTrip(r) })}, -1
	})
	return func(t *testing.T, c canned) (*model.Reply, error) {
		t.Helper()
		now = c
		return hear(t, m, c)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func hear(t *testing.T, m model.Model, c canned) (*model.Reply, error) {
	t.Helper()
	type outcome struct {
		r   *model.Reply
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := m.Reply(context.Background(), model.Request{Messages: []model.Message{user("go")}})
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		if o.err == nil && o.r == nil {
			t.Fatal("neither an answer nor an error")
		}
		return o.r, o.err
	case <-time.After(10 * time.Second):
		t.Fatalf("hangs at %q", c.body)
		return nil, nil
	}
}

// recorded is a stream with all that there is.
func recorded(api string) []byte {
	step := modeltest.Say("Grüße, I look.").And("Read", modeltest.In{"file_path": "/memory/a.md"}).And("Now", nil).ThinkingOf("Let me see.").Using(modeltest.Usage{Input: 10, Output: 20, CacheRead: 30})
	return bytes.Join(modeltest.Stream(modeltest.Request{API: api, Model: "scripted", N: 1, Stream: true, AskedUsage: true}, step), nil)
}

// TestCutAnywhere: a stream that ends at any byte, as if it were over or by a broken
// connection, is an answer only where nothing of it is missing.
func TestCutAnywhere(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		all, hear := recorded(api), listener(api)
		whole, err := hear(t, canned{body: all})
		if err != nil || len(whole.Blocks) < 3 || whole.Stop != model.StopCalls {
			t.Fatalf("%+v %v", whole, err)
		}
		answers := 0
		for n := 0; n < len(all); n += cutStep {
			for _, broken := range []error{nil, io.ErrUnexpectedEOF} {
				if broken != nil && n%5 != 0 { // what was read is the same
					continue
				}
				got, err := hear(t, canned{body: all[:n], err: broken})
				if err != nil {
					if got != nil && len(got.Blocks) > 0 {
						t.Errorf("at %d of %d: an error with an answer: %+v", n, len(all), got)
					}
					if !strings.Contains(err.Error(), "was cut off") {
						t.Errorf("at %d of %d: %v", n, len(all), err)
					}
					continue
				}
				answers++
				if len(got.Blocks) != len(whole.Blocks) || string(got.Blocks[len(got.Blocks)-2].Call.Input) != `{"file_path":"/memory/a.md"}` || got.Stop != whole.Stop {
					t.Fatalf("at %d of %d: half an answer: %+v", n, len(all), got)
				}
			}
		}
		if answers > len(all)/3 || answers == 0 && cutStep == 1 {
			t.Errorf("%d of %d cuts gave an answer", answers, len(all)*6/5)
		}
	})
}

// rounds is how many streams are damaged; MEM_DAMAGED=n is for more.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MEM_DAMAGED")
	if text == "" {
		return 300 / cutStep
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGarbage: streams with bytes changed, lost or doubled give an answer or an error.
func TestGarbage(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		all, hear := recorded(api), listener(api)
		rnd := rand.New(rand.NewPCG(1, 2))
		errs := 0
		for range rounds(t) {
			b := bytes.Clone(all)
			for range 1 + rnd.IntN(4) {
				i := rnd.IntN(len(b))
				j := min(len(b), i+1+rnd.IntN(40))
				switch rnd.IntN(4) {
				case 0:
					b[i] = byte(rnd.IntN(256))
				case 1:
					b = append(b[:i:i], b[j:]...)
				case 2:
					b = append(b[:j:j], b[i:]...)
				case 3:
					b = append(b[:i:i], append([]byte([]string{"null", "{}", "[]", "-1", "1e400", `"\ud800"`, "\n\n", "data: ", "\x00"}[rnd.IntN(9)]), b[i:]...)...)
				}
				if len(b) == 0 {
					b = []byte("\n")
				}
			}
			if _, err := hear(t, canned{body: b}); err != nil {
				errs++
			}
		}
		if errs == 0 {
			t.Error("nothing was wrong")
		}
	})
}
