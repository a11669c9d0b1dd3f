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

	"mem/core/engine"
	"mem/core/fork"
	"mem/core/fork/gate"
	"mem/core/inherit"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/sessionmem"
	"mem/core/settings"
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
	// Gate names what decided: "agent", "memory", "setting", "compaction", "running", "failed",
	// "thresholds", "engine", "due".
	Gate string `json:"gate"`
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

// At is the session with this id whose transcript lies there, which may be one that mem
// recorded.
func At(m *memory.Memory, id, path, agent string) *transcript.Session {
	x := &transcript.Session{ID: id, Path: path, Origin: transcript.OriginClient, Facts: transcript.Facts{Agent: agent}}
	if own, err := transcript.RecordedPath(m.Env(), m.Location.Directory, id); err == nil && own == path {
		x.Origin = transcript.OriginRecorded
	}
	return x
}

// Check says whether the memory of a session is due for a run that nobody asked for. It
// reads the end of the transcript, or what came since the last look, of which it keeps in the
// cache how far that was; ask keeps nothing.
func Check(ctx context.Context, m *memory.Memory, x *transcript.Session, ask bool) (Decision, error) {
	closed := func(gate, format string, args ...any) (Decision, error) {
		return Decision{Gate: gate, Decision: sessionmem.Decision{Reason: fmt.Sprintf(format, args...)}}, nil
	}
	if x.Agent != "" {
		return closed("agent", "the session is a subagent's, which keeps none")
	}
	if gate, why := Off(m, x.Origin != transcript.OriginRecorded); gate != "" {
		return closed(gate, "%s", why)
	}
	st, err := sessionmem.LoadState(m.StateDirectory(), x.ID)
	if err != nil {
		return Decision{}, err
	}
	if st != nil {
		if st.Process != 0 && job.Alive(st.Process, st.ProcessStart) {
			return closed("running", "process %d writes it just now", st.Process)
		}
		if next := st.Tried.Add(st.Waits()); st.Failed > 0 && m.Env().Time().Before(next) {
			return closed("failed", "the last %d tries failed; the next one is at %s. `mem-mcp jobs` says why", st.Failed, next.Local().Format("15:04"))
		}
	}
	d, surely, err := peek(ctx, m, x, st, ask)
	if err != nil {
		return Decision{}, err
	}
	if surely {
		return Decision{Decision: d, Gate: "thresholds"}, nil
	}
	if m.Config.Engine != fork.Provider && m.Config.Engine != fork.Command {
		return closed("engine", "the context may have grown enough; but with the engine %s nothing writes it unasked. `mem-mcp engine use` names one that may, and session_summary_update takes one that the agent writes", m.Config.Engine)
	}
	v, err := look(ctx, m, x)
	if err != nil {
		return Decision{}, err
	}
	defer v.src.Close()
	if g := sessionmem.NewGauge(x.Path, v.src, v.src.Size(), v.state, v.measure); g != nil && !ask {
		_ = g.Save(m.Env()) // without a cache the next look reads all of it again
	}
	return Decision{Decision: sessionmem.Decide(m.Config.Jobs.SessionMemory, v.state, v.measure)}.named(), nil
}

// peek says that a session memory is surely not due, without reading the whole transcript.
func peek(ctx context.Context, m *memory.Memory, x *transcript.Session, st *sessionmem.State, ask bool) (d sessionmem.Decision, surely bool, err error) {
	src, err := transcript.Open(x.Path)
	if err != nil {
		return d, false, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	conf := m.Config.Jobs.SessionMemory
	if d, surely = sessionmem.Peek(conf, st, src, src.Size()); surely {
		return d, true, nil
	}
	g := sessionmem.LoadGauge(m.Env(), x.Path)
	if g == nil || !g.Of(x.Path, src, src.Size(), st) {
		return d, false, nil
	}
	was := g.Size
	if err := g.Advance(ctx, src, src.Size()); err != nil {
		return d, false, err
	}
	if d, surely = g.Peek(conf); surely && g.Size > was && !ask {
		_ = g.Save(m.Env()) // as above
	}
	return d, surely, nil
}

// named says that the thresholds decided.
func (d Decision) named() Decision {
	if d.Gate = "thresholds"; d.Due {
		d.Gate = "due"
	}
	return d
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
	unlock, ok, err := h.Jobs.TryLock(lockOf(x))
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
	st := sessionmem.State{Session: x.ID}
	if v.state != nil {
		st = *v.state
	}
	st.Process, st.ProcessStart, st.Tried = os.Getpid(), job.ProcessStart(os.Getpid()), h.Memory.Env().Time()
	st.Failed++ // until it succeeds: a process that dies has failed
	if err := st.Save(h.Memory.StateDirectory()); err != nil {
		return "", err
	}
	words, err := renew(ctx, h, r, x, v, &st)
	st.Process, st.ProcessStart = 0, ""
	if err == nil {
		st.Failed = 0
	}
	if saved := st.Save(h.Memory.StateDirectory()); saved != nil {
		return "", errors.Join(err, saved)
	}
	return words, err
}

// renew has the summary written, and notes in st up to where it reaches.
func renew(ctx context.Context, h *work.House, r *job.Run, x *transcript.Session, v *view, st *sessionmem.State) (string, error) {
	conf := h.Memory.Config.Jobs.SessionMemory
	now, err := sessionmem.Read(x)
	if err != nil && !errors.Is(err, sessionmem.ErrNone) {
		return "", err
	}
	if now == nil {
		now = &sessionmem.File{}
	}
	c, err := inherit.Take(ctx, v.src, v.t, v.chain, inherit.Options{Since: st.Leaf, Redact: h.Memory.Guard()})
	if err != nil {
		return "", err
	}
	next, err := write(ctx, h, r, conf, now.Text, c)
	if err != nil {
		return "", err
	}
	f, sum, cut, err := put(h.Memory, x, next, now.Hash)
	if err != nil {
		return "", err
	}
	st.Leaf, st.Tokens, st.Boundary, st.Size, st.Updated, st.Hash = c.Leaf, v.measure.Tokens, v.measure.Boundary, v.src.Size(), h.Memory.Env().Time(), f.Hash
	words := fmt.Sprintf("%s was written: %d of %d sections, about %d tokens", f.Path, sum.Filled(), len(sessionmem.Sections), sessionmem.Tokens(f.Text))
	for _, o := range cut {
		words += "; cut, since " + o.String()
	}
	return words, nil
}

// put writes a summary without secrets and within its limits.
func put(m *memory.Memory, x *transcript.Session, next, expected string) (*sessionmem.File, *sessionmem.Summary, []sessionmem.Over, error) {
	clean, _ := m.Guard().Redact([]byte(next))
	sum, cut := sessionmem.Parse(string(clean)).Cut(m.Config.Jobs.SessionMemory)
	if sum.Filled() == 0 {
		return nil, sum, nil, errors.New("nothing was written: all sections are empty")
	}
	f, err := sessionmem.Write(x, sum.String(), expected)
	return f, sum, cut, err
}

// write has the agent write the summary in a folder of its own, and once more where it
// is over its limits.
func write(ctx context.Context, h *work.House, r *job.Run, conf settings.SessionMemoryConfig, now string, c *inherit.Conversation) (string, error) {
	parent := filepath.Join(h.Memory.StateDirectory(), "stages")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, "session-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, sessionmem.Name)
	if strings.TrimSpace(now) == "" {
		now = sessionmem.Template()
	}
	if err := os.WriteFile(name, []byte(now), 0o600); err != nil {
		return "", err
	}
	choice := h.Choose(r.Record().By == byHook)
	r.Progress(func(x *job.Record) { x.Engine, x.Detail, x.Why = choice.Name, choice.Detail, choice.Why })
	if choice.Engine == nil {
		return "", fmt.Errorf("no engine writes it by itself (%s): %s. session_summary_update takes a summary that the agent writes", choice.Name, choice.Why)
	}
	o := work.Order{
		System: system, Shared: c.Messages, Prompt: instruction(conf, c, h.Memory.Env().Time()),
		Mounts: []gate.Mount{{Name: "session", Dir: dir, Files: []string{sessionmem.Name}, Write: onlySummary}},
		Limits: fork.Limits{Turns: Turns, Wall: Wall, OutputTokens: OutputTokens, ToolCalls: ToolCalls, ReadBytes: ReadBytes},
	}
	first, err := written(ctx, h, r, choice, o, dir)
	if err != nil {
		return "", err
	}
	over := sessionmem.Parse(first).Check(conf)
	if len(over) == 0 {
		return first, nil
	}
	o.Prompt = condense(over)
	shorter, err := written(ctx, h, r, choice, o, dir)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return first, nil // it is cut where it is over, which the report says
	}
	return shorter, nil
}

// written has the agent work once, and gives the summary that it left.
func written(ctx context.Context, h *work.House, r *job.Run, choice engine.Choice, o work.Order, dir string) (string, error) {
	out, err := h.Loose(ctx, r, choice, o, dir)
	if err == nil {
		var refused []job.Refused
		if refused, err = beside(dir); len(refused) > 0 {
			r.Progress(func(x *job.Record) { x.Refused = append(x.Refused, refused...) })
		}
	}
	switch {
	case err != nil:
		return "", err
	case out.End == fork.EndCancelled:
		return "", context.Canceled
	case out.End != fork.EndDone:
		return "", fmt.Errorf("nothing was written: the run ended by its %s: %s", out.End, out.Reason)
	}
	return summaryIn(filepath.Join(dir, sessionmem.Name))
}

// byHook is who started a job that nobody asked for.
const byHook = "hook"

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
