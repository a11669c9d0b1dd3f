package lspcli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mem/core/settings"
	"mem/internal/cli"
	"mem/internal/clitest"
	"mem/internal/lspcli"
	"mem/internal/term"
)

// TestMain makes this binary the commands that scripts call.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mem-lsp": func() { os.Exit(memLSP(os.Args[1:])) },
		"mem-mcp": func() { os.Exit(memMCP(os.Args[1:])) },
		"exits":   func() { os.Exit(exits(os.Args[1], os.Args[2:])) },
	})
}

// memLSP is the main of mem-lsp, with a server that only shows that it was called.
func memLSP(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serve := func(_ context.Context, _ settings.Env, in io.Reader, out, log io.Writer, version string) error {
		said, err := io.ReadAll(in)
		fmt.Fprintf(out, "served %s by version %s\n", said, version)
		if string(said) == "garbage" {
			return errors.Join(err, errors.New("the client sent garbage"))
		}
		return err
	}
	return lspcli.Run(ctx, lspcli.Options{Env: clitest.Environment(), Streams: term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, Version: "test", Serve: serve}, args)
}

func memMCP(args []string) int {
	return cli.Run(context.Background(), clitest.Environment(), term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "test", args)
}

// exits runs mem-lsp and succeeds where it ends with the exit code that is given.
func exits(want string, args []string) int {
	if got := strconv.Itoa(memLSP(args)); got != want {
		fmt.Fprintf(os.Stderr, "exit code %s, want %s\n", got, want)
		return 99
	}
	return 0
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       clitest.Updating(),
		Setup:               setUp,
		Cmds:                clitest.Commands(map[string]func(*testscript.TestScript, bool, []string){"same": same}),
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// setUp gives each script a home of its own, and a byte order mark.
func setUp(env *testscript.Env) error {
	env.Setenv("BOM", "\ufeff")
	return clitest.SetUp(env)
}

// same compares the bytes of a file with a Go string literal: [!] same FILE "a\x00b".
func same(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	if got := ts.ReadFile(args[0]); (got == want) == neg {
		ts.Fatalf("%s holds %q", args[0], got)
	}
}
