package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
)

// How says in which way a change is applied.
type How struct {
	// AllowSecrets lets secrets through. Only a person may set it: by an
	// answer to a question, a start flag or the command line.
	AllowSecrets bool
	Undoes       string // id of the change that this one takes back
	Origin       string // session, where it is not the store's
	// KeepTimes leaves topics that are edited the modification time that they had,
	// to a millisecond: what counts from it still counts from when a person or an
	// agent last said something there.
	KeepTimes bool
	// Planned is called, unless it is nil, with the texts that files are about to get, by
	// path, before they are written: so that they can be looked at while the disk is waited
	// for. It must not wait itself, nor write to the directory. What becomes of the change
	// is in the Result: it may fail yet, or be merged with what another program writes at
	// that moment. It is not called where a file goes or is appended to.
	Planned func(texts map[string]string)

	noteUnchanged bool // the history has the change though no file needs it
}

// Result is what a change did.
type Result struct {
	ID       string          // of the change; "" when it changed nothing
	Files    []FileResult    // in the order of the change
	Findings []guard.Finding // in what was added, for whoever wrote it
	Losses   []Loss          // seen vanished when the directory was locked
	Notes    []string        // what else the writer must know
}

// FileResult is what happened to one file.
type FileResult struct {
	Path   string `json:"path"`
	Action string `json:"action"`           // created, updated, deleted, appended, unchanged
	Hash   string `json:"hash,omitempty"`   // of the new content; "" when it is gone
	Merged bool   `json:"merged,omitempty"` // with a write of somebody else
	After  string `json:"-"`
}

// ConflictError says which parts somebody else changed differently. Nothing was
// written.
type ConflictError struct {
	Conflicts []change.Conflict
	Current   map[string]Current // the files as they are now
}

// Current is a file as it is on disk.
type Current struct {
	Text   string `json:"text"`
	Hash   string `json:"hash"` // "" when the file does not exist
	Exists bool   `json:"exists"`
}

func (e *ConflictError) Error() string {
	c := e.Conflicts[0]
	more := ""
	if n := len(e.Conflicts) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s was changed by somebody else meanwhile, in the same part: %s%s. Nothing was written. "+
		"Read the current text, and write again what should stand there, with its hash", c.Path, c.Part, more)
}

// RefusedError says that the guard does not let a text be written.
type RefusedError struct {
	Path     string
	Findings []guard.Finding
}

func (e *RefusedError) Error() string {
	f := e.Findings[0]
	return fmt.Sprintf("%s %s. Nothing was written. Leave the secret out; a person can allow it with --allow-secrets, or for good in guard.allow of the configuration", e.Path, strings.TrimSuffix(f.Reason, "."))
}

// Apply makes a change on disk, all of it or nothing: durable when it returns.
// A file that somebody else changed meanwhile is merged; where both changed the
// same part it gives a *ConflictError. It gives a *RefusedError for secrets and
// a *LockedError when another process keeps the lock.
func (s *Store) Apply(ctx context.Context, c change.Change, how How) (*Result, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	findings, err := s.scan(ctx, c, how)
	if err != nil {
		return nil, err
	}
	root, unlock, err := s.lock(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	defer unlock()
	notes, err := s.settle(root)
	if err != nil {
		return nil, s.explain(err)
	}
	a := s.apply(root, findings, notes)
	defer a.folders.close()
	a.res.Losses = s.takeLosses()
	// What is compared with the last change is what the plan starts from, so that
	// nothing can vanish in between. An index that cannot be read is an error where
	// the change needs it.
	if index, err := a.look(memfile.IndexName); err == nil {
		losses, notes := s.observe(a.folders, index)
		a.res.Losses = append(a.res.Losses, losses...)
		a.res.Notes = append(a.res.Notes, notes...)
	}
	if err = a.plan(ctx, c); err == nil {
		a.tell(how.Planned)
	}
	if err == nil && (len(a.steps) > 0 || how.noteUnchanged) {
		err = a.run(ctx, c, how)
	}
	if err != nil {
		s.keepLosses(a.res.Losses) // for the next result
		return nil, s.explain(err)
	}
	return a.res, nil
}

// tell says what the steps are about to leave.
func (a *application) tell(planned func(map[string]string)) {
	if planned == nil || len(a.steps) == 0 {
		return
	}
	texts := map[string]string{}
	for i := range a.steps {
		st := &a.steps[i]
		if st.Kind != string(change.Create) && st.Kind != string(change.Edit) {
			return
		}
		texts[st.Path] = st.after
	}
	planned(texts)
}

// check refuses what no directory could take.
func check(c change.Change) error {
	seen := map[string]bool{}
	for _, f := range c.Files {
		for _, p := range slices.CompactFunc([]string{f.Path, f.Target()}, strings.EqualFold) {
			if err := memdir.CheckPath(p); err != nil {
				return err
			}
			if fold := strings.ToLower(p); seen[fold] {
				return fmt.Errorf("the change has more than one part for %s", p)
			} else {
				seen[fold] = true
			}
		}
	}
	return nil
}

// scan looks at what a change adds. Secrets are refused; what else is found is
// for the writer to know.
func (s *Store) scan(ctx context.Context, c change.Change, how How) ([]guard.Finding, error) {
	if s.opt.Guard == nil {
		return nil, nil
	}
	var all []guard.Finding
	for _, f := range c.Files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		after, stays, err := f.After()
		if err != nil {
			return nil, err
		}
		if !stays {
			continue
		}
		if f.Kind == change.Create || f.Kind == change.Rename {
			// A name is a text like any other, and is shown more often.
			if found := s.secrets(s.opt.Guard.Added(nil, []byte(f.Target()))); len(found) > 0 && !how.AllowSecrets {
				return nil, &RefusedError{Path: "the name of the file", Findings: found}
			}
		}
		found := s.opt.Guard.Added([]byte(f.Base), []byte(after))
		if secret := s.secrets(found); len(secret) > 0 && !how.AllowSecrets {
			return nil, &RefusedError{Path: f.Target(), Findings: secret}
		}
		all = append(all, found...)
	}
	return all, nil
}

// secrets gives the findings that a write is refused for.
func (s *Store) secrets(found []guard.Finding) []guard.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(x guard.Finding) bool {
		return x.Kind != guard.KindSecret && x.Kind != guard.KindIncomplete
	})
}
