package lspcli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"mem/internal/term"
)

func (a *app) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve an editor on standard input and output (the default)",
		Args:  term.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	serveFlags(c)
	return c
}

// serveFlags adds --stdio, which many clients give to every server: it says what
// holds anyway.
func serveFlags(c *cobra.Command) {
	c.Flags().Bool("stdio", true, "talk on standard input and output, the only way there is")
	_ = c.Flags().MarkHidden("stdio") // fails only for a flag that is not there
}

func (a *app) serve(ctx context.Context) error {
	if a.server == nil {
		return errors.New("this build has no language server")
	}
	a.SayServing("mem-lsp", "the language server protocol")
	in, restore := term.Polled(a.In)
	defer restore()
	if a.InTerminal {
		in = term.Until(ctx, in) // nothing else ends a read that waits for somebody to type
	}
	if err := a.server(ctx, a.env, in, a.Out, a.Err, a.version); err != nil {
		if ctx.Err() == nil {
			a.complain(err)
		}
		a.code = ExitFindings
	}
	return nil
}
