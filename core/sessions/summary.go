package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/sessionmem"
	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// Where a summary comes from.
const (
	FromMemory     = "session memory"
	FromCompaction = "compaction"
)

// Summary is what is known of a session in short.
type Summary struct {
	Session string `json:"session"`
	From    string `json:"from"` // FromMemory or FromCompaction
	Text    string `json:"text"`
	Path    string `json:"path,omitempty"` // of a session memory
	Hash    string `json:"hash,omitempty"` // of it: for an update
	Written string `json:"written,omitempty"`
	// Cut says that the text is longer.
	Cut bool `json:"cut,omitempty"`
}

// Memory is a session memory beside a conversation.
type Memory struct {
	Text    string `json:"text"`
	Path    string `json:"path"`
	Written string `json:"written"`
	Tokens  int    `json:"tokens"` // about
}

// ErrNoSummary says that a session has neither a session memory nor was compacted.
var ErrNoSummary = errors.New("the session has no summary: it has no session memory and its client never compacted it")

// Summary gives the session memory of a session, else what its last compaction kept of
// everything before it.
func (s *Sessions) Summary(ctx context.Context, session string, p Progress) (_ *Summary, err error) {
	defer s.clean(&err)
	x, err := s.pick(ctx, session, p)
	if err != nil {
		return nil, err
	}
	f, err := sessionmem.Read(x.Session)
	if err == nil {
		text, gone := shown.NewRedactor(s.scanner()).Shorten(f.Text, 2*maxPage)
		return &Summary{Session: x.ID, From: FromMemory, Text: memory.Fit(shown.Plain(text), 2*maxPage), Path: s.place(f.Path, maxPath), Hash: f.Hash,
			Written: stamp(f.Modified), Cut: gone > 0}, nil
	}
	if !errors.Is(err, sessionmem.ErrNone) {
		return nil, err
	}
	return s.compacted(ctx, x, p)
}

// compacted gives what the last compaction of a session kept.
func (s *Sessions) compacted(ctx context.Context, x *picked, p Progress) (*Summary, error) {
	t, err := s.read(ctx, x.Path, false, p)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	chain := t.Chain(transcript.UUID{})
	var rows []int
	for _, i := range chain.Rows {
		if r := t.Rows.At(i); r.Flags.Has(transcript.FlagCompactSummary) || r.Kind == transcript.Collapse {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w (%s)", ErrNoSummary, memdir.ShownName(x.ID))
	}
	red := shown.NewRedactor(s.scanner())
	out := &Summary{Session: x.ID, From: FromCompaction}
	var parts []string
	for m, err := range transcript.Load(ctx, t, t.Transcript, rows) {
		if err != nil {
			return nil, fmt.Errorf("reading the summary of the session %s: %w", memdir.ShownName(x.ID), err)
		}
		text, gone := red.Shorten(m.Text(), 2*maxPage)
		parts = append(parts, shown.Plain(text))
		out.Written, out.Cut = stamp(m.Timestamp), out.Cut || gone > 0
	}
	out.Text = memory.Fit(strings.Join(parts, "\n\n"), 2*maxPage)
	return out, nil
}

// memoryOf gives the session memory for a resume, where it was written after the
// compaction that the conversation begins with. It takes at most half of the budget.
func (s *Sessions) memoryOf(x *transcript.Session, t *transcript.Transcript, c *transcript.Chain, budget int) (*Memory, string) {
	f, err := sessionmem.Read(x)
	if err != nil {
		if errors.Is(err, sessionmem.ErrNone) {
			return nil, ""
		}
		return nil, fmt.Sprintf("The session memory is not used: %v.", err)
	}
	if c.Boundary >= 0 && f.Modified.Before(time.Unix(int64(t.Rows.At(c.Boundary).Time), 0)) {
		return nil, "The session memory is older than the last compaction and is not used."
	}
	if budget == 0 {
		budget = maxPage / 4
	}
	text, gone := shown.NewRedactor(s.scanner()).Shorten(f.Text, 4*budget/2)
	m := &Memory{Text: shown.Plain(text), Path: s.place(f.Path, maxPath), Written: stamp(f.Modified)}
	m.Tokens = (shown.Cost(m.Text) + 3) / 4
	if gone > 0 {
		return m, fmt.Sprintf("The session memory is shortened by %d characters; the resource of the session's summary has all of it.", gone)
	}
	return m, ""
}
