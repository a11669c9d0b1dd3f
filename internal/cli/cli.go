// Package cli owns the command line of mem-mcp: one file for each command. A
// command reads its flags, calls core, and prints; on a terminal with colour
// and tables, into a pipe as plain text, with --json as JSON.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/settings"
	"mem/internal/term"
)

// Exit codes of mem-mcp.
const (
	ExitOK    = 0
	ExitError = 1 // the command failed
	ExitUsage = 2 // an unknown flag, a missing argument
)

// app is what all commands share.
type app struct {
	term.Printer
	env     settings.Env
	version string

	project, memoryDir     string
	store                  string
	json                   bool
	dailyLog, allowSecrets bool
	allowApply             bool
}

// Run runs a command line and gives the exit code.
func Run(ctx context.Context, env settings.Env, streams term.Streams, version string, args []string) int {
	a := &app{Printer: term.NewPrinter(streams, env), env: env, version: version}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	cmd, err := root.ExecuteContextC(ctx)
	var wrong *term.UsageError
	var notMerged notMergedError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &notMerged):
		a.complain(err)
		return ExitNotMerged
	case errors.As(err, &wrong):
		a.complain(err)
		fmt.Fprintf(streams.Err, "See %s --help.\n", cmd.CommandPath())
		return ExitUsage
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New(strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted"))
	}
	a.complain(err)
	return ExitError
}

// complain prints an error where people look for it.
func (a *app) complain(err error) {
	if term.OutputClosed(err) {
		return // who reads the output has seen enough
	}
	words := term.ForPeople(err.Error())
	if a.json {
		b, marshalErr := json.Marshal(map[string]string{"error": words})
		if marshalErr == nil {
			fmt.Fprintln(a.Err, string(b))
			return
		}
	}
	fmt.Fprintln(a.Err, "mem-mcp:", term.Visible(words))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "mem-mcp",
		Short:         "Memory for coding agents, over the files that Claude Code keeps",
		Long:          "mem-mcp serves the memory of a project to agents over MCP (the default), and reads and writes it on the command line.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := memdir.ParseStore(a.store); err != nil {
				return &term.UsageError{Err: err}
			}
			return a.refuseInside(cmd)
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(term.FlagError)
	root.Version = a.version // adds --version
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	f := root.PersistentFlags()
	f.StringVar(&a.project, "project", "", "directory of the project (default: CLAUDE_PROJECT_DIR, else the working directory)")
	f.StringVar(&a.memoryDir, "memory-dir", "", "use this memory directory, whatever the project")
	f.StringVar(&a.store, "store", "", `which memory: auto (the project's), agent/<name>/project, agent/<name>/local, agent/<name>/user, or extra/<name>; mem-mcp stores lists them`)
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.BoolVar(&a.allowSecrets, "allow-secrets", false, "let what looks like a secret be written")
	a.serveFlags(root)
	a.applyFlag(root)
	for _, c := range []*cobra.Command{
		a.serveCommand(), a.whereCommand(), a.configCommand(), a.contextCommand(), a.listCommand(), a.readCommand(),
		a.writeCommand(), a.deleteCommand(), a.searchCommand(), a.historyCommand(), a.undoCommand(), a.purgeCommand(),
		a.sessionsCommand(), a.resumeCommand(), a.exportCommand(), a.adoptCommand(), a.storesCommand(), a.proposalsCommand(),
		a.jobsCommand(), a.jobCommand(), a.hookCommand(), a.hooksCommand(), a.usageCommand(), a.engineCommand(),
		a.snapshotCommand(), a.mergeDriverCommand(), a.extractCommand(), a.summaryCommand(), a.dreamCommand(),
		a.demoCommand(), a.versionCommand(),
	} {
		root.AddCommand(c)
	}
	return root
}

// noCommand refuses what is no command here; what the other program does is said.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && slices.Contains([]string{"check", "fix", "rules"}, args[0]) {
		return term.Usage("unknown command %q; mem-lsp %s does that", args[0], args[0])
	}
	return term.NoArgs(cmd, args)
}

func (a *app) options() memory.Options {
	return memory.Options{Env: a.env, MemoryDir: a.memoryDir, Project: a.project, Store: a.store, DailyLog: a.dailyLog,
		Actor: "mem-mcp " + a.version, AllowSecrets: a.allowSecrets}
}

// withMemory runs f on the memory that the flags name.
func (a *app) withMemory(f func(m *memory.Memory) error) error { return withMemory(a.options(), f) }

// withProject runs f on the memory of the project, for what belongs to the project and to
// none of its stores.
func (a *app) withProject(f func(m *memory.Memory) error) error {
	n, err := memdir.ParseStore(a.store)
	if err != nil {
		return err
	}
	if !n.Auto() {
		return term.Usage("--store does not go with this command, which is about the project and not about one of its stores: leave it out")
	}
	return withMemory(a.options(), f)
}

func withMemory(o memory.Options, f func(m *memory.Memory) error) error {
	m, err := memory.Open(o)
	if err != nil {
		return err
	}
	return errors.Join(f(m), m.Close())
}

// working runs what nobody counts, and says on a terminal what it does where that takes
// long. f prints nothing.
func working[T any](a *app, doing string, f func() (T, error)) (T, error) {
	_, stop := a.Progress(doing)
	defer stop()
	return f()
}

// show prints a result: as JSON where that was asked for, else by words.
func (a *app) show(v any, words func()) error {
	if !a.json {
		words()
		return nil
	}
	return a.JSON(v)
}

// notice prints what a reader must know besides the result, on standard error
// so that a pipe gets the result alone.
func (a *app) notice(n memory.Notice) {
	for _, l := range n.Vanished {
		fmt.Fprintln(a.Err, a.Style(term.Red, "vanished:"), term.ForPeople(memory.LossWords(l)))
	}
	for _, s := range n.Notes {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), term.ForPeople(term.Clean(s)))
	}
}
