package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/agentmem"
	"mem/internal/term"
)

// ExitNotMerged tells git that a file could not be merged at all. Git takes what lies
// between 1 and 127 for a conflict whose marks stand in the file.
const ExitNotMerged = 129

// notMergedError is why a file could not be merged.
type notMergedError struct{ error }

func (e notMergedError) Unwrap() error { return e.error }

func (a *app) mergeDriverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS PATH",
		Short: "Merge a file of a snapshot for git (snapshot setup configures it)",
		// Paths are whatever a repository has; one that looks like a flag is none.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if len(args) != 4 {
				return notMergedError{term.Usage("merge-driver takes what git gives it: %%O %%A %%B %%P")}
			}
			r, err := agentmem.MergeDriver(args[0], args[1], args[2], args[3])
			if err != nil {
				return notMergedError{err}
			}
			if len(r.Conflicts) > 0 {
				return fmt.Errorf("%s: both sides changed %s differently; git's marks stand there", term.Clean(r.Path), term.Clean(strings.Join(r.Conflicts, ", ")))
			}
			return nil
		},
	}
}
