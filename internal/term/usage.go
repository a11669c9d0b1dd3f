package term

import (
	"fmt"

	"github.com/spf13/cobra"
)

// UsageError is a command line that cannot be understood.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usage gives a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// NoArgs and the like give usage errors, which cobra's own do not.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		at := ""
		if cmd.HasParent() {
			at = cmd.Name() + ": "
		}
		return Usage("%sunknown command or argument %q", at, args[0])
	}
	return nil
}

// OneArg wants exactly one argument; what says which.
func OneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usage("%s takes one argument: %s", cmd.Name(), what)
		}
		return nil
	}
}

// SomeArgs wants at least one argument; what says which.
func SomeArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usage("%s needs an argument: %s", cmd.Name(), what)
		}
		return nil
	}
}
