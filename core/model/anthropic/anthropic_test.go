package anthropic

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/core/model"
	"mem/core/model/modeltest"
)

// TestNoProfile: what the SDK's own configuration says of addresses and keys is not
// heeded, wherever it lies.
func TestNoProfile(t *testing.T) {
	thief := modeltest.StartFunc(t, func(modeltest.Request) modeltest.Step { return modeltest.Say("mine now") })
	s := modeltest.Start(t, modeltest.Say("hello"))
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("APPDATA", home)
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_PROFILE", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "") // so that the test puts it back
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(home, "anthropic")
	t.Setenv("ANTHROPIC_CONFIG_DIR", dir)
	for name, text := range map[string]string{
		"configs/default.json":     fmt.Sprintf(`{"base_url":%q,"authentication":{"type":"user_oauth"}}`, thief.URL),
		"credentials/default.json": `{"type":"oauth_token","access_token":"token-of-the-profile","expires_at":4102444800}`,
	} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := New(Options{BaseURL: s.URL, Model: "scripted"})
	if _, err := m.Reply(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}}); err != nil {
		t.Fatal(err)
	}
	if got := s.Last(); got.Key != "" || strings.Contains(fmt.Sprint(got.Header), "token-of-the-profile") {
		t.Errorf("headers: %v", got.Header)
	}
	if len(thief.Requests()) > 0 {
		t.Error("the profile's address was asked")
	}
}

func TestBaseURL(t *testing.T) {
	for _, suffix := range []string{"", "/", "/v1", "/v1/"} {
		s := modeltest.Start(t, modeltest.Say("hello"))
		m := New(Options{BaseURL: s.URL + suffix, Model: "scripted"})
		if _, err := m.Reply(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}}); err != nil || s.Last().Path != "/v1/messages" {
			t.Errorf("%q: %v", suffix, err)
		}
	}
}

func TestPriced(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want model.Prices
	}{
		{Options{Model: DefaultModel}, model.Prices{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}},
		{Options{Model: DefaultModel + "-20251001"}, model.Prices{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}},
		{Options{Model: "another"}, model.Prices{}},
		{Options{Model: "another", Prices: model.Prices{Input: 3, Output: 15}}, model.Prices{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
		{Options{Model: DefaultModel, Prices: model.Prices{Input: 2, Output: 4, CacheRead: 1, CacheWrite: 3}}, model.Prices{Input: 2, Output: 4, CacheRead: 1, CacheWrite: 3}},
	} {
		got := priced(c.o)
		for _, d := range []float64{got.Input - c.want.Input, got.Output - c.want.Output, got.CacheRead - c.want.CacheRead, got.CacheWrite - c.want.CacheWrite} {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%s: %+v", c.o.Model, got)
			}
		}
	}
}

// TestMarks: four marks at most, none on what cannot carry one, all where they help.
func TestMarks(t *testing.T) {
	text := func(role model.Role, s string) model.Message {
		return model.Message{Role: role, Blocks: []model.Block{{Text: s}}}
	}
	thinking := model.Message{Role: model.Assistant, Blocks: []model.Block{{Text: "a"}, {Opaque: []byte(`{"type":"thinking","thinking":"x","signature":"y"}`)}}}
	tool := model.Tool{Name: "Read"}
	for name, c := range map[string]struct {
		r    model.Request
		want string
	}{
		"one message":         {model.Request{Messages: []model.Message{text(model.User, "a")}}, "messages[0]"},
		"tools only":          {model.Request{Tools: []model.Tool{tool, tool}, Messages: []model.Message{text(model.User, "a")}}, "tools[1] messages[0]"},
		"all shared":          {model.Request{System: "s", Messages: []model.Message{text(model.User, "a")}, Shared: 1}, "system messages[0]"},
		"ends opaque":         {model.Request{Messages: []model.Message{text(model.User, "a"), thinking, text(model.User, "b")}, Shared: 2}, "messages[1] messages[2]"},
		"nothing but opaque":  {model.Request{Messages: []model.Message{text(model.User, "a"), {Role: model.Assistant, Blocks: thinking.Blocks[1:]}, text(model.User, "b")}, Shared: 2}, "messages[0] messages[2]"},
		"empty ones left out": {model.Request{Messages: []model.Message{text(model.User, "a"), text(model.Assistant, " "), text(model.User, "b"), text(model.User, "c")}, Shared: 2}, "messages[0] messages[2]"},
		"long":                {model.Request{System: "s", Messages: []model.Message{text(model.User, "a"), text(model.Assistant, "b"), text(model.User, "c"), text(model.Assistant, "d"), text(model.User, "e")}, Shared: 1}, "system messages[0] messages[2] messages[4]"},
	} {
		s := modeltest.Start(t, modeltest.Say("x"))
		if _, err := New(Options{BaseURL: s.URL, Model: "scripted"}).Reply(t.Context(), c.r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(s.Last().Marks(), " "); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestForeignIDs: conversations of other models have ids and names that this API refuses.
func TestForeignIDs(t *testing.T) {
	a, b := callID("functions.Read:0"), callID("functions.Read:1")
	if a == b || a != callID("functions.Read:0") || !idPattern().MatchString(a) || callID("toolu_01") != "toolu_01" {
		t.Errorf("%s %s", a, b)
	}
	if got := toolName("my.tool: ü"); got != "my_tool___" || toolName("") != "_" || len(toolName(strings.Repeat("x", 500))) != maxToolName {
		t.Error(got)
	}
}
