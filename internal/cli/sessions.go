package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/memory"
	"mem/core/sessions"
	"mem/core/transcript"
	"mem/internal/term"
)

// sessionFlags are those by which commands choose sessions.
type sessionFlags struct {
	all    bool
	dirs   []string
	redact bool
}

func (f *sessionFlags) add(c *cobra.Command, redact bool) {
	c.Flags().BoolVar(&f.all, "all", false, "sessions of all projects")
	c.Flags().StringArrayVar(&f.dirs, "sessions-dir", nil, "look into this folder instead of the usual ones (can be repeated)")
	f.redact = true
	if redact {
		redactFlag(c, &f.redact)
	}
}

// redactFlag lets a person see secrets.
func redactFlag(c *cobra.Command, redact *bool) {
	c.Flags().BoolVar(redact, "redact", true, "take secrets out; --redact=false shows them")
}

// withSessions runs f on the sessions that the flags name. What takes long shows a
// bar on a terminal.
func (a *app) withSessions(o sessionFlags, f func(s *sessions.Sessions, p sessions.Progress) error) error {
	return a.withProject(func(m *memory.Memory) error {
		s := sessions.Open(m, sessions.Options{Dirs: o.dirs, All: o.all, Files: true, ShowSecrets: !o.redact, Version: a.version})
		tell, stop := a.Progress("looking for sessions")
		err := f(s, func(what string, done, total int64) {
			if tell != nil {
				tell(what, done, total)
			}
		})
		stop()
		return errors.Join(err, s.Close())
	})
}

func (a *app) sessionsCommand() *cobra.Command {
	var o sessionFlags
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of this project, newest first",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var l *sessions.List
			err := a.withSessions(o, func(s *sessions.Sessions, p sessions.Progress) (err error) {
				l, err = s.ListAll(cmd.Context(), sessions.ListOptions{Progress: p})
				return err
			})
			if err != nil {
				return err
			}
			return a.show(l, func() { a.showSessions(l, o.all) })
		},
	}
	o.add(c, true)
	c.AddCommand(a.archiveCommand())
	return c
}

func (a *app) showSessions(l *sessions.List, all bool) {
	short := len("00000000")
	for !distinct(l.Sessions, short) {
		short++
	}
	head := []string{"session", "changed", "turns", "size", "branch"}
	if all {
		head = append(head, "directory")
	}
	head = append(head, "", "title")
	var rows [][]string
	for _, s := range l.Sessions {
		id := s.Session
		if a.Terminal {
			id = id[:min(short, len(id))]
		}
		row := []string{id, localTime(s.Modified), fmt.Sprint(s.Turns), size(s.Size), s.Branch}
		if all {
			row = append(row, s.Cwd)
		}
		rows = append(rows, append(row, strings.Join(marks(s), ", "), about(s)))
	}
	if len(rows) > 0 || a.Terminal {
		a.Table(head, rows)
	}
	if a.Terminal {
		a.Printf("%s in %s\n", count(l.Total, "session"), count(l.Looked, "folder"))
	}
	if len(rows) == 0 && !a.Terminal {
		none := "no session of this project was found; --all lists those of all projects"
		if all {
			none = "no session was found"
		}
		fmt.Fprintln(a.Err, none)
	}
	a.sessionNotes(l.Skipped, l.MoreSkipped, l.Notes)
}

// count gives a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// about is what a session is called.
func about(s sessions.Listed) string {
	if s.Title != "" {
		return s.Title
	}
	return s.FirstPrompt
}

// marks are what a person should see of a session at a glance.
func marks(s sessions.Listed) []string {
	var m []string
	if s.Live != "" {
		m = append(m, "live")
	}
	if s.Compacted > 0 {
		m = append(m, "compacted")
	}
	if n := len(s.Agents) + s.MoreAgents; n > 0 {
		m = append(m, count(n, "agent"))
	}
	if s.Origin != transcript.OriginClient {
		m = append(m, string(s.Origin))
	}
	if s.Problems != "" {
		m = append(m, "damaged: "+term.Clean(s.Problems))
	}
	return m
}

// distinct reports whether the first n characters tell sessions apart.
func distinct(list []sessions.Listed, n int) bool {
	seen := map[string]bool{}
	for _, s := range list {
		id := s.Session[:min(n, len(s.Session))]
		if seen[id] && len(s.Session) > n {
			return false
		}
		seen[id] = true
	}
	return true
}

func localTime(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return stamp
	}
	return t.Local().Format("2006-01-02 15:04")
}

// size gives bytes as people read them.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

func (a *app) sessionNotes(skipped []transcript.Skipped, more int, notes []string) {
	for _, s := range skipped {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "skipped:"), term.Clean(s.String()))
	}
	if more > 0 {
		fmt.Fprintf(a.Err, "skipped: %d more\n", more)
	}
	for _, n := range notes {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), term.ForPeople(term.Clean(n)))
	}
}

func (a *app) archiveCommand() *cobra.Command {
	var f sessionFlags
	var o sessions.ArchiveOptions
	var days int
	c := &cobra.Command{
		Use:   "archive [SESSION…]",
		Short: "Copy sessions, compressed, to where the client does not delete them: those that it deletes within a week, or these",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Every && len(args) > 0 {
				return term.Usage("give sessions or --every, not both")
			}
			o.Sessions, o.Within = args, time.Duration(days)*24*time.Hour
			var got *sessions.Archived
			err := a.withSessions(f, func(s *sessions.Sessions, p sessions.Progress) (err error) {
				o.Progress = p
				got, err = s.Archive(cmd.Context(), o)
				return err
			})
			if got == nil {
				return err
			}
			if n := got.Failed; n > 0 && err == nil {
				err = fmt.Errorf("%s not copied, for the reasons above; run this again when they are mended", count(n, "session"))
			}
			return errors.Join(err, a.show(got, func() {
				for _, x := range got.Sessions {
					a.Printf("%s  %s  %s of %s\n", a.Style(term.Bold, term.Clean(x.Session)), x.Action, size(x.Stored), size(x.Size))
				}
				a.sessionNotes(got.Skipped, 0, got.Notes)
			}))
		},
	}
	f.add(c, true)
	c.Flags().BoolVar(&o.Every, "every", false, "every session that has no copy yet")
	c.Flags().IntVar(&days, "days", 7, "without sessions: those that the client deletes within so many days")
	return c
}
