package store

import (
	"errors"
	"os"
	"path/filepath"

	"mem/core/memdir"
)

// stillWithin reports that a checkout changed meanwhile so that the way to the
// directory leads elsewhere, by a link that was not there.
func (s *Store) stillWithin() error {
	if s.opt.Within == "" || realPath(s.dir) == s.dir {
		return nil
	}
	return &memdir.FileError{Path: s.dir, Reason: "now leads to " + memdir.ShownName(realPath(s.dir)) + " by a symbolic link in the checkout, which is not followed",
		Hint: "replace the link by a folder"}
}

// openDirectory opens the directory. In a checkout it is opened through the project's
// root, which no link leads out of, whatever changes in the meantime.
func (s *Store) openDirectory() (*os.Root, error) {
	if s.opt.Within == "" {
		return os.OpenRoot(s.dir)
	}
	within := realPath(s.opt.Within)
	rel, err := filepath.Rel(within, s.dir)
	if err != nil {
		return nil, err
	}
	top, err := os.OpenRoot(within)
	if err != nil {
		return nil, err
	}
	root, err := top.OpenRoot(rel)
	return root, errors.Join(err, top.Close())
}
