package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"

	"mem/core/change"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/internal/cli"
	"mem/internal/clitest"
	"mem/internal/term"
)

// TestMain makes this binary the commands that scripts call.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mem-mcp":  func() { os.Exit(memMCP(os.Args[1:])) },
		"holdlock": holdLock,
		"propose":  propose,
	})
}

// memMCP is the main of mem-mcp, with a clock and a policy file that a script
// can set.
func memMCP(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := clitest.Environment()
	if os.Getenv("TEST_JOBS") != "" {
		cli.UseFakeJobs()
	}
	return cli.Run(ctx, env, term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "test", args)
}

// propose leaves a proposal in the memory directory of the first argument, as a job does
// under review: the second one is a topic that it deletes, the third one that it adds.
func propose() {
	env := clitest.Environment()
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	m, err := memory.Open(memory.Options{Env: env, MemoryDir: os.Args[1]})
	fail(err)
	old, _, err := m.Current(os.Args[2])
	fail(err)
	v, _, err := m.View(context.Background())
	fail(err)
	c := v.Delete(os.Args[2], old)
	body := "---\nname: new\ndescription: New\ntype: user\n---\n\nA token \x1b[31mred.\n"
	c.Files = append(c.Files, change.File{Path: os.Args[3], Kind: change.Create, New: body})
	units := proposal.Split(c)
	units[0].Reason = "said elsewhere"
	s, err := proposal.Of(m).Settle(context.Background(), proposal.Submission{Kind: "dream", Title: "two things", Report: "A report.", Policy: proposal.Review, Units: units})
	fail(err)
	fmt.Println(s.Proposal.ID)
	fail(m.Close())
}

// holdLock keeps the lock of a memory directory, as a program that hangs does,
// and makes a file once it has it.
func holdLock() {
	l := flock.New(os.Args[1], flock.SetFlag(os.O_RDONLY))
	if err := l.Lock(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := os.WriteFile(os.Args[2], nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	time.Sleep(time.Minute)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: clitest.Commands(map[string]func(*testscript.TestScript, bool, []string){
			"sparse": sparse,
			"await":  await,
			"mkgit":  mkGit,
			"expand": expand,

			"jobs-end": jobsEnd,
		}),
	})
}

// setUp gives each script a home and a project of its own.
func setUp(env *testscript.Env) error {
	if err := clitest.SetUp(env); err != nil {
		return err
	}
	home := clitest.Home(env)
	project := filepath.Join(env.WorkDir, "project")
	env.Setenv("PROJECT", project)
	env.Setenv("SLUG", slug(project))
	env.Setenv("MEMORY", filepath.Join(home, ".claude", "projects", slug(project), "memory"))
	env.Cd = project
	return os.MkdirAll(project, 0o700)
}

// slug is written here a second time, so that a script does not take for right
// what the program takes for right.
func slug(p string) string {
	return regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(p, "-")
}

// sparse makes a file of a size without its bytes: sparse FILE MEGABYTES.
func sparse(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(f.Truncate(n << 20))
	ts.Check(f.Close())
}

// await waits until a file exists.
func await(ts *testscript.TestScript, _ bool, args []string) {
	for range 1000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}

// jobsEnd waits until no record of a job says that it goes on.
func jobsEnd(ts *testscript.TestScript, _ bool, _ []string) {
	for range 1000 {
		records, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "mem", "*", "jobs", "*.json"))
		ts.Check(err)
		open := len(records) == 0
		for _, r := range records {
			text := ts.ReadFile(r)
			open = open || strings.Contains(text, `"state": "running"`) || strings.Contains(text, `"state": "queued"`)
		}
		if !open {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("a job does not end")
}

// mkGit makes the least that is a git repository.
func mkGit(ts *testscript.TestScript, _ bool, args []string) {
	git := filepath.Join(ts.MkAbs(args[0]), ".git")
	for _, dir := range []string{"objects", "refs"} {
		ts.Check(os.MkdirAll(filepath.Join(git, dir), 0o700))
	}
	ts.Check(os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
}

// expand replaces $NAME in a file by variables of the script.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		p := ts.MkAbs(name)
		text := os.Expand(ts.ReadFile(name), func(k string) string {
			v := ts.Getenv(k)
			if runtime.GOOS == "windows" {
				v = filepath.ToSlash(v)
			}
			return v
		})
		ts.Check(os.WriteFile(p, []byte(text), 0o600))
	}
}
