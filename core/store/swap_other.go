//go:build !linux && !darwin

package store

import (
	"errors"
	"os"
)

// exchange is not to be had here: what a write displaces is read just before.
func exchange(*os.File, string, string) error { return errors.ErrUnsupported }

// renameNew is done with a link or a check instead.
func renameNew(*os.File, string, string) error { return errors.ErrUnsupported }
