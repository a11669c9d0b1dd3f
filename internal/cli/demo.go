package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
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
			server, remove, err := languageServer(ctx, exe)
			if err != nil {
				return err
			}
			defer remove()
			opt := demo.Options{Command: []string{exe}, LanguageServer: server, Getenv: a.env.Getenv, Keep: keep, Width: a.Width}
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

// languageServer gives how to start mem-lsp: what is built from the checkout that is
// the working directory, else the one beside this program, else the one in PATH. It
// gives nothing where there is none.
func languageServer(ctx context.Context, exe string) (command []string, remove func(), err error) {
	remove = func() {}
	name := "mem-lsp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if mod, err := os.ReadFile("go.mod"); err == nil && strings.HasPrefix(string(mod), "module mem\n") {
		dir, err := os.MkdirTemp("", "mem-demo-")
		if err != nil {
			return nil, remove, fmt.Errorf("making a place for mem-lsp: %w. Set TMPDIR to a directory that can be written", err)
		}
		remove = func() { os.RemoveAll(dir) }
		build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, name), "./cmd/mem-lsp")
		if out, err := build.CombinedOutput(); err != nil {
			remove()
			return nil, func() {}, fmt.Errorf("building mem-lsp for the demo: %w\n%s", err, out)
		}
		return []string{filepath.Join(dir, name)}, remove, nil
	}
	beside := filepath.Join(filepath.Dir(exe), name)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		return []string{beside}, remove, nil
	}
	if found, err := exec.LookPath(name); err == nil {
		return []string{found}, remove, nil
	}
	return nil, remove, nil
}
