package modeltest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func ask(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, string(b) + " [cut]"
	}
	return res.StatusCode, string(b)
}

const (
	anthropicRequest = `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hello"}]}`
	openAIRequest    = `{"model":"m","stream":true,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"},
		{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"text"},{"role":"user","content":"go on"}]}`
)

func TestServer(t *testing.T) {
	s := Start(t, Say("hi").Using(Usage{Input: 3, Output: 2}), Call("Read", In{"path": "a"}).And("Grep", `no json`), Fail(529, "busy").With("Retry-After", "7"), Say("long enough to be cut").CutAt(40))
	status, body := ask(t, s.URL+"/v1/messages", anthropicRequest)
	if want := `"usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":3,"output_tokens":2}`; status != 200 || !strings.Contains(body, want) {
		t.Errorf("%d %s", status, body)
	}
	r := s.Last()
	if r.System != "be brief" || r.Prompt() != "hello" || strings.Join(r.Marks(), " ") != "system" || r.Turn() != 1 {
		t.Errorf("%+v", r)
	}
	status, body = ask(t, s.OpenAI()+"/chat/completions", openAIRequest)
	if status != 200 || !strings.Contains(body, `"id":"call_2_2"`) || !strings.HasSuffix(body, "data: [DONE]\n\n") || strings.Contains(body, "usage") {
		t.Errorf("%d %s", status, body)
	}
	if r := s.Last(); len(r.Results()) != 1 || r.Results()[0].Text != "text" || r.Prompt() != "go on" || r.Turn() != 2 {
		t.Errorf("%+v", r)
	}
	if status, body = ask(t, s.URL+"/v1/messages", anthropicRequest); status != 529 || !strings.Contains(body, `"overloaded_error"`) {
		t.Errorf("%d %s", status, body)
	}
	streamed := strings.Replace(anthropicRequest, "{", `{"stream":true,`, 1)
	if status, body = ask(t, s.URL+"/v1/messages", streamed); status != 200 || !strings.HasSuffix(body, " [cut]") || len(body) != 46 {
		t.Errorf("%d %q", status, body)
	}
	if s.Left() != 0 || len(s.Requests()) != 4 {
		t.Errorf("%d left, %d came", s.Left(), len(s.Requests()))
	}
}

// TestRefuses: what the real APIs refuse is refused here, so that a test notices.
func TestRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"no limit":        `{"model":"m","messages":[{"role":"user","content":"x"}]}`,
		"no result":       `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]},{"role":"user","content":"y"}]}`,
		"no call":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`,
		"input no object": `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":"x"}]}]}`,
		"empty text":      `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`,
	} {
		var r Request
		r.API, r.Raw = Anthropic, []byte(body)
		if err := r.decode(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
