package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/transcript"
	"mem/core/transcript/deliver"
)

// What can be included in a delivery.
const (
	Thinking    = "thinking"
	ToolResults = "tool_results"
	Attachments = "attachments"
)

// Includes is everything that can be included, Formats in what form.
var (
	Includes = []string{Thinking, ToolResults, Attachments}
	Formats  = []string{string(deliver.Messages), string(deliver.Brief)}
)

// ResumeOptions says which conversation is taken up, and how.
type ResumeOptions struct {
	// Session is an id, the beginning of one, or Latest.
	Session string
	Agent   string // a subagent of it, by its id or the beginning of that
	At      string // uuid of the message to end with; "" is where the client would go on
	Budget  int    // tokens; 0 is deliver.DefaultBudget
	Format  string // of Formats; "" is messages
	// Include is of Includes; nil means tool results only.
	Include  []string
	Cursor   string
	Progress Progress
}

// Resumed is a conversation as far as it fits, and what is known of it.
type Resumed struct {
	*deliver.Delivery
	Path    string            `json:"path"`
	Origin  transcript.Origin `json:"origin"`
	Agent   string            `json:"agent,omitempty"`
	Live    string            `json:"live,omitempty"`    // why somebody is probably writing to it
	Expires string            `json:"expires,omitempty"` // when the client deletes it
	// Memory is the session memory, where it is newer than the last compaction and the page
	// has not the whole conversation.
	Memory *Memory `json:"sessionMemory,omitempty"`
	// Files is how the user's files stand to what the client knew of them; nil on later
	// pages and where the client kept no such history.
	Files *Files `json:"files,omitempty"`
}

// Files compares the disk with the client's copies of the files that a session
// changed: as they were before its last change to each.
type Files struct {
	Unchanged int    `json:"unchanged"`
	Differing []File `json:"differing,omitempty"`
	More      int    `json:"more,omitempty"` // that differ and are not listed
}

// File is one file that is not as its copy.
type File struct {
	Path   string               `json:"path"`
	State  transcript.FileState `json:"state"`
	Reason string               `json:"reason,omitempty"`
}

// maxFiles is how many files that differ are listed.
const maxFiles = 20

// Resume takes a conversation up as the client that wrote it would.
func (s *Sessions) Resume(ctx context.Context, o ResumeOptions) (_ *Resumed, err error) {
	defer s.clean(&err)
	d := deliver.Options{BudgetTokens: o.Budget, Format: deliver.Format(o.Format), Cursor: o.Cursor, Redact: s.scanner()}
	if o.Include == nil {
		o.Include = []string{ToolResults}
	}
	for _, name := range o.Include {
		switch name {
		case Thinking:
			d.Thinking = true
		case ToolResults:
			d.ToolResults = true
		case Attachments:
			d.Attachments = true
		default:
			return nil, fmt.Errorf("%s cannot be included; there are %s", memdir.ShownName(name), strings.Join(Includes, ", "))
		}
	}
	if o.Format != "" && !slices.Contains(Formats, o.Format) {
		return nil, fmt.Errorf("there is no format %s; there are %s", memdir.ShownName(o.Format), strings.Join(Formats, ", "))
	}
	x, err := s.pick(ctx, o.Session, o.Progress)
	if err != nil {
		return nil, err
	}
	path, agent, err := agentOf(x.Session, o.Agent)
	if err != nil {
		return nil, err
	}
	t, err := s.read(ctx, path, o.At != "" || o.Cursor != "", o.Progress)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	chain := t.Chain(transcript.ParseUUID(o.At))
	if o.At != "" && len(chain.Rows) == 0 {
		return nil, fmt.Errorf("the session %s has no message %s to end with; give the uuid of a hit of transcript_search, or leave it out to end with the last message", memdir.ShownName(x.ID), memdir.ShownName(o.At))
	}
	got, err := deliver.Deliver(ctx, t, t.Transcript, chain, d)
	if err != nil {
		return nil, fmt.Errorf("resuming the session %s: %w", memdir.ShownName(x.ID), err)
	}
	var kept *Memory
	var keptNote string
	if o.At == "" && o.Cursor == "" && agent == "" && got.NextCursor != "" {
		// What does not fit is what the summary is for; it has its room in the budget.
		if kept, keptNote = s.memoryOf(x.Session, t.Transcript, chain, d.BudgetTokens); kept != nil {
			if d.BudgetTokens == 0 {
				d.BudgetTokens = deliver.DefaultBudget
			}
			d.BudgetTokens = max(d.BudgetTokens-kept.Tokens, deliver.MinBudget)
			if got, err = deliver.Deliver(ctx, t, t.Transcript, chain, d); err != nil {
				return nil, fmt.Errorf("resuming the session %s: %w", memdir.ShownName(x.ID), err)
			}
		}
	}
	r := &Resumed{Delivery: got, Memory: kept, Path: s.place(path, maxPath), Origin: x.Origin, Agent: agent, Expires: stamp(x.Expires)}
	r.Session = x.ID
	if x.Live {
		r.Live = x.LiveWhy
	}
	notes := append([]string{}, r.Notes...)
	if keptNote != "" {
		notes = append(notes, keptNote)
	}
	notes = append(notes, x.notes...)
	notes = append(notes, t.grown()...)
	if len(chain.Rows) == 0 {
		notes = append(notes, "The transcript holds no message.")
	}
	if o.Cursor == "" && agent == "" {
		var why string
		r.Files, why = s.files(ctx, t, chain, x.Session)
		notes = append(notes, why)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.Notes = s.fewNotes(notes)
	return r, nil
}

// agentOf gives the transcript of a session, or of one of its subagents.
func agentOf(x *transcript.Session, ref string) (path, agent string, err error) {
	if ref == "" {
		return x.Path, "", nil
	}
	ref = strings.TrimPrefix(ref, "agent-")
	var ids []string
	for _, a := range x.Subagents {
		if a.ID == ref {
			return a.Path, a.ID, nil
		}
		if ref != "" && strings.HasPrefix(a.ID, ref) {
			path, agent = a.Path, a.ID
			ids = append(ids, a.ID)
		}
	}
	switch len(ids) {
	case 1:
		return path, agent, nil
	case 0:
		missing := &transcript.NotFoundError{Ref: ref, Session: x.ID}
		for _, a := range x.Subagents {
			missing.Agents = append(missing.Agents, a.ID)
		}
		return "", "", missing
	}
	return "", "", &transcript.AmbiguousError{Ref: ref, Sessions: ids}
}

// files compares the disk with what the client knew. What cannot be compared is told,
// since the conversation stands without it.
func (s *Sessions) files(ctx context.Context, t *opened, c *transcript.Chain, x *transcript.Session) (*Files, string) {
	h, err := t.FileHistory(ctx, t, c)
	if err != nil {
		return nil, fmt.Sprintf("The client's history of files could not be read: %v", err)
	}
	if len(h.Files) == 0 {
		return nil, ""
	}
	dir, disk := x.Backups(s.env)
	if dir == "" {
		return nil, ""
	}
	list, err := h.Compare(ctx, disk, dir)
	if err != nil {
		return nil, fmt.Sprintf("Files could not be compared with the client's copies: %v", err)
	}
	f := &Files{}
	for _, x := range list {
		switch {
		case x.State == transcript.FileUnchanged:
			f.Unchanged++
		case len(f.Differing) < maxFiles:
			f.Differing = append(f.Differing, File{s.fact(x.Path, maxName), x.State, memdir.Shown(x.Reason, maxName)})
		default:
			f.More++
		}
	}
	return f, ""
}
