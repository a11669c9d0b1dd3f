package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/sessions"
	"mem/internal/term"
)

// saidFlags are those of a search over sessions.
type saidFlags struct {
	on bool
	sessionFlags
	o sessions.SearchOptions
}

func (f *saidFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "transcripts", false, "search what was said in sessions")
	f.sessionFlags.add(c, false)
	c.Flags().StringVar(&f.o.Session, "session", "", "with --transcripts: only in this session")
	c.Flags().StringSliceVar(&f.o.Roles, "role", nil, "with --transcripts: only "+strings.Join(sessions.Roles, ", "))
	c.Flags().StringVar(&f.o.Since, "since", "", "with --transcripts: a date or a time")
	c.Flags().StringVar(&f.o.Until, "until", "", "with --transcripts: a date or a time")
	c.Flags().StringVar(&f.o.Cursor, "cursor", "", "with --transcripts: the hits after those that an earlier run gave with it")
	c.Flags().DurationVar(&f.o.Wait, "wait", 10*time.Second, "with --transcripts: how long to read what is new before answering")
}

// check refuses flags of the one search with the other.
func (f *saidFlags) check(c *cobra.Command) error {
	other := []string{"all", "sessions-dir", "session", "role", "since", "until", "wait", "cursor"}
	why := "goes with --transcripts only"
	if f.on {
		other, why = []string{"type", "logs", "stores"}, "does not go with --transcripts"
	}
	for _, name := range other {
		if c.Flags().Changed(name) {
			return term.Usage("--%s %s", name, why)
		}
	}
	for _, role := range f.o.Roles {
		if err := term.OneOf("role", role, sessions.Roles); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) searchSessions(ctx context.Context, f *saidFlags, query string, limit int) error {
	f.o.Query, f.o.Limit = query, limit
	var found *sessions.Found
	err := a.withSessions(f.sessionFlags, func(s *sessions.Sessions, p sessions.Progress) (err error) {
		f.o.Progress = p
		found, err = s.Search(ctx, f.o)
		return err
	})
	if err != nil {
		return err
	}
	return a.show(found, func() { a.showSaid(found, f.dirs) })
}

// showSaid shows hits; dirs are the folders that were searched in place of the usual ones.
func (a *app) showSaid(f *sessions.Found, dirs []string) {
	from := ""
	for _, d := range dirs {
		from += " --sessions-dir " + shellQuote(d)
	}
	var rows [][]string // into a pipe
	for _, h := range f.Hits {
		where := h.Role
		if h.Agent != "" {
			where += " of agent " + h.Agent
		}
		if !a.Terminal {
			rows = append(rows, []string{h.Session, localTime(h.Time), where, h.UUID, h.Title, h.Snippet})
			continue
		}
		a.Printf("%s  %s  %s  %s\n", a.Style(term.Bold, term.Clean(h.Session)), localTime(h.Time), a.Style(term.Faint, "["+term.Clean(where)+"]"), term.Clean(h.Title))
		a.Printf("    %s\n", term.Clean(h.Snippet))
		if h.UUID != "" {
			a.Printf("    %s\n", a.Style(term.Faint, "mem-mcp resume "+term.Clean(h.Session)+" --at "+term.Clean(h.UUID+from)))
		}
	}
	if !a.Terminal {
		a.Table([]string{"session", "time", "role", "message", "title", "snippet"}, rows)
	}
	if f.NextCursor != "" {
		fmt.Fprintf(a.Err, "%d of %d hits; for more: --cursor %s\n", len(f.Hits), f.Total, f.NextCursor)
	}
	for _, c := range f.Corrected {
		fmt.Fprintln(a.Err, "searched instead:", term.Clean(c))
	}
	if f.Reason != "" {
		fmt.Fprintln(a.Err, term.Clean(f.Reason))
	}
	a.sessionNotes(f.Skipped, f.MoreSkipped, f.Notes)
}
