package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"

	"mem/core/memdir"
	"mem/core/transcript"
)

// AppendOptions says what is recorded of a conversation whose client keeps no
// transcript.
type AppendOptions struct {
	Session string // that mem records; "" begins a new one
	Title   string // what it is called from now on; "" leaves that
	Client  string // name and version
	Entries []transcript.Entry
}

// Append records a part of a conversation. A session that its client records itself is
// refused: two records of one conversation would contradict each other.
func (s *Sessions) Append(ctx context.Context, o AppendOptions) (_ *transcript.Recorded, err error) {
	defer s.clean(&err)
	if len(o.Entries) == 0 && o.Title == "" {
		return nil, errors.New("there is nothing to record: give entries, or a title")
	}
	if o.Session != "" {
		if err := transcript.ValidID(o.Session); err != nil {
			return nil, err
		}
		find := s.wanted(true, nil, "")
		find.Dirs = nil
		x, err := transcript.Pick(ctx, s.env, find, o.Session)
		if err == nil && x.ID == o.Session && x.Origin == transcript.OriginClient {
			return nil, fmt.Errorf("the session %s is recorded by its client already; nothing is added to that", memdir.ShownName(x.ID))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	in := transcript.Recording{Directory: s.m.Location.Directory, Session: o.Session, Cwd: s.cwd(), Version: o.Client, Title: o.Title,
		Entries: o.Entries, Guard: s.m.Guard()}
	if in.Version == "" {
		in.Version = "mem " + s.o.Version
	}
	r, err := transcript.Append(ctx, s.env, in)
	if r != nil {
		r.Path, r.Notes = s.place(r.Path, maxPath), s.fewNotes(r.Notes)
	}
	return r, err
}

// cwd is the directory that a recorded session belongs to: the one that the project
// was found from, so that its worktree is told.
func (s *Sessions) cwd() string {
	p := s.m.Location.Project
	if info, err := os.Stat(p.Dir); err == nil && info.IsDir() {
		return p.Dir
	}
	return p.Root
}
