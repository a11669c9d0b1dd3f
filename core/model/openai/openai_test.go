package openai

import (
	"strings"
	"testing"

	"mem/core/model"
	"mem/core/model/modeltest"
)

func ask(t *testing.T, m model.Model, r model.Request) (*model.Reply, error) {
	t.Helper()
	r.Messages = append(r.Messages, model.Message{Role: model.User, Blocks: []model.Block{{Text: "hi"}}})
	return m.Reply(t.Context(), r)
}

// TestAdapts: a server that knows the other name of the limit, or cannot count what it
// streams, is asked its way, and from then on at once.
func TestAdapts(t *testing.T) {
	for _, model1 := range []string{"local", "gpt-5-mini"} {
		s := modeltest.StartFunc(t, func(r modeltest.Request) modeltest.Step {
			old, renamed := strings.Contains(string(r.Raw), `"max_tokens"`), strings.Contains(string(r.Raw), `"max_completion_tokens"`)
			switch {
			case r.AskedUsage:
				return modeltest.Fail(400, "stream_options: Extra inputs are not permitted")
			case model1 == "local" && old:
				return modeltest.Fail(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
			case old == renamed:
				return modeltest.Fail(400, "two limits")
			}
			return modeltest.Say("fine")
		})
		m := New(Options{BaseURL: s.URL, Model: model1, Retries: -1})
		for range 3 {
			// Each request learns one thing at most; the second knows both.
			if _, err := ask(t, m, model.Request{MaxTokens: 5}); err != nil && len(s.Requests()) > 2 {
				t.Errorf("%s: %v", model1, err)
			}
		}
		before := len(s.Requests())
		got, err := ask(t, m, model.Request{MaxTokens: 5})
		if err != nil || len(s.Requests()) != before+1 || !got.Usage.Estimated {
			t.Errorf("%s: %v, %d requests", model1, err, len(s.Requests())-before)
		}
	}
}

func TestLimitIsNotRenamedForAValue(t *testing.T) {
	s := modeltest.StartFunc(t, func(modeltest.Request) modeltest.Step {
		return modeltest.Fail(400, "max_tokens is too large: 99. This model supports at most 8 completion tokens")
	})
	m := New(Options{BaseURL: s.URL, Model: "local", Retries: -1})
	if _, err := ask(t, m, model.Request{MaxTokens: 99}); err == nil || len(s.Requests()) != 1 {
		t.Errorf("%v, %d requests", err, len(s.Requests()))
	}
}

// TestCallsOfLocalServers: calls without numbers, with one number for all, without ids,
// with the name in every piece.
func TestCallsOfLocalServers(t *testing.T) {
	end := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	piece := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]}}]}` + "\n\n"
	}
	for name, body := range map[string]string{
		"no numbers": piece(`{"id":"x","type":"function","function":{"name":"A","arguments":"{\"a\":1}"}},{"id":"y","type":"function","function":{"name":"B","arguments":"{\"b\":2}"}}`),
		"no numbers, one after the other": piece(`{"id":"x","type":"function","function":{"name":"A","arguments":"{\"a\":1}"}}`) +
			piece(`{"id":"y","type":"function","function":{"name":"B","arguments":"{\"b\":2}"}}`),
		"one number": piece(`{"index":0,"id":"x","type":"function","function":{"name":"A","arguments":"{\"a\":1}"}}`) +
			piece(`{"index":0,"id":"y","type":"function","function":{"name":"B","arguments":"{\"b\":2}"}}`),
		"no ids": piece(`{"index":0,"type":"function","function":{"name":"A","arguments":"{\"a\":1}"}}`) +
			piece(`{"index":1,"type":"function","function":{"name":"B","arguments":"{\"b\":2}"}}`),
		"names and ids again": piece(`{"index":0,"id":"x","function":{"name":"A","arguments":"{\"a\""}}`) + piece(`{"index":0,"id":"x","function":{"name":"A","arguments":":1}"}}`) +
			piece(`{"index":1,"id":"y","function":{"name":"B","arguments":"{\"b\":2}"}}`),
		"signs of life": strings.Repeat(": still loading\n\n", 1000) + piece(`{"index":0,"id":"x","function":{"name":"A","arguments":"{\"a\":1}"}},{"index":1,"id":"y","function":{"name":"B","arguments":"{\"b\":2}"}}`),
	} {
		s := modeltest.Start(t, modeltest.Answer("text/event-stream", body+end))
		got, err := ask(t, New(Options{BaseURL: s.URL, Model: "local"}), model.Request{})
		if err != nil || len(got.Blocks) != 2 || got.Stop != model.StopCalls {
			t.Errorf("%s: %+v %v", name, got, err)
			continue
		}
		a, b := got.Blocks[0].Call, got.Blocks[1].Call
		if a.Name != "A" || b.Name != "B" || string(a.Input) != `{"a":1}` || string(b.Input) != `{"b":2}` || a.ID == "" || a.ID == b.ID {
			t.Errorf("%s: %+v %+v", name, a, b)
		}
	}
}

func TestOtherAnswers(t *testing.T) {
	s := modeltest.Start(t,
		modeltest.Answer("text/event-stream", `data: {"choices":[{"index":0,"delta":{"refusal":"I will not"}}]}`+"\n\n"+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"),
		modeltest.Answer("text/event-stream", `data: {"choices":[{"index":0,"delta":{"reasoning_content":"`+strings.Repeat("hmm ", 100)+`"}}]}`+"\n\n"+`data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`+"\n\n"),
		modeltest.Answer("text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"error"}]}`+"\n\n"))
	m := New(Options{BaseURL: s.OpenAI(), Model: "local", Retries: -1})
	if got, err := ask(t, m, model.Request{}); err != nil || got.Stop != model.StopRefused || got.Blocks[0].Text != "I will not" {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := ask(t, m, model.Request{}); err != nil || got.Usage.Output < 100 || got.Blocks[0].Text != "x" {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := ask(t, m, model.Request{}); err == nil || !strings.Contains(err.Error(), "was cut off: the server says that an error ended it") || got.Usage.Requests != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestReasoningModels: the SDK refuses models that call tools over another API only.
func TestReasoningModels(t *testing.T) {
	s := modeltest.Start(t, modeltest.Say("x"))
	tools := []model.Tool{{Name: "Read"}}
	if _, err := ask(t, New(Options{BaseURL: s.URL, Model: "gpt-6-astra"}), model.Request{Tools: tools}); err == nil || !strings.Contains(err.Error(), "choose another in engines.provider.model") {
		t.Error(err)
	}
	if _, err := ask(t, New(Options{BaseURL: s.URL, Model: "gpt-6-sol"}), model.Request{Tools: tools}); err != nil || !strings.Contains(string(s.Last().Raw), `"reasoning_effort":"none"`) {
		t.Error(err)
	}
}
