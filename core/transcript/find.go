package transcript

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/project"
	"mem/core/settings"
)

// latest names the newest session where a session is asked for.
const latest = "latest"

// FindOptions says which sessions to look for.
type FindOptions struct {
	// Project is the project whose sessions are wanted. The zero value wants all.
	Project project.Project
	// Dirs are folders to look into instead of the usual ones. What lies in them counts
	// whatever directories its records name.
	Dirs []string
	// Except is the id of a session that "latest" does not mean, where there is another:
	// the one that asks.
	Except string
	// Since leaves out what nobody wrote to after it, without a look into it. The zero
	// value takes all.
	Since time.Time
	// Shallow reads only the beginning of what is not known yet: the Facts are Partial
	// then.
	Shallow bool
	// Progress is called with the bytes read so far and those to be read in all.
	Progress func(done, total int64)
}

// Sessions is what was found, newest first.
type Sessions struct {
	List []*Session `json:"sessions"`
	// Looked lists the folders that were looked into.
	Looked []string `json:"looked"`
	// Skipped is what was not taken, and why.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Notes are things that the reader should know.
	Notes []string `json:"notes,omitempty"`
}

// Find finds sessions: of a project, of all projects, or in folders. A session is the
// project's if its records name a directory in the repository or in one of its worktrees, or if it was
// taken over. What cannot be read is in Skipped; an error only says that ctx is done.
func Find(ctx context.Context, env settings.Env, o FindOptions) (*Sessions, error) {
	s := newSearch(env, o)
	files := s.files()
	if err := s.look(ctx, files); err != nil {
		return nil, err
	}
	return s.found(), nil
}

// AmbiguousError says that several sessions begin with what was given.
type AmbiguousError struct {
	Ref      string
	Sessions []string // ids, newest first
}

func (e *AmbiguousError) Error() string {
	few := e.Sessions[:min(len(e.Sessions), 5)]
	more := ""
	if n := len(e.Sessions) - len(few); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s begins the ids of %d sessions: %s%s. Give more of the id", memdir.ShownName(e.Ref), len(e.Sessions), strings.Join(few, ", "), more)
}

// NotFoundError says that there is no such session, or no such subagent of one.
type NotFoundError struct {
	Ref     string
	Session string   // whose subagent was asked for, "" where a session was
	Agents  []string // ids of those that it has
	Looked  int      // folders
	Skipped []Skipped
}

func (e *NotFoundError) Error() string {
	if e.Session != "" {
		there := "none"
		if few := e.Agents[:min(len(e.Agents), 5)]; len(few) > 0 {
			there = strings.Join(few, ", ")
			if n := len(e.Agents) - len(few); n > 0 {
				there += fmt.Sprintf(" and %d more", n)
			}
		}
		return fmt.Sprintf("the session %s has no subagent %s; those that it has: %s", memdir.ShownName(e.Session), memdir.ShownName(e.Ref), there)
	}
	what := "no session begins with " + memdir.ShownName(e.Ref)
	if e.Ref == latest {
		what = "there is no session"
	}
	why := ""
	if n := len(e.Skipped); n > 0 {
		// What bears the name that was asked for explains most.
		first := e.Skipped[max(0, slices.IndexFunc(e.Skipped, func(s Skipped) bool { return strings.HasPrefix(filepath.Base(s.Path), e.Ref) }))]
		why = fmt.Sprintf(" %d places were not taken, such as %s.", n, first)
		if n == 1 {
			why = fmt.Sprintf(" One place was not taken: %s.", first)
		}
	}
	if e.Looked == 0 {
		return fmt.Sprintf("%s: this project has no sessions yet.%s transcript_list with all has those of all projects", what, why)
	}
	folders := fmt.Sprintf("the %d folders that were", e.Looked)
	if e.Looked == 1 {
		folders = "the folder that was"
	}
	return fmt.Sprintf("%s in %s looked into.%s transcript_list gives those that there are", what, folders, why)
}

// Pick finds one session by its id, the beginning of it, or "latest", and
// reads no more of the files than that needs: what is not in the cache comes
// Partial. It returns a *NotFoundError or an *AmbiguousError.
func Pick(ctx context.Context, env settings.Env, o FindOptions, ref string) (*Session, error) {
	o.Shallow = true
	s := newSearch(env, o)
	files := s.files()
	newestFirst(files)
	if ref == latest {
		return s.latest(ctx, files)
	}
	var match []file
	for _, f := range files {
		if ref != "" && strings.HasPrefix(f.id, ref) {
			match = append(match, f)
		}
	}
	if exact := slices.DeleteFunc(slices.Clone(match), func(f file) bool { return f.id != ref }); len(exact) > 0 {
		match = exact
	}
	if err := s.look(ctx, match); err != nil {
		return nil, err
	}
	found := s.found()
	switch len(found.List) {
	case 0:
		return nil, &NotFoundError{Ref: ref, Looked: len(found.Looked), Skipped: found.Skipped}
	case 1:
		return found.List[0], nil
	}
	e := &AmbiguousError{Ref: ref}
	for _, x := range found.List {
		e.Sessions = append(e.Sessions, x.ID)
	}
	return nil, e
}

// latest gives the session that was written last, of the files with the newest first; that
// of o.Except comes after all others.
func (s *search) latest(ctx context.Context, files []file) (*Session, error) {
	own := func(f file) bool { return f.id == s.o.Except }
	others := slices.DeleteFunc(slices.Clone(files), own)
	for _, group := range [][]file{others, slices.DeleteFunc(files, func(f file) bool { return !own(f) })} {
		var newest *Session
		same := map[string][]file{}
		for _, f := range group {
			same[f.id] = append(same[f.id], f)
		}
		for _, f := range group {
			// A copy in the archive is younger than its session, and no file is older than what was written to it.
			if newest != nil && !f.mtime.After(newest.Modified) {
				break
			}
			files := same[f.id]
			if same[f.id] = nil; files == nil {
				continue
			}
			if err := s.look(ctx, files); err != nil {
				return nil, err
			}
			for _, x := range s.found().List {
				if newest == nil || x.Modified.After(newest.Modified) {
					newest = x
				}
			}
		}
		if newest != nil {
			return newest, nil
		}
	}
	return nil, &NotFoundError{Ref: latest, Looked: len(s.out.Looked), Skipped: s.out.Skipped}
}
