// Package lspcli owns the command line of mem-lsp: one file for each command. It
// stays small, since editors start it: what only mem-mcp needs is not linked.
package lspcli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mem/core/settings"
	"mem/internal/term"
)

// Exit codes of mem-lsp.
const (
	ExitOK       = 0
	ExitFindings = 1   // check found something; fix --diff has something to mend; a change could not be made
	ExitUsage    = 2   // the command line or its input cannot be used, or not all of it could be checked
	ExitStopped  = 130 // interrupted
)

// Server serves the language server protocol until the client leaves.
type Server func(ctx context.Context, env settings.Env, in io.Reader, out, log io.Writer, version string) error

// Options is what the command line works with.
type Options struct {
	Env     settings.Env
	Streams term.Streams
	Version string
	Serve   Server
}

// app is what all commands share.
type app struct {
	term.Printer
	env     settings.Env
	version string
	server  Server

	json     bool
	code     int // of a command that ran
	warnings []string
}

// Run runs a command line and gives the exit code.
func Run(ctx context.Context, opt Options, args []string) int {
	a := &app{Printer: term.NewPrinter(opt.Streams, opt.Env), env: opt.Env, version: opt.Version, server: opt.Serve}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	cmd, err := root.ExecuteContextC(ctx)
	var wrong *term.UsageError
	switch {
	case err == nil:
		return a.code
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		a.complain(errors.New("stopped before its end"))
		return ExitStopped
	case errors.As(err, &wrong):
		a.complain(err)
		fmt.Fprintf(a.Err, "See %s --help.\n", cmd.CommandPath())
	default:
		a.complain(err)
	}
	return ExitUsage
}

// complain prints an error where people look for it.
func (a *app) complain(err error) {
	if term.OutputClosed(err) {
		return // who reads the output has seen enough
	}
	if a.json {
		if b, marshalErr := json.Marshal(map[string]string{"error": err.Error()}); marshalErr == nil {
			fmt.Fprintln(a.Err, string(b))
			return
		}
	}
	fmt.Fprintln(a.Err, "mem-lsp:", term.Visible(err.Error()))
}

// warn keeps something to be said beside the result, once.
func (a *app) warn(words string) {
	if !slices.Contains(a.warnings, words) {
		a.warnings = append(a.warnings, words)
	}
}

// sayWarnings says them, when nothing else writes.
func (a *app) sayWarnings() {
	for _, words := range a.warnings {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "warning:"), term.Clean(words))
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mem-lsp",
		Short: "What is wrong with the memory of coding agents, and how to mend it",
		Long: "mem-lsp serves the language server protocol to an editor (the default), and checks and mends memory\n" +
			"directories on the command line.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          term.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(term.FlagError)
	root.Version = a.version // adds --version
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	serveFlags(root)
	for _, c := range []*cobra.Command{a.serveCommand(), a.checkCommand(), a.fixCommand(), a.rulesCommand(), a.versionCommand()} {
		root.AddCommand(c)
	}
	return root
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.JSON(map[string]string{"version": a.version})
			}
			a.Printf("mem-lsp %s\n", a.version)
			return nil
		},
	}
}
