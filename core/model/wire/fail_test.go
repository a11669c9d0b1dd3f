package wire_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mem/core/model"
	"mem/core/model/modeltest"
	"mem/core/model/wire"
)

// TestFailures: what cannot succeed later is told at once, in words with a way out.
func TestFailures(t *testing.T) {
	page := `<!DOCTYPE html><html><head><title>Sign in &amp; go</title></head><body>…</body></html>`
	for _, c := range []struct {
		name string
		step modeltest.Step
		want []string
	}{
		{"key", modeltest.Fail(401, "invalid x-api-key"), []string{"does not accept the key from", "_API_KEY (401): invalid x-api-key"}},
		{"credit", modeltest.Fail(400, "Your credit balance is too low to access the API."), []string{"no credit left", "choose another engine"}},
		{"quota", modeltest.Fail(429, "You exceeded your current quota, please check your plan"), []string{"no credit left"}},
		{"quota by code", modeltest.Step{Status: 429, Body: `{"error":{"message":"out of it","type":"requests","code":"insufficient_quota"}}`}, []string{"no credit left (429): out of it"}},
		{"permission", modeltest.Fail(403, "not for you"), []string{"does not allow this (403): not for you", "the model scripted"}},
		{"model", modeltest.Fail(404, "model: scripted"), []string{"knows no model scripted", "engines.provider.model"}},
		{"long", modeltest.Fail(400, "prompt is too long: 300000 tokens > 200000 maximum"), []string{"the request is too long for scripted", "larger context"}},
		{"large", modeltest.Fail(413, "Request exceeds the maximum size"), []string{"the request is too long"}},
		{"bad", modeltest.Fail(400, "messages: nonsense"), []string{"does not take the request (400): messages: nonsense"}},
		{"text", modeltest.Step{Status: 418, Body: "I am a teapot\x1b[2J\n" + strings.Repeat("x", 5000)}.With("Content-Type", "text/plain"), []string{`(418): I am a teapot\x1b[2J xxx`}},
		{"other shapes", modeltest.Step{Status: 400, Body: `{"error":"no such template"}`}, []string{"(400): no such template"}},
		{"detail", modeltest.Step{Status: 422, Body: `{"detail":"field required"}`}, []string{"(422): field required"}},
		{"object", modeltest.Step{Status: 400, Body: `{"object":"error","message":"context_length_exceeded","code":400}`}, []string{"too long"}},
		{"page 404", modeltest.Step{Status: 404, Body: page}.With("Content-Type", "text/html; charset=utf-8"), []string{"a page for people: Sign in & go", "base_url does not lead to the"}},
		{"page 200", modeltest.Answer("text/html", page), []string{"a page for people: Sign in & go", "base_url does not lead to the"}},
		{"page without type", modeltest.Answer("text/event-stream", page), []string{"a page for people: Sign in & go"}},
		{"JSON", modeltest.Answer("application/json", `{"choices":[]}`), []string{"one piece of JSON instead of a stream"}},
		{"JSON as a stream", modeltest.Answer("text/event-stream", ` {"a":1}`), []string{"one piece of JSON instead of a stream"}},
		{"error with 200", modeltest.Answer("application/json", `{"error":{"message":"no such model"}}`), []string{"does not take the request (400): no such model"}},
		{"wrong JSON", modeltest.Answer("text/event-stream", "event: message_start\ndata: {\"type\":\"mess\n\n"), []string{"does not answer as the", "engines.provider.base_url"}},
		{"redirect", modeltest.Step{Status: 307, Body: "x"}.With("Location", "https://elsewhere.example/v1/messages?token=secret"), []string{"sends us to https://elsewhere.example/v1/messages,", "the key is not taken along"}},
		{"never again", modeltest.Fail(500, "no").With("X-Should-Retry", "false"), []string{"has trouble (500): no"}},
		{"patience", modeltest.Fail(429, "slow down").With("Retry-After", "3600"), []string{"too many requests (429): slow down", "left alone for 1h0m0s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, api string) {
				s := modeltest.Start(t, c.step)
				m, naps := make1(s, api, nil)
				got, err := m.Reply(t.Context(), request)
				if err == nil {
					t.Fatalf("got %+v", got)
				}
				for _, w := range append(c.want, "asking "+api+" scripted at 127.0.0.1:") {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("%q is not in: %v", w, err)
					}
				}
				if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 700 || strings.Contains(err.Error(), "secret") {
					t.Errorf("not fit to be told: %q", err)
				}
				if len(*naps) > 0 || len(s.Requests()) != 1 {
					t.Errorf("%d requests", len(s.Requests()))
				}
				failureOf(t, err)
			})
		})
	}
}

// TestRetries: what may pass is tried again, with growing pauses, and what was used up to
// then is counted.
func TestRetries(t *testing.T) {
	busy := modeltest.Fail(529, "Overloaded")
	works := strings.Repeat("it works at last ", 20)
	say := modeltest.Say(works).Using(modeltest.Usage{Input: 100, Output: 10})
	for _, c := range []struct {
		name     string
		steps    []modeltest.Step
		requests int
		err      string // "" is success
		tokens   func(model.Usage) bool
	}{
		{"busy", []modeltest.Step{busy, modeltest.Fail(429, "rate"), modeltest.Fail(500, "x"), modeltest.Fail(503, "x"), modeltest.Fail(408, "x"), say}, 6, "",
			func(u model.Usage) bool { return u.Requests == 1 && u.Input == 100 && u.Output == 10 }},
		{"busy for ever", []modeltest.Step{busy.Forever()}, 6, "is overloaded (529): Overloaded; try again later (6 attempts)", func(u model.Usage) bool { return u == model.Usage{} }},
		{"told to", []modeltest.Step{modeltest.Fail(400, "x").With("X-Should-Retry", "true"), say}, 2, "", func(u model.Usage) bool { return u.Input == 100 }},
		{"cut", []modeltest.Step{say.CutAt(600), say.EndAt(600), say}, 3, "",
			// Nobody says what the first two took: it is estimated where the API does not count first.
			func(u model.Usage) bool { return u.Requests == 3 && u.Input >= 200 && u.Output >= 12 && u.Estimated }},
		{"cut for ever", []modeltest.Step{say.CutAt(600).Forever()}, 3, "was cut off: the connection broke (3 attempts)", func(u model.Usage) bool { return u.Requests == 3 && u.Cost > 0 }},
		// What was sent may be charged, whether an answer came or not.
		{"cut before the answer", []modeltest.Step{say.CutAt(0), say.EndAt(0), say}, 3, "", func(u model.Usage) bool { return u.Requests == 3 && u.Estimated }},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, api string) {
				s := modeltest.Start(t, c.steps...)
				m, naps := make1(s, api, nil)
				got, err := m.Reply(t.Context(), request)
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("error: %v", err)
				}
				if got == nil || !c.tokens(got.Usage) {
					t.Errorf("%+v", got)
				}
				if err == nil && got.Blocks[0].Text != works {
					t.Errorf("%+v", got)
				}
				if n := len(s.Requests()); n != c.requests || len(*naps) != n-1 {
					t.Errorf("%d requests, %d pauses", n, len(*naps))
				}
				for i, d := range *naps {
					if full := min(time.Second<<i, 16*time.Second); d < full/2 || d > full {
						t.Errorf("pause %d took %v", i, d)
					}
				}
			})
		})
	}
}

func TestErrorInStream(t *testing.T) {
	for api, c := range map[string]struct{ begin, busy, key string }{
		modeltest.Anthropic: {
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"scripted\",\"usage\":{\"input_tokens\":50,\"output_tokens\":1}}}\n\n",
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"revoked " + key + "\"}}\n\n"},
		modeltest.OpenAI: {
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n",
			"data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\"}}\n\n",
			"data: {\"error\":{\"message\":\"revoked " + key + "\",\"type\":\"authentication_error\"}}\n\n"},
	} {
		t.Run(api, func(t *testing.T) {
			s := modeltest.Start(t, modeltest.Answer("text/event-stream", c.begin+c.busy), modeltest.Say("fine"))
			m, naps := make1(s, api, nil)
			got, err := m.Reply(t.Context(), request)
			if err != nil || got.Usage.Requests != 2 || len(*naps) != 1 {
				t.Errorf("%+v %v", got, err)
			}
			s.Then(modeltest.Answer("text/event-stream", c.begin+c.key))
			got, err = m.Reply(t.Context(), request)
			if err == nil || !strings.Contains(err.Error(), "does not accept the key") || !strings.Contains(err.Error(), "revoked [key]") || got.Usage.Requests != 1 {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		s := modeltest.Start(t, modeltest.Fail(429, "x").With("Retry-After", "7"), modeltest.Fail(429, "x").With("Retry-After-Ms", "250"),
			modeltest.Fail(503, "x").With("Retry-After", time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat)), modeltest.Say("x"))
		m, naps := make1(s, api, nil)
		if _, err := m.Reply(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if n := *naps; len(n) != 3 || n[0] != 7*time.Second || n[1] != 250*time.Millisecond || n[2] < 20*time.Second || n[2] > 30*time.Second {
			t.Errorf("%v", n)
		}
		// Never beyond the deadline.
		s.Then(modeltest.Fail(429, "x").With("Retry-After", "7"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := m.Reply(ctx, request); err == nil || !strings.Contains(err.Error(), "no time is left") {
			t.Errorf("%v", err)
		}
	})
}

// TestCancel: in each phase of a request, the end of the context ends it at once.
func TestCancel(t *testing.T) {
	long := modeltest.Say(strings.Repeat("word ", 2000))
	for name, step := range map[string]modeltest.Step{
		"before the answer":   modeltest.Say("x").After(time.Hour),
		"before its stream":   long.StallAt(0),
		"in the stream":       long.StallAt(2000),
		"in a slow stream":    long.Slowly(20 * time.Millisecond),
		"between attempts":    modeltest.Fail(529, "busy").Forever(),
		"in an error's body":  modeltest.Fail(500, strings.Repeat("x", 500)).StallAt(100),
		"in a redirect":       modeltest.Fail(302, "x").StallAt(1).Forever(),
		"in an error of JSON": modeltest.Answer("application/json", strings.Repeat("{", 500)).StallAt(100),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, api string) {
				// A machine that is busy with something else may be late once, not always.
				var took time.Duration
				for range 3 {
					s := modeltest.Start(t, step)
					m, _ := make1(s, api, func(o *wire.Options) { o.Sleep = nil })
					if took = cancelled(t, s, m, name == "in a redirect"); took <= 100*time.Millisecond {
						return
					}
				}
				t.Errorf("took %v", took)
			})
		})
	}
}

// cancelled asks a model, cancels that once the request is there, and gives how long
// the end took. refused says that an error is there before.
func cancelled(t *testing.T, s *modeltest.Server, m model.Model, refused bool) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := m.Reply(ctx, request)
		done <- err
	}()
	s.Await(1)
	time.Sleep(30 * time.Millisecond)
	begun := time.Now()
	cancel()
	select {
	case err := <-done:
		if err == nil || !refused && !errors.Is(err, context.Canceled) {
			t.Errorf("error: %v", err)
		}
		return time.Since(begun)
	case <-time.After(5 * time.Second):
		t.Fatal("hangs")
		return 0
	}
}

func TestStall(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		long := modeltest.Say(strings.Repeat("word ", 200))
		s := modeltest.Start(t, long.StallAt(900), modeltest.Say("x").After(time.Hour), long.StallAt(0))
		m, naps := make1(s, api, func(o *wire.Options) { o.Stall, o.First = 100*time.Millisecond, 80*time.Millisecond })
		got, err := m.Reply(t.Context(), request)
		if err == nil || !strings.Contains(err.Error(), "sent nothing for 80ms (3 attempts)") || len(*naps) != 2 || got.Usage.Requests != 3 || !got.Usage.Estimated {
			t.Errorf("%v %+v", err, got) // what the server has read it may charge for
		}
		// Slow is not stalled.
		s.Then(modeltest.Say(strings.Repeat("word ", 40)).Slowly(25 * time.Millisecond))
		if _, err := m.Reply(t.Context(), request); err != nil {
			t.Error(err)
		}
	})
}

// TestEndless: a server that streams for ever is cut at a size.
func TestEndless(t *testing.T) {
	for api, c := range map[string][2]string{
		modeltest.Anthropic: {"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"more \"}}\n\n"},
		modeltest.OpenAI: {"", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"more \"}}]}\n\n"},
		"one line":       {"data: ", "more "},
		"comments":       {"", ": still here\n\n"},
	} {
		t.Run(api, func(t *testing.T) {
			var sent atomic.Int64
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				text := c[0]
				for {
					n, err := w.Write([]byte(text))
					sent.Add(int64(n))
					if err != nil {
						return
					}
					text = strings.Repeat(c[1], 100)
				}
			}))
			defer h.Close()
			for _, speaks := range apis {
				if (api == modeltest.Anthropic || api == modeltest.OpenAI) && api != speaks {
					continue
				}
				s := &modeltest.Server{URL: h.URL}
				m, naps := make1(s, speaks, func(o *wire.Options) { o.MaxBytes = 256 << 10 })
				got, err := m.Reply(t.Context(), request)
				if err == nil || !strings.Contains(err.Error(), "had no end: it was cut at 262144 bytes") || len(*naps) > 0 {
					t.Errorf("%s: %v", speaks, err)
				}
				if api == speaks && (got.Usage.Output < 500 || !got.Usage.Estimated) {
					t.Errorf("%s: %+v", speaks, got.Usage)
				}
			}
			if sent.Load() > 64<<20 {
				t.Errorf("%d bytes were taken", sent.Load())
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*wire.Options)
		want   string
	}{
		"no URL":      {func(o *wire.Options) { o.BaseURL = "127.0.0.1:8080" }, "engines.provider.base_url"},
		"scheme":      {func(o *wire.Options) { o.BaseURL = "ftp://x" }, "has to begin with https://"},
		"password":    {func(o *wire.Options) { o.BaseURL = "https://me:hidden@x" }, "holds a name or password"},
		"query":       {func(o *wire.Options) { o.BaseURL = "https://x/v1?key=hidden" }, "holds a query"},
		"clear":       {func(o *wire.Options) { o.BaseURL = "http://models.example/v1" }, "would send the key to models.example in the clear"},
		"key":         {func(o *wire.Options) { o.Key, o.KeyName = "hidden\nhidden", "MY_KEY" }, "the key from MY_KEY holds a space"},
		"nobody":      {func(o *wire.Options) { o.BaseURL = "http://" + closedPort(t) }, "nothing listens at 127.0.0.1:"},
		"no host":     {func(o *wire.Options) { o.BaseURL = "https://no-such-host.invalid" }, "no-such-host.invalid"},
		"no https":    {func(o *wire.Options) { o.BaseURL = strings.Replace(o.BaseURL, "http:", "https:", 1) }, "does not speak https"},
		"wrong place": {func(o *wire.Options) { o.BaseURL += "/somewhere/else" }, "or the address is wrong (404)"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, api string) {
				s := modeltest.StartFunc(t, func(modeltest.Request) modeltest.Step { return modeltest.Fail(404, "not found") })
				m, _ := make1(s, api, c.change)
				_, err := m.Reply(t.Context(), request)
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
					t.Errorf("%v", err)
				}
			})
		})
	}
	m, _ := make1(&modeltest.Server{URL: "http://127.0.0.1:1"}, modeltest.OpenAI, func(o *wire.Options) { o.Model = "" })
	if _, err := m.Reply(t.Context(), request); err == nil || !strings.Contains(err.Error(), "engines.provider.model") {
		t.Errorf("%v", err)
	}
}

// closedPort is an address at which nobody listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestNoKey(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		s := modeltest.Start(t, modeltest.Say("x"), modeltest.Fail(401, "who are you"))
		m, _ := make1(s, api, func(o *wire.Options) { o.Key = "" })
		if _, err := m.Reply(t.Context(), request); err != nil {
			t.Error(err)
		}
		if got := s.Last(); got.Key != "" || got.Header.Get("Authorization") != "" || got.Header.Get("X-Api-Key") != "" {
			t.Errorf("a key was sent: %v", got.Header)
		}
		if _, err := m.Reply(t.Context(), request); err == nil || !strings.Contains(err.Error(), "wants a key (401): who are you; set ") {
			t.Error(err)
		}
	})
}
