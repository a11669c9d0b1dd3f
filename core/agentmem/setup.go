package agentmem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"mem/core/atomicfile"
	"mem/core/memdir"
	"mem/core/project"
)

// SetupOptions says what is set up.
type SetupOptions struct {
	// Write makes what is missing; without it only the report is made.
	Write bool
	// Program is the command that git runs as merge driver, as a shell writes it.
	Program string
}

// Check is one thing that sharing through git needs.
type Check struct {
	What string `json:"what"`
	// State is ok, missing, or unknown where it could not be looked at; written once it was
	// made.
	State  string `json:"state"`
	File   string `json:"file,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Lines are those that are missing in File, or were written there.
	Lines []string `json:"lines,omitempty"`
}

// SetupReport is what is set up in a checkout, and what is not.
type SetupReport struct {
	Checkout string   `json:"checkout"`
	Wrote    bool     `json:"wrote"`
	Checks   []Check  `json:"checks"`
	Notes    []string `json:"notes,omitempty"`
}

// The merge driver's name in git's configuration and in .gitattributes.
const driverName = "mem"

// gitTimeout bounds one call of git.
const gitTimeout = 10 * time.Second

// Setup looks whether git merges snapshots with the merge driver, ignores what is not for
// the team and keeps what is, and sets that up on request: lines in .gitattributes and
// .gitignore, which go to the team with the next commit, and the driver in .git/config,
// which every clone needs for itself, since git takes no command from a checkout.
func Setup(ctx context.Context, p project.Project, o SetupOptions) (*SetupReport, error) {
	if p.Problem != "" {
		return nil, errors.New(p.Problem)
	}
	if p.Worktree == "" || p.CommonDir == "" {
		return nil, fmt.Errorf("%s is no checkout of git: there is nothing to set up. Snapshots work all the same, in %s", p.Dir, SnapshotsDir)
	}
	if strings.ContainsFunc(o.Program, unicode.IsControl) {
		return nil, fmt.Errorf("the path of this program, %s, holds a control character, which git's configuration cannot: name a command with --program", memdir.Shown(o.Program, memdir.MaxShown))
	}
	r := &SetupReport{Checkout: p.Worktree, Wrote: o.Write}
	at := "/" + SnapshotsDir
	attributes := []string{
		at + "/**/*.md text eol=lf merge=" + driverName,
		at + "/**/" + ManifestName + " text eol=lf merge=" + driverName,
	}
	c, err := linesIn(filepath.Join(p.Worktree, ".gitattributes"), "git merges snapshots by their parts", attributes, o.Write)
	if err != nil {
		return nil, err
	}
	r.Checks = append(r.Checks, c)
	if c, err = driver(p, o); err != nil {
		return nil, err
	}
	r.Checks = append(r.Checks, c)
	var ignore []string
	for _, x := range []struct{ line, probe string }{
		{".claude/agent-memory-local/", ".claude/agent-memory-local/any-agent/MEMORY.md"},
		{".claude/agent-memory/", ".claude/agent-memory/any-agent/MEMORY.md"},
		{SnapshotsDir + "/**/" + tempPrefix + "*", SnapshotsDir + "/any-agent/" + tempPrefix + "x.tmp"}, // of a publish that was ended
	} {
		switch ignored, err := ignores(ctx, p, x.probe); {
		case err != nil:
			r.Checks = append(r.Checks, Check{What: "git ignores " + x.line, State: "unknown", Detail: err.Error()})
		case ignored:
			r.Checks = append(r.Checks, Check{What: "git ignores " + x.line, State: "ok"})
		default:
			ignore = append(ignore, "/"+x.line)
		}
	}
	if len(ignore) > 0 {
		if c, err = linesIn(filepath.Join(p.Worktree, ".gitignore"), "git ignores memories that are not for the team", ignore, o.Write); err != nil {
			return nil, err
		}
		r.Checks = append(r.Checks, c)
	}
	r.Checks = append(r.Checks, committed(ctx, p)...)
	for _, dir := range []string{".claude/agent-memory-local", ".claude/agent-memory"} {
		if name := trackedBelow(p, dir); name != "" {
			r.Checks = append(r.Checks, Check{What: dir + " is not committed", State: "missing", Detail: name + " is tracked by git, though the snapshot is what a team shares: git rm --cached -r " + dir})
		}
	}
	for _, c := range r.Checks {
		if base := filepath.Base(c.File); c.State == "written" && strings.HasPrefix(base, ".git") {
			r.Notes = append(r.Notes, "Commit .gitattributes and .gitignore. The merge driver stands in .git/config, which git does not share: everybody who clones this runs mem-mcp snapshot setup --write once.")
			break
		}
	}
	return r, nil
}

// linesIn makes sure that a file of the checkout holds lines; others stay.
func linesIn(file, what string, lines []string, write bool) (Check, error) {
	c := Check{What: what, State: "ok", File: file}
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		return c, fmt.Errorf("%s is no regular file and is left alone", file)
	}
	data, err := project.ReadFile(file, 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("reading %s: %w", file, project.Reason(err))
	}
	have := map[string]bool{}
	for _, line := range strings.Split(string(data), "\n") {
		have[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, line := range lines {
		if !have[line] {
			c.Lines = append(c.Lines, line)
		}
	}
	if len(c.Lines) == 0 {
		return c, nil
	}
	c.State = "missing"
	if !write {
		return c, nil
	}
	eol := "\n"
	if strings.Contains(string(data), "\r\n") {
		eol = "\r\n"
	}
	out := string(data)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += eol
	}
	out += strings.Join(c.Lines, eol) + eol
	mode := fs.FileMode(0o644)
	if info != nil {
		mode = info.Mode().Perm()
	}
	if err := writeAtomic(file, []byte(out), mode); err != nil {
		return c, err
	}
	c.State = "written"
	return c, nil
}

// driver looks at the merge driver in the repository's configuration, and adds it. The
// section is appended under git's own lock, so that the rest of the file stays as it is.
func driver(p project.Project, o SetupOptions) (Check, error) {
	file := filepath.Join(p.CommonDir, "config")
	want := o.Program + " merge-driver %O %A %B %P"
	c := Check{What: "git knows the merge driver (in this clone)", State: "ok", File: file}
	data, err := project.ReadFile(file, 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("reading %s: %w", file, project.Reason(err))
	}
	have := project.GitConfig(string(data), `merge "`+driverName+`"`, "driver")
	if have == want {
		return c, nil
	}
	c.Lines = []string{`[merge "` + driverName + `"]`, "\tname = memory of agents by its parts", "\tdriver = " + quoteGit(want)}
	c.State = "missing"
	if have != "" {
		c.Detail = "now it is: " + have
	}
	if !o.Write {
		return c, nil
	}
	lock := file + ".lock"
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return c, fmt.Errorf("writing %s: %w (git makes %s while it writes; where no git runs, remove it)", file, project.Reason(err), lock)
	}
	out := string(data)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	_, err = f.WriteString(out + strings.Join(c.Lines, "\n") + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		if info, statErr := os.Stat(file); statErr == nil {
			err = os.Chmod(lock, info.Mode().Perm())
		}
	}
	if err == nil {
		err = atomicfile.Rename(lock, file)
	}
	if err != nil {
		return c, errors.Join(fmt.Errorf("writing %s: %w", file, project.Reason(err)), os.Remove(lock))
	}
	c.State = "written"
	return c, nil
}

func quoteGit(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// ignores asks git whether it ignores a path: its rules come from many files. Nothing that
// the repository configures is run.
func ignores(ctx context.Context, p project.Project, rel string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	git, err := exec.LookPath("git")
	if err != nil {
		return false, errors.New("git is not installed here, and only it knows all rules")
	}
	c := exec.CommandContext(ctx, git, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=", "check-ignore", "-q", "--no-index", rel)
	c.Dir = p.Worktree
	err = c.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return false, nil
	}
	return false, fmt.Errorf("git check-ignore %s: %w", rel, err)
}

// committed tells whether git keeps the snapshots that are there.
func committed(ctx context.Context, p project.Project) []Check {
	dir := filepath.Join(p.Worktree, filepath.FromSlash(SnapshotsDir))
	list, err := os.ReadDir(dir)
	if err != nil {
		return []Check{{What: "snapshots are committed", State: "ok", Detail: "there is none yet"}}
	}
	var out []Check
	for i, d := range list {
		if !d.IsDir() || i >= maxAgents {
			continue
		}
		rel := path.Join(SnapshotsDir, d.Name(), ManifestName)
		c := Check{What: "the snapshot of " + d.Name() + " is committed", State: "ok"}
		tracked, err := project.Tracked(p, filepath.Join(p.Worktree, filepath.FromSlash(rel)))
		switch ignored, ignoreErr := ignores(ctx, p, rel); {
		case err != nil:
			c.State, c.Detail = "unknown", err.Error()
		case tracked:
		case ignoreErr == nil && ignored:
			c.State, c.Detail = "missing", "git ignores it: take the rule out of .gitignore, or add !/"+SnapshotsDir+"/ below it"
		default:
			c.State, c.Detail = "missing", "git add "+path.Join(SnapshotsDir, d.Name())
		}
		out = append(out, c)
	}
	return out
}

// trackedBelow gives a file that git tracks below a folder, "" where there is none.
func trackedBelow(p project.Project, rel string) string {
	found := ""
	n := 0
	stop := errors.New("enough")
	_ = filepath.WalkDir(filepath.Join(p.Worktree, filepath.FromSlash(rel)), func(name string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > 2_000 {
			return stop // what is not there is not tracked
		}
		if d.IsDir() || d.Name() != "MEMORY.md" {
			return nil
		}
		if ok, err := project.Tracked(p, name); err == nil && ok {
			found = name
			return stop
		}
		return nil
	})
	return found
}
