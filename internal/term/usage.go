package term

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		return Usage("%sunknown command or argument %q%s", at, args[0], meant(cmd, args[0]))
	}
	return nil
}

// meant says which commands somebody may have meant, "" where none is near.
func meant(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(word)
	if len(near) == 0 {
		return ""
	}
	for i, name := range near {
		near[i] = cmd.CommandPath() + " " + name
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// OneOf refuses the value of a flag that is none of those known.
func OneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usage("--%s %q is unknown; it is one of %s", flag, value, strings.Join(known, ", "))
}

// Between refuses a number that somebody gave to a flag and that is out of its bounds.
func Between(cmd *cobra.Command, flag string, low, high int) error {
	n, err := cmd.Flags().GetInt(flag)
	switch {
	case err != nil || !cmd.Flags().Changed(flag) || n >= low && n <= high:
		return nil
	case high == math.MaxInt:
		return Usage("--%s is %d; it takes %d or more", flag, n, low)
	}
	return Usage("--%s is %d; it takes %d to %d", flag, n, low, high)
}

// FlagError gives what is wrong with the flags of a command line, for cobra to ask.
func FlagError(_ *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return &UsageError{Err: err}
	}
	takes := map[string]string{"int": "a whole number", "bool": "true or false", "duration": "a time such as 30s or 2m"}[bad.GetFlag().Value.Type()]
	if takes == "" {
		return &UsageError{Err: err}
	}
	return Usage("--%s takes %s, not %q", bad.GetFlag().Name, takes, bad.GetValue())
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
