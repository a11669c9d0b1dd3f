package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"mem/core/fork"
	"mem/core/memory"
	"mem/core/model"
	"mem/core/settings"
	"mem/internal/need"
)

// serveThinking makes this binary a server with a forked agent that thinks with the
// model of its client.
const serveThinking = "MEM_TEST_SERVE_THINKING"

func TestMain(m *testing.M) {
	if os.Getenv(serveThinking) != "" {
		os.Exit(thinkingServer())
	}
	goleak.VerifyTestMain(m)
}

// scratchpad are tools that keep nothing.
type scratchpad struct{}

func (scratchpad) Tools() []model.Tool {
	object := json.RawMessage(`{"type":"object","properties":{"file_path":{"type":"string"}}}`)
	return []model.Tool{{Name: "Read", Description: "Reads a file", Schema: object}, {Name: "Write", Description: "Writes a file", Schema: object}}
}

func (scratchpad) Call(_ context.Context, name string, input json.RawMessage) fork.Called {
	var in struct {
		Path string `json:"file_path"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return fork.Called{Failed: true, Text: err.Error()}
	}
	switch name {
	case "Read":
		return fork.Called{Text: "a", Read: 1}
	case "Write":
		return fork.Called{Text: "written", Touched: []string{filepath.Base(in.Path)}}
	}
	return fork.Called{Refused: "there is no tool " + name}
}

func thinkingServer() int {
	s := New(Options{Memory: memory.Options{Env: settings.FromOS()}, Version: "test"})
	outcome := make(chan *fork.Outcome, 1)
	s.mcp.AddTool(mcp.NewTool("think_start"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		m := s.sampling(ctx)
		if m == nil {
			return mcp.NewToolResultText("there is no sampling"), nil
		}
		go func() {
			time.Sleep(100 * time.Millisecond) // the call is over by then
			user := func(role model.Role, text string) model.Message {
				return model.Message{Role: role, Blocks: []model.Block{{Text: text}}}
			}
			out, err := fork.NewLoop(m, fork.Sampling).Run(context.Background(), fork.Task{
				System: "You keep memory.", Prompt: "Remember.", Tools: scratchpad{}, Limits: fork.Limits{Turns: 4, Wall: 20 * time.Second},
				Shared: []model.Message{user(model.User, "hello"), user(model.Assistant, "hi")},
			})
			if err != nil {
				out = &fork.Outcome{Reason: err.Error()}
			}
			outcome <- out
		}()
		return mcp.NewToolResultText("started"), nil
	})
	s.mcp.AddTool(mcp.NewTool("think_status"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case out := <-outcome:
			b, err := json.Marshal(out)
			return mcp.NewToolResultText(string(b)), err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	if err := s.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestSampling drives the adapter with the TypeScript SDK in both eras.
func TestSampling(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "..", "e2e", "clients", "sampling.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	needNode(t, filepath.Dir(script))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"v1", "v2-legacy", "v2-auto", "v2-modern"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "node", script, client, self)
			cmd.Dir, cmd.WaitDelay = home, time.Second
			cmd.Env = []string{serveThinking + "=1", "HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CACHE_HOME=" + home, "PATH=" + os.Getenv("PATH")}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			done := false
			for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
				var c struct {
					Name, Error string
					Done        bool
				}
				if err := json.Unmarshal(lines.Bytes(), &c); err != nil || c.Error != "" {
					t.Errorf("%s: %v%s", c.Name, err, c.Error)
				}
				done = done || c.Done
			}
			if err != nil || !done {
				t.Errorf("it did not come to its end: %v\n%s", err, stderr.String())
			}
		})
	}
}

// needNode skips, loudly, where the Node clients are not installed.
func needNode(t *testing.T, dir string) {
	t.Helper()
	_, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "node_modules", "@modelcontextprotocol", "sdk", "package.json"))
	}
	if err != nil {
		err = fmt.Errorf("%w; run scripts/node-clients.sh", err)
	}
	need.That(t, "the Node clients", err)
}

// TestSamplingAnswers reads what clients may answer.
func TestSamplingAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		content any
		stop    string
		want    model.Stop
		blocks  int
		fails   bool
	}{
		"text":      {mcp.NewTextContent("x"), "endTurn", model.StopDone, 1, false},
		"calls":     {[]mcp.Content{mcp.NewTextContent("x"), mcp.ToolUseContent{ID: "1", Name: "Read", Input: map[string]any{"a": 1}}}, "toolUse", model.StopCalls, 2, false},
		"cut off":   {[]mcp.Content{mcp.ToolUseContent{ID: "1", Name: "Read"}}, "maxTokens", model.StopLength, 1, false},
		"nothing":   {[]mcp.Content{}, "endTurn", model.StopDone, 0, false},
		"a picture": {mcp.NewImageContent("", "image/png"), "endTurn", "", 0, true},
		"no shape":  {nil, "", "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &clientModel{session: answering{&mcp.CreateMessageResult{SamplingMessage: mcp.SamplingMessage{Content: c.content}, StopReason: c.stop}}, client: "c"}
			r, err := m.Reply(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hello"}}}}})
			if (err != nil) != c.fails || r.Usage.Requests != 1 || !c.fails && (r.Stop != c.want || len(r.Blocks) != c.blocks) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

type answering struct{ result *mcp.CreateMessageResult }

var _ server.SessionWithSampling = answering{}

func (a answering) RequestSampling(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return a.result, nil
}
func (answering) Initialize()                                         {}
func (answering) Initialized() bool                                   { return true }
func (answering) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (answering) SessionID() string                                   { return "x" }
