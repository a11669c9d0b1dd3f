package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"mem/core/model"
	"mem/core/model/anthropic"
	"mem/core/model/modeltest"
	"mem/core/model/openai"
	"mem/core/model/wire"
)

func TestMain(m *testing.M) {
	// Whatever stands in the environment must not be heeded.
	for k, v := range map[string]string{
		"ANTHROPIC_API_KEY": "key-of-the-environment", "ANTHROPIC_AUTH_TOKEN": "token-of-the-environment", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/",
		"ANTHROPIC_CUSTOM_HEADERS": "X-Sneaked: yes", "ANTHROPIC_PROFILE": "nowhere", "ANTHROPIC_CONFIG_DIR": "/nowhere", "ANTHROPIC_MODEL": "model-of-the-environment",
		"OPENAI_API_KEY": "key-of-the-environment", "OPENAI_BASE_URL": "http://127.0.0.1:1/", "OPENAI_ORG_ID": "org-of-the-environment",
		"ANTHROPIC_WEBHOOK_SIGNING_KEY": "whsec_eA==", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
	} {
		if err := os.Setenv(k, v); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const key = "sk-test-0123456789abcdef"

var apis = []string{modeltest.Anthropic, modeltest.OpenAI}

// make1 gives a model at a server; naps collects the pauses between attempts, which take
// no time.
func make1(s *modeltest.Server, api string, change func(*wire.Options)) (m model.Model, naps *[]time.Duration) {
	naps = new([]time.Duration)
	o := wire.Options{BaseURL: s.BaseURL(api), Key: key, Model: "scripted", Prices: model.Prices{Input: 1, Output: 10, CacheRead: 0.1, CacheWrite: 2},
		Sleep: func(ctx context.Context, d time.Duration) error { *naps = append(*naps, d); return ctx.Err() }}
	if change != nil {
		change(&o)
	}
	if api == modeltest.OpenAI {
		return openai.New(o), naps
	}
	return anthropic.New(o), naps
}

// each runs a test with each API.
func each(t *testing.T, f func(t *testing.T, api string)) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) { f(t, api) })
	}
}

func user(text string) model.Message {
	return model.Message{Role: model.User, Blocks: []model.Block{{Text: text}}}
}

func schema(s string) json.RawMessage { return json.RawMessage(s) }

var request = model.Request{
	System: "You keep memory.",
	Tools: []model.Tool{
		{Name: "Read", Description: "Reads <a> file", Schema: schema(`{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}`)},
		{Name: "Now", Description: "Tells the time"},
	},
	Messages: []model.Message{
		user("first"),
		{Role: model.Assistant, Blocks: []model.Block{{Text: "I look."}, {Call: &model.Call{ID: "c1", Name: "Read", Input: schema(`{"file_path":"/memory/a.md"}`)}}, {Call: &model.Call{ID: "c2", Name: "Now"}}}},
		{Role: model.User, Blocks: []model.Block{{Text: "go on"}, {Result: &model.Result{ID: "c1", Text: "A & B"}}, {Result: &model.Result{ID: "c2", Text: "not now", Refused: true}}, {Text: " "}}},
		{Role: model.Assistant, Blocks: []model.Block{{Text: "I see."}}},
		user("extract"),
	},
	Shared: 4,
}

func TestRequest(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		s := modeltest.Start(t, modeltest.Say("done"))
		m, _ := make1(s, api, nil)
		r := request
		r.MaxTokens = 77
		if _, err := m.Reply(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		got := s.Last()
		if got.System != request.System || got.Model != "scripted" || got.MaxTokens != 77 || !got.Stream || got.Key != key {
			t.Errorf("%+v", got)
		}
		if n := len(got.Tools); n != 2 || got.Tools[0].Description != "Reads <a> file" || !sameJSON(got.Tools[0].Schema, request.Tools[0].Schema) || !strings.Contains(string(got.Tools[1].Schema), `"object"`) {
			t.Errorf("tools: %+v", got.Tools)
		}
		refused := "not now"
		if api == modeltest.OpenAI {
			refused = "error: not now"
		}
		var shape []string
		for _, m := range got.Messages {
			for _, b := range m.Blocks {
				shape = append(shape, strings.TrimSpace(fmt.Sprintf("%s %s %s %s%s %v", m.Role, b.Type, b.ID, b.Text, b.Input, b.Failed)))
			}
		}
		want := []string{
			"user text  first false", "assistant text  I look. false", `assistant tool_use c1 {"file_path":"/memory/a.md"} false`, "assistant tool_use c2 {} false",
			"user tool_result c1 A & B false", fmt.Sprintf("user tool_result c2 %s %v", refused, api == modeltest.Anthropic), "user text  go on false",
			"assistant text  I see. false", "user text  extract false",
		}
		if d := cmp.Diff(want, shape); d != "" {
			t.Error(d)
		}
		for _, alien := range []string{"of-the-environment", "sneaked"} {
			if strings.Contains(strings.ToLower(string(got.Raw)+fmt.Sprint(got.Header)), strings.ToLower(alien)) {
				t.Errorf("%q came from the environment", alien)
			}
		}
		if got.Header.Get("X-Sneaked") != "" {
			t.Error("a header came from the environment")
		}
	})
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
}

func TestReply(t *testing.T) {
	usage := modeltest.Usage{Input: 100, Output: 20, CacheRead: 1000}
	// (100·1 + 20·10 + 1000·0.1) / 1e6
	used := model.Usage{Requests: 1, Input: 100, Output: 20, CacheRead: 1000, Cost: 0.0004, Priced: true}
	long := strings.Repeat("Grüße, 世界! ", 200)
	for _, c := range []struct {
		name string
		step modeltest.Step
		want model.Reply
	}{
		{"text", modeltest.Say(long), model.Reply{Blocks: []model.Block{{Text: long}}, Stop: model.StopDone}},
		{"calls", modeltest.Call("Read", modeltest.In{"file_path": "a<b>&" + long}).And("Now", nil).Saying("both"), model.Reply{Stop: model.StopCalls, Blocks: []model.Block{
			{Text: "both"}, {Call: &model.Call{ID: "1", Name: "Read", Input: schema(`{"file_path":"a\u003cb\u003e\u0026` + long + `"}`)}}, {Call: &model.Call{ID: "2", Name: "Now", Input: schema(`{}`)}}}}},
		{"input that is no JSON", modeltest.Call("Read", `{"file_path": "a`), model.Reply{Stop: model.StopCalls, Blocks: []model.Block{{Call: &model.Call{ID: "1", Name: "Read", Input: schema(`{"file_path": "a`)}}}}},
		{"input that is no object", modeltest.Call("Read", `["a"]`), model.Reply{Stop: model.StopCalls, Blocks: []model.Block{{Call: &model.Call{ID: "1", Name: "Read", Input: schema(`["a"]`)}}}}},
		{"length", modeltest.Say("and the").Stopping(modeltest.Length), model.Reply{Stop: model.StopLength, Blocks: []model.Block{{Text: "and the"}}}},
		{"length in a call", modeltest.Call("Read", `{"file_p`).Stopping(modeltest.Length), model.Reply{Stop: model.StopLength, Blocks: []model.Block{{Call: &model.Call{ID: "1", Name: "Read", Input: schema(`{"file_p`)}}}}},
		{"refused", modeltest.Say("no").Stopping(modeltest.Refused), model.Reply{Stop: model.StopRefused, Blocks: []model.Block{{Text: "no"}}}},
		{"says stop, but calls", modeltest.Call("Now", nil).Stopping("stop"), model.Reply{Stop: model.StopCalls, Blocks: []model.Block{{Call: &model.Call{ID: "1", Name: "Now", Input: schema(`{}`)}}}}},
		{"nothing", modeltest.Step{}, model.Reply{Stop: model.StopDone}},
		{"other model", modeltest.Step{Text: "x", Model: "scripted-2"}, model.Reply{Stop: model.StopDone, Model: "scripted-2", Blocks: []model.Block{{Text: "x"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, api string) {
				s := modeltest.Start(t, c.step.Using(usage))
				m, naps := make1(s, api, nil)
				r := request
				last := 0
				r.Progress = func(n int) {
					if n < last {
						t.Errorf("progress went from %d to %d", last, n)
					}
					last = n
				}
				got, err := m.Reply(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				want := c.want
				want.Usage = used
				if want.Model == "" {
					want.Model = "scripted"
				}
				for i, b := range got.Blocks {
					if b.Call != nil {
						got.Blocks[i].Call.ID = b.Call.ID[len(b.Call.ID)-1:]
					}
				}
				if d := cmp.Diff(want, *got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); d != "" {
					t.Error(d)
				}
				if len(*naps) > 0 || len(c.step.Text) > 0 && last < len(c.step.Text) {
					t.Errorf("%d pauses, progress %d", len(*naps), last)
				}
			})
		})
	}
}

// TestRounds: what a model said goes back, with results, and the prefix of the second
// request comes from the cache.
func TestRounds(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		s := modeltest.Start(t, modeltest.Call("Read", modeltest.In{"file_path": "a"}).And("Now", "no json").ThinkingOf("Let me <see>."), modeltest.Say("done"))
		m, _ := make1(s, api, nil)
		r := request
		r.Messages = append([]model.Message{}, r.Messages...)
		r.Messages[0] = user(strings.Repeat("shared ", 2000))
		first, err := m.Reply(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		results := model.Message{Role: model.User}
		for _, b := range first.Blocks {
			if b.Call != nil {
				results.Blocks = append(results.Blocks, model.Block{Result: &model.Result{ID: b.Call.ID, Text: ""}})
			}
		}
		if len(results.Blocks) != 2 {
			t.Fatalf("%+v", first)
		}
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Blocks: first.Blocks}, results)
		second, err := m.Reply(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Last()
		said := got.Messages[len(got.Messages)-2].Blocks
		if api == modeltest.Anthropic {
			if !sameJSON(said[0].Raw, schema(`{"type":"thinking","thinking":"Let me <see>.","signature":"c2lnbmVkIGJ5IHRoZSBzY3JpcHQ="}`)) {
				t.Errorf("thinking came back as %s", said[0].Raw)
			}
			if d := cmp.Diff([]string{"system", "messages[3]", "messages[4]", "messages[6]"}, got.Marks()); d != "" {
				t.Error(d)
			}
			said = said[1:]
		}
		if string(said[0].Input) != `{"file_path":"a"}` || string(said[1].Input) != `{"invalid":"no json"}` || got.Results()[0].Text != "(no output)" {
			t.Errorf("%+v, %+v", said, got.Results())
		}
		// All of the first request is read from the cache, but for the bytes around messages.
		if all := first.Usage.Input + first.Usage.CacheWrite; second.Usage.CacheRead < all*95/100 || second.Usage.Input+second.Usage.CacheWrite > 400 {
			t.Errorf("first %+v\nsecond %+v", first.Usage, second.Usage)
		}
		if second.Usage.Tokens() > first.Usage.Tokens()/2 || second.Usage.Cost >= first.Usage.Cost {
			t.Errorf("the cache saves nothing: %+v %+v", first.Usage, second.Usage)
		}
	})
}

// TestSharedPrefix: the same shared messages give the same bytes, whatever comes after.
func TestSharedPrefix(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		s := modeltest.Start(t, modeltest.Say("x").Forever())
		m, _ := make1(s, api, nil)
		r := request
		for _, prompt := range []string{"extract", "summarise"} {
			r.Messages = append(append([]model.Message{}, request.Messages[:4]...), user(prompt))
			if _, err := m.Reply(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		all := s.Requests()
		a, b := string(all[0].Raw), string(all[1].Raw)
		cut := func(s, prompt string) string {
			// The SDKs sort keys, so the messages do not stand at the end.
			return strings.Replace(s, `"text":"`+prompt+`"`, "", 1)
		}
		if api == modeltest.OpenAI {
			cut = func(s, prompt string) string { return strings.Replace(s, `"content":"`+prompt+`"`, "", 1) }
		}
		if cut(a, "extract") != cut(b, "summarise") {
			t.Errorf("the prefixes differ:\n%s\n%s", a, b)
		}
	})
}

func TestUsageEstimated(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		step := modeltest.Say(strings.Repeat("word", 50))
		step.NoUsage = true
		s := modeltest.Start(t, step)
		m, _ := make1(s, api, nil)
		r := model.Request{Messages: []model.Message{user(strings.Repeat("x", 401))}}
		got, err := m.Reply(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if u := got.Usage; u.Input != 101 || u.Output != 50 || !u.Estimated || !u.Priced {
			t.Errorf("%+v", u)
		}
	})
}

func TestParallel(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
			if r.N%5 == 0 {
				return modeltest.Fail(529, "busy")
			}
			return modeltest.Say("re: " + r.Prompt())
		})
		m, _ := make1(s, api, func(o *wire.Options) {
			o.Sleep = func(context.Context, time.Duration) error { return nil }
			o.Retries = 50
		})
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				text := fmt.Sprint("question ", i)
				got, err := m.Reply(t.Context(), model.Request{Messages: []model.Message{user(text)}})
				if err != nil || got.Blocks[0].Text != "re: "+text {
					t.Errorf("%v %+v", err, got)
				}
			})
		}
		wg.Wait()
	})
}

func TestName(t *testing.T) {
	for want, m := range map[string]model.Model{
		"anthropic claude-haiku-4-5":        anthropic.New(wire.Options{}),
		"anthropic x at 127.0.0.1:8080":     anthropic.New(wire.Options{Model: "x", BaseURL: "http://127.0.0.1:8080"}),
		"openai gpt-5":                      openai.New(wire.Options{Model: "gpt-5"}),
		"openai qwen at models.example:444": openai.New(wire.Options{Model: "qwen", BaseURL: "https://models.example:444/api/v1/"}),
	} {
		if m.Name() != want {
			t.Errorf("%q is not %q", m.Name(), want)
		}
	}
}

func failureOf(t *testing.T, err error) *wire.Failure {
	t.Helper()
	var f *wire.Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v is no failure", err)
	}
	return f
}
