package sessionmem

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"mem/core/settings"
	"mem/core/transcript"
)

// State is what is remembered of a session between two updates of its memory.
// docs/formats.md specifies how it is stored.
type State struct {
	Version int    `json:"v"`
	Session string `json:"session"`
	// Leaf is the message up to which the summary reaches, Tokens the context there.
	Leaf   transcript.UUID `json:"leaf,omitzero"`
	Tokens int             `json:"tokens"`
	// Boundary is the compaction that the context began with.
	Boundary transcript.UUID `json:"boundary,omitzero"`
	Updated  time.Time       `json:"updated,omitzero"`
	// Size is that of the transcript then.
	Size int64 `json:"size,omitempty"`
	// Hash is that of the summary as it was written.
	Hash string `json:"hash,omitempty"`
	// Process writes it anew since Tried, or did and died.
	Process      int       `json:"pid,omitempty"`
	ProcessStart string    `json:"pidStart,omitempty"`
	Tried        time.Time `json:"tried,omitzero"`
	// Failed counts the tries since Updated that came to nothing.
	Failed int `json:"failed,omitempty"`
}

// Waits tells how long nobody tries again after tries that failed: a minute, and twice
// as long each time, up to an hour. An engine that is down is not asked at every batch
// of tools.
func (s *State) Waits() time.Duration {
	if s.Failed == 0 {
		return 0
	}
	return min(time.Minute<<min(s.Failed-1, 10), time.Hour)
}

// Measure is how far a conversation is.
type Measure struct {
	Leaf     transcript.UUID
	Boundary transcript.UUID
	// Tokens is the context that the client's next request has, Estimated whether it is for
	// want of word from the API.
	Tokens    int
	Estimated bool
	// Baseline is the context right after the compaction that it began with, 0 without one.
	Baseline int
	// Calls are tool calls since State.Leaf; all of the chain where that is not on it.
	Calls int
	// Pause says that the last answer called no tool: the conversation rests.
	Pause bool
	// Reached says that State.Leaf is on the chain.
	Reached bool
}

// usage is what the API said of a request, on the row of its answer.
type usage struct {
	Message struct {
		Usage struct {
			Input      int `json:"input_tokens"`
			CacheRead  int `json:"cache_read_input_tokens"`
			CacheWrite int `json:"cache_creation_input_tokens"`
			Output     int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// contextOf gives the tokens that the context has after an answer; 0 where its row does
// not say.
func contextOf(raw json.RawMessage) int {
	var u usage
	if json.Unmarshal(raw, &u) != nil {
		return 0
	}
	return u.tokens()
}

func (u usage) tokens() int {
	n := u.Message.Usage
	return n.Input + n.CacheRead + n.CacheWrite + n.Output
}

// Take measures the conversation that a client would resume. st may be nil.
func Take(ctx context.Context, src io.ReaderAt, t *transcript.Transcript, c *transcript.Chain, st *State) (Measure, error) {
	in := conversation{ctx, src, t, c.Rows}
	m := Measure{Leaf: c.ResumePoint(t)}
	if c.Boundary >= 0 {
		m.Boundary = t.Rows.At(c.Boundary).UUID
	}
	since := 0 // position on the chain from which calls count
	if st != nil && !st.Leaf.IsZero() {
		for p := len(c.Rows) - 1; p >= 0; p-- {
			if t.Rows.At(c.Rows[p]).UUID == st.Leaf {
				since, m.Reached = p+1, true
				break
			}
		}
	}
	m.Pause = pause(t, c.Rows)
	// The context, from the newest answer that tells it; what came after it is estimated.
	newest, told, err := in.newest()
	if err != nil {
		return Measure{}, err
	}
	m.Tokens = told
	if newest < 0 {
		m.Estimated = true
	}
	for p := newest + 1; p < len(c.Rows); p++ {
		if r := t.Rows.At(c.Rows[p]); newest < 0 || r.Kind != transcript.Assistant {
			m.Tokens += estimated(r)
		}
	}
	if !m.Boundary.IsZero() {
		if m.Baseline, err = in.baseline(); err != nil {
			return Measure{}, err
		}
	}
	var rows []int
	for _, i := range c.Rows[since:] {
		if t.Rows.At(i).Flags.Has(transcript.FlagToolUse) {
			rows = append(rows, i)
		}
	}
	for msg, err := range transcript.Load(ctx, src, t, rows) {
		if ctx.Err() != nil {
			return Measure{}, ctx.Err()
		}
		if err != nil {
			m.Calls++ // the row has one at least
			continue
		}
		for _, b := range msg.Content {
			if b.Type == "tool_use" {
				m.Calls++
			}
		}
	}
	return m, nil
}

// conversation is a chain that is being measured.
type conversation struct {
	ctx  context.Context
	src  io.ReaderAt
	t    *transcript.Transcript
	rows []int
}

// newest finds the newest answer that tells its context, -1 without one. It looks at the
// last answers only: a client that tells it tells it on each.
func (v conversation) newest() (position, tokens int, err error) {
	const looked = 40
	seen := 0
	for p := len(v.rows) - 1; p >= 0 && seen < looked; p-- {
		if v.t.Rows.At(v.rows[p]).Kind != transcript.Assistant {
			continue
		}
		seen++
		n, err := v.tokensAt(v.rows[p])
		if err != nil || n > 0 {
			return p, n, err
		}
	}
	return -1, 0, nil
}

// baseline is the context of the first answer after a compaction, estimated from the
// rows before it where it does not tell.
func (v conversation) baseline() (int, error) {
	total := 0
	for _, i := range v.rows {
		r := v.t.Rows.At(i)
		if r.Kind == transcript.Assistant {
			n, err := v.tokensAt(i)
			if err != nil || n > 0 {
				return n, err
			}
			return total, nil
		}
		total += estimated(r)
	}
	return total, nil
}

// tokensAt gives what the row of an answer tells, 0 where it does not or cannot be read.
func (v conversation) tokensAt(row int) (int, error) {
	for msg, err := range transcript.Load(v.ctx, v.src, v.t, []int{row}) {
		if v.ctx.Err() != nil {
			return 0, v.ctx.Err()
		}
		if err == nil {
			return contextOf(msg.Raw), nil
		}
	}
	return 0, nil
}

// envelope is about what a row has besides its message: ids, times, directory.
const envelope = 400

// estimated is about how many tokens a row has: four bytes make one.
func estimated(r *transcript.Row) int { return max(int(r.Len)-envelope, 0) / 4 }

// pause reports whether the last answer of a chain called no tool.
func pause(t *transcript.Transcript, rows []int) bool {
	var answer uint64
	found := false
	for p := len(rows) - 1; p >= 0; p-- {
		r := t.Rows.At(rows[p])
		switch {
		case r.Kind == transcript.Assistant && (!found || r.Ref == answer && r.Ref != 0):
			found, answer = true, r.Ref
			if r.Flags.Has(transcript.FlagToolUse) {
				return false
			}
		case r.Kind == transcript.Assistant:
			return true
		case r.Flags.Has(transcript.FlagToolResult) && !found:
			return false // the model is still at work
		}
	}
	return found
}

// Decision says whether a session memory is due, and why.
type Decision struct {
	Due    bool   `json:"due"`
	Reason string `json:"reason"`
	// Tokens is the context, Grown by how much since the last update or compaction.
	Tokens    int  `json:"tokens"`
	Grown     int  `json:"grown"`
	Estimated bool `json:"estimated"`
	Calls     int  `json:"toolCalls"` // since the last update
}

// Decide applies the thresholds (seed 24.3): first at FirstTokens of context, then after
// EveryTokens more together with ToolCalls calls or a pause. After a compaction it counts
// from what that left.
func Decide(c settings.SessionMemoryConfig, st *State, m Measure) Decision {
	d := Decision{Tokens: m.Tokens, Estimated: m.Estimated, Calls: m.Calls}
	if st == nil || st.Updated.IsZero() {
		d.Grown = m.Tokens
		if m.Tokens < c.FirstTokens {
			d.Reason = fmt.Sprintf("the context has %s, and the first summary is written at %d", tokens(m), c.FirstTokens)
			return d
		}
		d.Due, d.Reason = true, fmt.Sprintf("the context has reached %s and there is no summary yet", tokens(m))
		return d
	}
	from, since := st.Tokens, "the last summary"
	if m.Boundary != st.Boundary {
		from, since = m.Baseline, "the compaction"
	}
	d.Grown = max(m.Tokens-from, 0)
	switch {
	case d.Grown < c.EveryTokens:
		d.Reason = fmt.Sprintf("the context has grown by %d tokens since %s; the next summary is written after %d", d.Grown, since, c.EveryTokens)
	case m.Calls < c.ToolCalls && !m.Pause:
		d.Reason = fmt.Sprintf("the agent is in the middle of its work, with %d tool calls since the last summary; it is interrupted after %d", m.Calls, c.ToolCalls)
	case m.Calls >= c.ToolCalls:
		d.Due, d.Reason = true, fmt.Sprintf("the context has grown by %d tokens since %s, with %d tool calls", d.Grown, since, m.Calls)
	default:
		d.Due, d.Reason = true, fmt.Sprintf("the context has grown by %d tokens since %s, and the conversation pauses", d.Grown, since)
	}
	return d
}

func tokens(m Measure) string {
	if m.Estimated {
		return fmt.Sprintf("about %d tokens", m.Tokens)
	}
	return fmt.Sprintf("%d tokens", m.Tokens)
}
