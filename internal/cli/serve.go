package cli

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"mem/core/extract"
	"mem/core/job"
	"mem/core/proposal"
	"mem/internal/mcpserver"
	"mem/internal/term"
	"mem/tools"
)

func (a *app) serveFlags(c *cobra.Command) {
	c.Flags().BoolVar(&a.dailyLog, "daily-log", false, "append new memories to the daily log instead of writing topics")
}

// applyFlag is one that a person gives a server on its way.
func (a *app) applyFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.allowApply, "allow-apply", false, "let agents apply proposals that wait for a person")
}

func (a *app) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve memory over MCP on standard input and output (the default)",
		Args:  term.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	a.serveFlags(c)
	a.applyFlag(c)
	return c
}

// finishers end jobs whose results hosts hand back.
var finishers = map[string]proposal.Finisher{job.Extract: extract.Finish}

func (a *app) serve(ctx context.Context) error {
	a.SayServing("mem-mcp", "MCP")
	s := mcpserver.New(mcpserver.Options{Memory: a.options(), Version: a.version, Logger: slog.New(slog.NewTextHandler(a.Err, nil)),
		Tools: tools.Options{AllowApply: a.allowApply, Start: a.startJob, Finishers: finishers}})
	return s.Serve(ctx, a.In, a.Out)
}
