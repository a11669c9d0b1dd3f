package workspace

import (
	"fmt"
	"sync"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
)

// NoNewSecrets gives what diagnostics.FixOptions.Accept needs to refuse every change
// that would write a secret where it does not stand yet. One that is moved to another
// file is written anew there: what was read once is read twice, and the history keeps
// it. allow holds the fingerprints that the user allows. The rules of the guard are
// loaded when the first change is looked at.
func NoNewSecrets(allow []string) func(change.Change) error {
	scanner := sync.OnceValues(func() (*guard.Scanner, error) { return guard.New(guard.Options{Allow: allow}) })
	return func(c change.Change) error {
		s, err := scanner()
		if err != nil {
			return fmt.Errorf("guard.allow in the configuration: %w", err)
		}
		for _, f := range c.Files {
			after, stays, err := f.After()
			if err != nil {
				return err
			}
			if !stays {
				continue
			}
			base := f.Base
			if f.Target() != f.Path {
				base = ""
			}
			if f.Kind == change.Create || f.Kind == change.Rename { // a name is a text like any other
				if err := refused(s.Added(nil, []byte(f.Target())), "the name of a file"); err != nil {
					return err
				}
			}
			if err := refused(s.Added([]byte(base), []byte(after)), memdir.ShownName(f.Target())); err != nil {
				return err
			}
		}
		return nil
	}
}

// refused says why a text in which the guard found something is not written.
func refused(found []guard.Finding, where string) error {
	for _, x := range found {
		switch {
		case x.Rule == guard.HiddenTooMany: // characters that do not show are no secrets
		case x.Kind == guard.KindSecret:
			return fmt.Errorf("it would write what looks like a secret (%s) into %s, where it does not stand yet. Take the secret out first", x.Rule, where)
		case x.Kind == guard.KindIncomplete:
			return fmt.Errorf("%s could not be searched for secrets: %s", where, x.Reason)
		}
	}
	return nil
}
