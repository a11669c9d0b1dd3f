package sessions

import (
	"context"
	"time"

	"mem/core/transcript"
)

// ArchiveOptions says which sessions are copied.
type ArchiveOptions struct {
	// Sessions are ids or beginnings of them. With none, the ones are meant that the
	// client deletes within Within.
	Sessions []string
	Every    bool // all sessions that have no copy yet
	All      bool // of all projects
	Within   time.Duration
	Progress Progress
}

// Archived is what was copied.
type Archived struct {
	*transcript.Archived
	Notes []string `json:"notes,omitempty"`
}

// Archive copies sessions, compressed, to where the client does not delete them; all
// operations find them there.
func (s *Sessions) Archive(ctx context.Context, o ArchiveOptions) (_ *Archived, err error) {
	defer s.clean(&err)
	var list []*transcript.Session
	var notes []string
	var skipped []transcript.Skipped
	for _, ref := range o.Sessions {
		x, err := s.pick(ctx, ref, o.Progress)
		if err != nil {
			return nil, err
		}
		notes = append(notes, x.notes...)
		list = append(list, x.Session)
	}
	if len(o.Sessions) == 0 {
		find := s.wanted(o.All, o.Progress, "looking for sessions")
		find.Shallow = true
		found, err := transcript.Find(ctx, s.env, find)
		if err != nil {
			return nil, err
		}
		skipped = found.Skipped
		s.places.met(found.List)
		if o.Within <= 0 {
			o.Within = warnWithin
		}
		list = found.Expiring(s.env.Time(), o.Within)
		if o.Every {
			list = nil
			for _, x := range found.List {
				if !x.Archived && x.Origin != transcript.OriginArchive {
					list = append(list, x)
				}
			}
		}
		if len(list) == 0 {
			notes = append(notes, "No session needs a copy.")
		}
	}
	got, err := transcript.Archive(ctx, s.env, list, transcript.ArchiveOptions{Directory: s.m.Location.Directory, Version: s.o.Version,
		Progress: o.Progress.of("copying sessions")})
	if got == nil {
		return nil, err
	}
	got.Directory = s.place(got.Directory, maxPath)
	got.Skipped = append(got.Skipped, skipped...)
	for i := range got.Sessions {
		got.Sessions[i].Path = s.place(got.Sessions[i].Path, maxPath)
	}
	for i, x := range got.Skipped {
		got.Skipped[i] = transcript.Skipped{Path: s.place(x.Path, maxPath), Reason: s.words(x.Reason)}
	}
	return &Archived{got, s.fewNotes(notes)}, err
}
