package dream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mem/core/fork/stage"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/transcript"
	"mem/core/transcript/deliver"
)

const (
	// maxBriefs is how many sessions are handed on, the newest. One that dreams every day
	// and talks all day has some twenty.
	maxBriefs = 40
	// briefTokens is how long the brief of one may be: what a model reads at once and still
	// knows afterwards. Forty of them are 320,000 tokens, which nobody reads whole; they are
	// searched.
	briefTokens = 8_000
	// maxNamedLogs is how many daily logs are named, the newest.
	maxNamedLogs = 60
)

// source is a session as a dream reads it.
type source struct {
	ID    string
	Title string
	At    time.Time // when it was last touched
	Turns int
	File  string // in the folder, "" where there is none
}

// sources are what happened since the last dream.
type sources struct {
	Sessions []source // newest first
	More     int      // older ones that are not among them
	Logs     []string // daily logs that were written to since, newest first
	MoreLogs int
	Notes    []string
	dir      string
}

// ids gives the sessions for a record.
func (x *sources) ids() []string {
	out := []string{}
	for _, s := range x.Sessions {
		out = append(out, s.ID)
	}
	return out
}

// gatherSources finds what happened since a time. With a folder, each session is written
// into it as a brief without secrets: transcripts are larger than a tool of an agent reads,
// and most of them is no conversation.
func (s Setting) gatherSources(ctx context.Context, m *memory.Memory, since time.Time, dir string) (*sources, error) {
	x := &sources{dir: dir}
	v, _, err := m.View(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range v.Logs {
		switch {
		case !since.IsZero() && !l.ModTime.After(since):
		case len(x.Logs) < maxNamedLogs:
			x.Logs = append(x.Logs, l.Path)
		default:
			x.MoreLogs++
		}
	}
	found, err := transcript.Find(ctx, s.Env, transcript.FindOptions{Project: s.Project, Shallow: true, Since: since})
	if err != nil {
		return nil, err
	}
	for _, t := range found.List {
		if t.ID == s.Session || !since.IsZero() && !t.Modified.After(since) {
			continue
		}
		if len(x.Sessions) == maxBriefs {
			x.More++
			continue
		}
		one := source{ID: t.ID, Title: memdir.Shown(t.Title, 100), At: t.Modified}
		if dir != "" {
			if err := one.brief(ctx, m, t, dir); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				x.Notes = append(x.Notes, fmt.Sprintf("The session %s was not looked at: %v.", memdir.ShownName(t.ID), err))
				continue
			}
		}
		x.Sessions = append(x.Sessions, one)
	}
	slices.SortStableFunc(x.Sessions, func(a, b source) int { return b.At.Compare(a.At) })
	if x.More > 0 {
		x.Notes = append(x.Notes, fmt.Sprintf("%s touched since the last dream, older than the %d that were looked at, were not.", number(x.More, "session"), maxBriefs))
	}
	return x, nil
}

// brief writes the newest part of a session as a text to read.
func (one *source) brief(ctx context.Context, m *memory.Memory, t *transcript.Session, dir string) (err error) {
	if transcript.ValidID(t.ID) != nil {
		return errors.New("its name is no id")
	}
	src, err := t.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	read, err := transcript.ReadTail(ctx, src, src.Size(), transcript.Options{})
	if err != nil {
		return err
	}
	d, err := deliver.Deliver(ctx, src, read, read.Chain(transcript.UUID{}), deliver.Options{BudgetTokens: briefTokens, Format: deliver.Brief, Redact: m.Guard()})
	if err != nil {
		return err
	}
	one.Turns, one.File = d.Turns, t.ID+".md"
	if one.Title == "" {
		one.Title = memdir.Shown(d.FirstPrompt, 100)
	}
	return os.WriteFile(filepath.Join(dir, one.File), []byte(strings.TrimSpace(d.Text)+"\n"), 0o600)
}

// inline gives all briefs as one text of at most so many bytes, for engines that read
// nothing but the memory; whatever is left out is counted.
func (x *sources) inline(most int) (text string, err error) {
	var b strings.Builder
	for i, s := range x.Sessions {
		if s.File == "" {
			continue
		}
		brief, err := os.ReadFile(filepath.Join(x.dir, s.File))
		if err != nil {
			return "", err
		}
		if b.Len()+len(brief) > most {
			fmt.Fprintf(&b, "(%s, the oldest, not here for want of room)\n", number(len(x.Sessions)-i, "session"))
			break
		}
		fmt.Fprintf(&b, "===== session %s, %s =====\n\n%s\n\n", s.ID, s.At.UTC().Format("2006-01-02"), brief)
	}
	return b.String(), nil
}

// folderOf makes the folder for what an agent reads in a dream.
func folderOf(m *memory.Memory, jobID string) (dir string, remove func() error, err error) {
	if jobID == "" {
		jobID = "dream"
	}
	return stage.Scratch(m, jobID)
}
