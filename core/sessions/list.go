package sessions

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"mem/core/memdir"
	"mem/core/transcript"
)

const (
	defaultList = 50
	maxList     = 200
	// warnWithin is how long before the client deletes a transcript it is told.
	warnWithin = 7 * 24 * time.Hour
)

// ListOptions says which sessions are listed.
type ListOptions struct {
	All      bool // of all projects
	Limit    int  // sessions a page: 50 unless told, at most 200
	Cursor   string
	Progress Progress
}

// Listed is one session in a list. Texts are of one line and without secrets.
type Listed struct {
	Session     string `json:"session"`
	Title       string `json:"title,omitempty"`
	FirstPrompt string `json:"firstPrompt,omitempty"`
	Modified    string `json:"modified"` // of the file
	Start       string `json:"start,omitempty"`
	End         string `json:"end,omitempty"`
	Cwd         string `json:"cwd,omitempty"`
	Branch      string `json:"branch,omitempty"`
	Model       string `json:"model,omitempty"`
	Turns       int    `json:"turns"`
	Messages    int    `json:"messages"`
	Size        int64  `json:"size"`
	Compacted   int    `json:"compacted,omitempty"`
	// Agents are the first 20 subagents, MoreAgents how many there are besides.
	Agents     []Agent           `json:"agents,omitempty"`
	MoreAgents int               `json:"moreAgents,omitempty"`
	Origin     transcript.Origin `json:"origin"`
	Path       string            `json:"path"`
	Live       string            `json:"live,omitempty"`    // why somebody is probably writing to it
	Expires    string            `json:"expires,omitempty"` // when the client deletes it
	Archived   bool              `json:"archived,omitempty"`
	From       string            `json:"from,omitempty"` // the project that it was taken over from
	Problems   string            `json:"problems,omitempty"`
	Partial    bool              `json:"partial,omitempty"` // only its beginning was read: counts are too small
}

// Agent is a subagent of a session.
type Agent struct {
	Agent       string `json:"agent"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
}

// List is a page of sessions, newest first.
type List struct {
	Project  string   `json:"project,omitempty"` // "" for all projects
	Sessions []Listed `json:"sessions"`
	Total    int      `json:"total"`
	// Looked is in how many folders.
	Looked      int                  `json:"foldersLookedInto"`
	Skipped     []transcript.Skipped `json:"skipped,omitempty"`
	MoreSkipped int                  `json:"moreSkipped,omitempty"`
	NextCursor  string               `json:"nextCursor,omitempty"`
	Notes       []string             `json:"notes,omitempty"`
}

// maxAgents is how many subagents of a session are listed.
const maxAgents = 20

// List lists the sessions of the project, newest first, with those that the client is
// about to delete told.
func (s *Sessions) List(ctx context.Context, o ListOptions) (_ *List, err error) {
	defer s.clean(&err)
	offset := 0
	if o.Cursor != "" {
		n, err := strconv.Atoi(o.Cursor)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("the cursor %s is not one of a list of sessions; start again without one", memdir.ShownName(o.Cursor))
		}
		offset = n
	}
	find := s.wanted(o.All, o.Progress, "reading sessions")
	found, err := transcript.Find(ctx, s.env, find)
	if err != nil {
		return nil, err
	}
	if offset > 0 && offset >= len(found.List) {
		return nil, fmt.Errorf("there are only %d sessions now; start again without a cursor", len(found.List))
	}
	s.places.met(found.List)
	l := &List{Project: s.places.directory(find.Project.Root), Total: len(found.List), Looked: len(found.Looked)}
	limit := o.Limit
	if limit <= 0 {
		limit = defaultList
	}
	all := make([]Listed, 0, min(len(found.List)-offset, maxList))
	for _, x := range found.List[offset:min(len(found.List), offset+maxList)] {
		all = append(all, s.listed(x))
	}
	next := 0
	if l.Sessions, next = page(all, min(limit, maxList)); next > 0 || offset+len(all) < len(found.List) {
		l.NextCursor = strconv.Itoa(offset + len(l.Sessions))
	}
	s.finish(ctx, l, found, find)
	return l, nil
}

// ListAll lists all sessions at once, for a person's terminal or pipe.
func (s *Sessions) ListAll(ctx context.Context, o ListOptions) (_ *List, err error) {
	defer s.clean(&err)
	find := s.wanted(o.All, o.Progress, "reading sessions")
	found, err := transcript.Find(ctx, s.env, find)
	if err != nil {
		return nil, err
	}
	s.places.met(found.List)
	l := &List{Project: s.places.directory(find.Project.Root), Total: len(found.List), Looked: len(found.Looked), Sessions: []Listed{}}
	for _, x := range found.List {
		l.Sessions = append(l.Sessions, s.listed(x))
	}
	s.finish(ctx, l, found, find)
	return l, nil
}

func (s *Sessions) finish(ctx context.Context, l *List, found *transcript.Sessions, find transcript.FindOptions) {
	l.Skipped, l.MoreSkipped = s.fewSkipped(found.Skipped)
	notes := append([]string{}, found.Notes...)
	notes = append(notes, transcript.ExpiryWarning(s.env, find, found.Expiring(s.env.Time(), warnWithin)))
	notes = append(notes, s.moved(ctx, l)...)
	l.Notes = s.fewNotes(notes)
}

// moved offers what may be this project under an earlier path, where it has no
// memory of its own. Sessions it may have: the client makes one as soon as it is started in
// the new place.
func (s *Sessions) moved(ctx context.Context, l *List) []string {
	if l.Project == "" || !s.m.Vacant() {
		return nil
	}
	return s.m.MovedWords(ctx)
}

func (s *Sessions) listed(x *transcript.Session) Listed {
	l := Listed{
		Session: x.ID, Title: said(x.Title, maxLine), FirstPrompt: said(x.FirstPrompt, maxLine),
		Modified: stamp(x.Modified), Start: stamp(x.Start), End: stamp(x.End),
		Cwd: said(s.places.directory(x.Cwd), maxPath), Branch: s.fact(x.Branch, maxName), Model: s.fact(x.Model, maxName),
		Turns: x.Turns, Messages: x.Messages, Size: x.Size, Compacted: x.Compacted,
		Origin: x.Origin, Path: s.place(x.Path, maxPath), Expires: stamp(x.Expires), Archived: x.Archived,
		From: said(s.places.directory(x.From), maxPath), Problems: x.Damage, Partial: x.Partial,
	}
	if x.Live {
		l.Live = x.LiveWhy
	}
	for _, a := range x.Subagents[:min(len(x.Subagents), maxAgents)] {
		l.Agents = append(l.Agents, Agent{a.ID, s.fact(a.Type, maxName), s.fact(a.Description, maxName)})
	}
	l.MoreAgents = len(x.Subagents) - len(l.Agents)
	return l
}
