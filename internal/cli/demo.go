package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"mem/internal/demo"
	"mem/internal/term"
)

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Play the main job end to end on a scratch project, each step shown and checked",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.project != "" || a.memoryDir != "" {
				return term.Usage("demo works on a scratch project of its own; leave --project and --memory-dir out")
			}
			// A closed terminal must not leave the scratch directory behind.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
			defer stop()
			exe, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding the program itself, which the demo starts as its server: %w", err)
			}
			opt := demo.Options{Command: []string{exe}, Getenv: a.env.Getenv, Keep: keep, Width: a.Width}
			if !a.json {
				opt.Out = a.Out
				opt.Color = a.Terminal && a.env.Getenv("NO_COLOR") == ""
			}
			report, err := demo.Run(ctx, opt)
			if !a.json {
				return err
			}
			if showErr := a.show(report, nil); showErr != nil {
				return showErr
			}
			return err
		},
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the scratch directory and say where it is")
	return c
}
