// Package update is the job that keeps the memory of a session: a forked agent writes
// its ten sections anew when enough was said since the last time.
package update

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mem/core/fork"
	"mem/core/fork/gate"
	"mem/core/inherit"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/sessionmem"
	"mem/core/settings"
	"mem/core/text"
	"mem/core/transcript"
	"mem/core/work"
)

// Limits of one run of the agent. Ours: it reads one file and writes it.
const (
	Turns        = 5
	Wall         = 5 * time.Minute
	OutputTokens = 40_000
	ToolCalls    = 40
	ReadBytes    = 1 << 20
)

// Params are those of the record of an update.
type Params struct {
	Version    int    `json:"v"`
	Transcript string `json:"transcript"`
	// Asked says that a person or an agent did: the thresholds are passed.
	Asked bool `json:"asked,omitempty"`
}

// Decision is that of the thresholds, or of the switches before them.
type Decision struct {
	sessionmem.Decision
	Gate string `json:"gate"` // "agent", "memory", "setting", "compaction", "thresholds", "due"
}

// Off says why no session memory is kept, "" where it is. client says that the session is
// one of the client whose settings say whether it compacts.
func Off(m *memory.Memory, client bool) (gate, reason string) {
	switch {
	case !m.Location.Memory.On:
		return "memory", "memory is switched off: " + m.Location.Memory.Why
	case !m.Config.Jobs.SessionMemory.Enabled:
		return "setting", "jobs.session_memory.enabled is false (" + m.Config.Source("jobs.session_memory.enabled") + ")"
	}
	if client {
		if s := m.Location.Client.CompactSwitch(m.Env()); !s.On {
			return "compaction", "the client does not compact by itself, so nobody reads a session memory: " + s.Why
		}
	}
	return "", ""
}

// Check says whether the memory of a session is due. It reads the end of the transcript.
func Check(ctx context.Context, m *memory.Memory, x *transcript.Session) (Decision, error) {
	if x.Agent != "" {
		return Decision{Gate: "agent", Decision: sessionmem.Decision{Reason: "the session is a subagent's, which keeps none"}}, nil
	}
	if gate, why := Off(m, x.Origin != transcript.OriginRecorded); gate != "" {
		return Decision{Gate: gate, Decision: sessionmem.Decision{Reason: why}}, nil
	}
	v, err := look(ctx, m, x)
	if err != nil {
		return Decision{}, err
	}
	defer v.src.Close()
	d := Decision{Decision: sessionmem.Decide(m.Config.Jobs.SessionMemory, v.state, v.measure), Gate: "thresholds"}
	if d.Due {
		d.Gate = "due"
	}
	return d, nil
}

// view is a session as a run looks at it.
type view struct {
	src     transcript.Source
	t       *transcript.Transcript
	chain   *transcript.Chain
	state   *sessionmem.State
	measure sessionmem.Measure
}

func look(ctx context.Context, m *memory.Memory, x *transcript.Session) (*view, error) {
	st, err := sessionmem.LoadState(m.StateDirectory(), x.ID)
	if err != nil {
		return nil, err
	}
	src, err := transcript.Open(x.Path)
	if err != nil {
		return nil, err
	}
	v := &view{src: src, state: st}
	if v.t, err = transcript.ReadTail(ctx, src, src.Size(), transcript.Options{}); err == nil {
		v.chain = v.t.Chain(transcript.UUID{})
		v.measure, err = sessionmem.Take(ctx, src, v.t, v.chain, st)
	}
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("reading the transcript of %s: %w", memdir.ShownName(x.ID), err)
	}
	return v, nil
}

// ErrBusy says that another process is at it.
var ErrBusy = errors.New("another process writes the memory of this session just now")

// Run is the body of a job: the agent writes the summary. It gives what it did in words.
func Run(ctx context.Context, h *work.House, r *job.Run, x *transcript.Session, asked bool) (string, error) {
	unlock, ok, err := h.Jobs.TryLock("session-memory-" + text.Hash(x.ID)[:12])
	if err != nil {
		return "", err
	}
	if !ok {
		return "", ErrBusy
	}
	defer unlock()
	v, err := look(ctx, h.Memory, x)
	if err != nil {
		return "", err
	}
	defer v.src.Close()
	conf := h.Memory.Config.Jobs.SessionMemory
	if d := sessionmem.Decide(conf, v.state, v.measure); !d.Due && !asked {
		return "nothing was written: " + d.Reason, nil // somebody else did meanwhile
	}
	now, err := sessionmem.Read(x)
	if err != nil && !errors.Is(err, sessionmem.ErrNone) {
		return "", err
	}
	if now == nil {
		now = &sessionmem.File{}
	}
	since := transcript.UUID{}
	if v.state != nil {
		since = v.state.Leaf
	}
	c, err := inherit.Take(ctx, v.src, v.t, v.chain, inherit.Options{Since: since, Redact: h.Memory.Guard()})
	if err != nil {
		return "", err
	}
	next, out, err := write(ctx, h, r, conf, now.Text, c)
	if err != nil {
		return "", err
	}
	if !out.done() {
		return "", fmt.Errorf("nothing was written: the run ended by its %s: %s", out.End, out.Reason)
	}
	clean, _ := h.Memory.Guard().Redact([]byte(next))
	sum, cut := sessionmem.Parse(string(clean)).Cut(conf)
	if sum.Filled() == 0 {
		return "", errors.New("nothing was written: the agent left all sections empty")
	}
	f, err := sessionmem.Write(x, sum.String(), now.Hash)
	if err != nil {
		return "", err
	}
	st := sessionmem.State{Session: x.ID, Leaf: c.Leaf, Tokens: v.measure.Tokens, Boundary: v.measure.Boundary, Updated: h.Memory.Env().Time(), Hash: f.Hash}
	if err := st.Save(h.Memory.StateDirectory()); err != nil {
		return "", err
	}
	words := fmt.Sprintf("%s was written: %d of %d sections, about %d tokens", f.Path, sum.Filled(), len(sessionmem.Sections), sessionmem.Tokens(f.Text))
	for _, o := range cut {
		words += "; cut, since " + o.String()
	}
	return words, nil
}

type outcome struct{ *fork.Outcome }

func (o outcome) done() bool { return o.End == fork.EndDone }

// write has the agent write the summary in a folder of its own, and once more where it
// is over its limits.
func write(ctx context.Context, h *work.House, r *job.Run, conf settings.SessionMemoryConfig, now string, c *inherit.Conversation) (string, outcome, error) {
	parent := filepath.Join(h.Memory.StateDirectory(), "stages")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", outcome{}, err
	}
	dir, err := os.MkdirTemp(parent, "session-")
	if err != nil {
		return "", outcome{}, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, sessionmem.Name)
	if strings.TrimSpace(now) == "" {
		now = sessionmem.Template()
	}
	if err := os.WriteFile(name, []byte(now), 0o600); err != nil {
		return "", outcome{}, err
	}
	choice := h.Choose(r.Record().By == "hook")
	r.Progress(func(x *job.Record) { x.Engine, x.Detail, x.Why = choice.Name, choice.Detail, choice.Why })
	if choice.Engine == nil {
		return "", outcome{}, fmt.Errorf("no engine writes it by itself (%s): %s. session_summary_update takes a summary that the agent writes", choice.Name, choice.Why)
	}
	o := work.Order{
		System: system, Shared: c.Messages, Prompt: instruction(conf, c, h.Memory.Env().Time()),
		Mounts: []gate.Mount{{Name: "session", Dir: dir, Files: []string{sessionmem.Name}, Write: onlySummary}},
		Limits: fork.Limits{Turns: Turns, Wall: Wall, OutputTokens: OutputTokens, ToolCalls: ToolCalls, ReadBytes: ReadBytes},
	}
	for second := false; ; second = true {
		got, err := h.Loose(ctx, r, choice, o, dir)
		if err != nil {
			return "", outcome{}, err
		}
		out := outcome{got}
		if out.End == fork.EndCancelled {
			return "", outcome{}, context.Canceled
		}
		text, err := summaryIn(name)
		if err != nil {
			return "", outcome{}, err
		}
		over := sessionmem.Parse(text).Check(conf)
		if second || len(over) == 0 || !out.done() {
			return text, out, nil
		}
		o.Prompt = condense(over)
	}
}

// onlySummary lets the one file be written.
func onlySummary(rel string) error {
	if rel != sessionmem.Name {
		return fmt.Errorf("only /session/%s may be written", sessionmem.Name)
	}
	return nil
}

// summaryIn reads what the agent left. A command line of its own may have left anything.
func summaryIn(name string) (string, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("nothing was written: the agent removed the summary")
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > sessionmem.MaxFile:
		return "", errors.New("nothing was written: the agent left something that is no summary")
	}
	b, err := os.ReadFile(name)
	return string(b), err
}

// DecodeParams reads those of a record.
func DecodeParams(r *job.Record) (Params, error) {
	var p Params
	if err := json.Unmarshal(r.Params, &p); err != nil || p.Version != 1 {
		return p, fmt.Errorf("the parameters of the job %s cannot be read; it may be of another version of mem", r.ID)
	}
	return p, nil
}
