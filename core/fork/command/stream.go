package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/fork"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/model"
)

// confined are the tools that a confined claude has; all of them stay in its working
// directory under --restricted.
var confined = []string{"Edit", "Glob", "Grep", "Read", "Write"}

// event is one line of claude's stream-json, as far as it matters here (observed on
// 2.1.332). Lines of other types pass.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`

	// system/init
	Tools      []string          `json:"tools"`
	MCPServers []json.RawMessage `json:"mcp_servers"`
	Model      string            `json:"model"`
	Mode       string            `json:"permissionMode"`

	// assistant and user: a message; system/permission_denied: words
	Message json.RawMessage `json:"message"`

	// system/permission_denied
	Tool    string `json:"tool_name"`
	ToolUse string `json:"tool_use_id"`
	Denied  string `json:"decision_reason"`

	// system/api_retry
	Status  int    `json:"error_status"`
	Attempt int    `json:"attempt"`
	Error   string `json:"error"`

	// result
	IsError  bool                      `json:"is_error"`
	Result   string                    `json:"result"`
	Errors   []string                  `json:"errors"`
	Cost     *float64                  `json:"total_cost_usd"`
	PerModel map[string]perModelTokens `json:"modelUsage"`
	Usage    *tokens                   `json:"usage"`
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Usage   tokens          `json:"usage"`
}

type tokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

type perModelTokens struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	CacheWrite int64 `json:"cacheCreationInputTokens"`
}

// part is one block of a message.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	ToolUse string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

const (
	maxRefusals = 100
	maxSaid     = 200
	maxInput    = 300
	maxAbout    = 160
	maxReport   = 32 << 10
)

// watch follows a run by its output.
type watch struct {
	task fork.Task
	scan *guard.Scanner
	hush func(string) string
	out  *fork.Outcome

	stages   []string // names of the stage: as given, and without symbolic links
	begun    bool     // the tools were looked at
	result   *event
	trouble  string // with its API, the last
	reply    string // id of the one under way
	usage    model.Usage
	current  model.Usage
	written  int64 // bytes of the message under way
	uses     map[string]part
	touched  map[string]bool
	progress fork.Progress
}

func newWatch(t fork.Task, scan *guard.Scanner, hush func(string) string, out *fork.Outcome) *watch {
	w := &watch{task: t, scan: scan, hush: hush, out: out, stages: []string{t.Stage}, uses: map[string]part{}, touched: map[string]bool{}}
	if real, err := filepath.EvalSymlinks(t.Stage); err == nil && real != t.Stage {
		w.stages = append(w.stages, real)
	}
	return w
}

// line takes one line of output. It gives false where the run is to end.
func (w *watch) line(b []byte) bool {
	var e event
	if json.Unmarshal(b, &e) != nil {
		return true // no line of the stream: what a wrapper prints
	}
	var m message
	if (e.Type == "assistant" || e.Type == "user") && json.Unmarshal(e.Message, &m) != nil {
		return true
	}
	switch {
	case e.Type == "system" && e.Subtype == "init":
		w.checkTools(e)
	case e.Type == "system" && e.Subtype == "permission_denied":
		w.denied(e)
	case e.Type == "system" && e.Subtype == "api_retry":
		w.retry(e)
	case e.Type == "assistant":
		w.assistant(m)
	case e.Type == "user":
		w.results(m)
	case e.Type == "result":
		w.result = &e
		w.settle(e)
	}
	return w.out.End == ""
}

// checkTools ends the run where it is not confined as was asked for: before it has done
// anything.
func (w *watch) checkTools(e event) {
	w.begun = true
	if e.Model != "" {
		w.out.Model = w.short(e.Model, 80)
	}
	var more []string
	for _, t := range e.Tools {
		if !slices.Contains(confined, t) {
			more = append(more, memdir.ShownName(t))
		}
	}
	switch {
	case len(more) > 0:
		w.end(fork.EndFailed, fmt.Sprintf("the command was ended at once, since it is not confined: besides what it may, it has the tools %s", strings.Join(more[:min(len(more), 10)], ", ")))
	case len(e.MCPServers) > 0:
		w.end(fork.EndFailed, "the command was ended at once, since it is not confined: it has MCP servers")
	case e.Mode != "" && e.Mode != permissionMode:
		w.end(fork.EndFailed, fmt.Sprintf("the command was ended at once, since it is not confined: its permission mode is %s", memdir.ShownName(e.Mode)))
	}
}

// assistant takes one block of a reply; the blocks of one reply share an id.
func (w *watch) assistant(m message) {
	if !w.begun {
		w.end(fork.EndFailed, "the command was ended, since it began to work without saying what tools it has")
		return
	}
	parts := partsOf(m.Content)
	if m.ID != w.reply || m.ID == "" {
		w.tell()
		if l := w.task.Limits.Turns; l > 0 && w.out.Turns >= l {
			w.end(fork.EndTurns, fmt.Sprintf("after %d replies, its limit, the agent was not through", l))
			return
		}
		w.reply, w.trouble = m.ID, ""
		w.out.Turns++
		w.usage = w.usage.Add(w.current)
		w.current, w.written = model.Usage{Requests: 1}, 0
	}
	if m.Model != "" && m.Model != "<synthetic>" {
		w.out.Model = w.short(m.Model, 80)
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			w.written += int64(len(p.Text))
			if t := strings.TrimSpace(p.Text); t != "" {
				w.out.Text = p.Text
				w.progress.Text = w.short(t, maxSaid)
			}
		case "tool_use":
			w.written += int64(len(p.Input))
			w.uses[p.ID] = p
			w.out.ToolCalls++
			w.progress.Calls = append(w.progress.Calls, strings.TrimRight(memdir.Shown(p.Name, 64)+" "+w.short(about(p.Input), maxAbout), " "))
		}
	}
	u := m.Usage
	// The stream gives the tokens of a reply as they are at its begin.
	w.current = model.Usage{Requests: 1, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: max(u.Output, w.written/model.BytesPerToken), Estimated: true}
	w.out.Usage = w.usage.Add(w.current)
	w.limits()
}

// results takes what tools gave.
func (w *watch) results(m message) {
	for _, p := range partsOf(m.Content) {
		if p.Type != "tool_result" {
			continue
		}
		use, known := w.uses[p.ToolUse]
		delete(w.uses, p.ToolUse)
		switch {
		case !known:
		case !p.IsError && (use.Name == "Edit" || use.Name == "Write"):
			for _, stage := range w.stages {
				if rel, ok := within(stage, about(use.Input)); ok {
					w.touched[rel] = true
				}
			}
		case !p.IsError:
			w.out.Read += int64(len(p.Content))
		case strings.Contains(string(p.Content), "No such tool available"):
			w.refuse(use, textOf(p.Content))
		}
	}
	w.limits()
}

// denied notes what the command's own permissions refused.
func (w *watch) denied(e event) {
	var why string
	if json.Unmarshal(e.Message, &why) != nil || why == "" {
		why = e.Denied
	}
	use, ok := w.uses[e.ToolUse]
	if !ok {
		use = part{Name: e.Tool}
	}
	w.refuse(use, why)
}

// maxRetries is how often the command may ask again after its API declined, with a status
// that does not change by asking. It would go on for minutes.
const maxRetries = 2

// retry notes that the command's API does not answer.
func (w *watch) retry(e event) {
	w.trouble = fmt.Sprintf("its API answered %d %s at attempt %d", e.Status, w.short(e.Error, maxSaid), e.Attempt)
	if e.Status >= 400 && e.Status < 500 && e.Status != 408 && e.Status != 409 && e.Status != 429 && e.Attempt > maxRetries {
		w.end(fork.EndFailed, "the command cannot reach its model: "+w.trouble+"; `claude -p hello` in a terminal shows whether it is logged in")
	}
}

func (w *watch) refuse(use part, why string) {
	switch n := len(w.out.Refused); {
	case n < maxRefusals:
		w.out.Refused = append(w.out.Refused, fork.Refusal{Turn: w.out.Turns, Tool: memdir.Shown(use.Name, 64), Input: w.short(string(use.Input), maxInput), Reason: w.short(why, maxInput)})
	case n == maxRefusals:
		w.out.Refused = append(w.out.Refused, fork.Refusal{Turn: w.out.Turns, Tool: "more", Reason: fmt.Sprintf("later refusals are not listed: there are more than %d", maxRefusals)})
	}
}

// settle takes the last line, which says what all of it used.
func (w *watch) settle(e event) {
	w.tell()
	u := model.Usage{Requests: w.out.Turns}
	switch {
	case len(e.PerModel) > 0:
		for _, m := range e.PerModel {
			u.Input, u.Output, u.CacheRead, u.CacheWrite = u.Input+m.Input, u.Output+m.Output, u.CacheRead+m.CacheRead, u.CacheWrite+m.CacheWrite
		}
	case e.Usage != nil:
		u.Input, u.Output, u.CacheRead, u.CacheWrite = e.Usage.Input, e.Usage.Output, e.Usage.CacheRead, e.Usage.CacheWrite
	default:
		u = w.out.Usage
	}
	if e.Cost != nil {
		u.Cost, u.Priced = *e.Cost, true
	}
	w.out.Usage = u
}

// limits ends the run where a limit is reached.
func (w *watch) limits() {
	l, o := w.task.Limits, w.out
	switch {
	case l.Tokens > 0 && o.Usage.Tokens() >= l.Tokens:
		w.end(fork.EndBudget, fmt.Sprintf("about %d tokens were used, and the budget is %d (budgets.job.tokens and budgets.day.tokens set it)", o.Usage.Tokens(), l.Tokens))
	case l.OutputTokens > 0 && o.Usage.Output >= l.OutputTokens:
		w.end(fork.EndOutput, fmt.Sprintf("the model wrote about %d tokens, and its limit is %d", o.Usage.Output, l.OutputTokens))
	case l.ToolCalls > 0 && o.ToolCalls > l.ToolCalls:
		w.end(fork.EndCalls, fmt.Sprintf("the agent made more than %d tool calls, its limit", l.ToolCalls))
	case l.ReadBytes > 0 && o.Read >= l.ReadBytes:
		w.end(fork.EndRead, fmt.Sprintf("its tools gave %d bytes, and its limit is %d", o.Read, l.ReadBytes))
	}
}

// tell reports the reply that is complete.
func (w *watch) tell() {
	p := w.progress
	w.progress = fork.Progress{}
	if w.task.Progress == nil || w.reply == "" {
		return
	}
	p.Turn, p.Usage, p.ToolCalls, p.Touched = w.out.Turns, w.out.Usage, w.out.ToolCalls, sorted(w.touched)
	w.task.Progress(p)
}

func (w *watch) end(e fork.End, reason string) {
	if w.out.End == "" {
		w.out.End, w.out.Reason = e, reason
	}
}

// clean removes secrets from what the command said.
func (w *watch) clean(s string) string {
	b, _ := w.scan.Redact([]byte(w.hush(s)))
	return string(b)
}

// maxSearched is how much of a text is searched for secrets before it is shortened, in
// bytes: shortened first, half a secret would stay unseen.
const maxSearched = 16 << 10

// short gives a text on one line, without secrets and cut to a number of characters.
func (w *watch) short(s string, most int) string {
	return memdir.Shown(w.clean(s[:min(len(s), maxSearched)]), most)
}

// about is the argument of a call that tells most.
func about(input json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, key := range []string{"file_path", "path", "pattern", "command"} {
		var s string
		if json.Unmarshal(args[key], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// within gives a path of the stage relative to it.
func within(stage, path string) (string, bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(stage, path)
	}
	rel, err := filepath.Rel(stage, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// partsOf reads the content of a message, which may be one text.
func partsOf(raw json.RawMessage) []part {
	var parts []part
	if json.Unmarshal(raw, &parts) == nil {
		return parts
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []part{{Type: "text", Text: s}}
	}
	return nil
}

func textOf(raw json.RawMessage) string {
	var texts []string
	for _, p := range partsOf(raw) {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}
