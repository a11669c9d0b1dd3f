package memdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mem/core/project"
	"mem/core/settings"
)

// LocateRule names the step of the chain that chose a memory directory, in the
// order in which they are tried (observed on Claude Code 2.1.332).
type LocateRule string

// The rules of Locate.
const (
	RuleFlag      LocateRule = "flag"       // our own --memory-dir
	RuleOverride  LocateRule = "override"   // CLAUDE_COWORK_MEMORY_PATH_OVERRIDE
	RuleSetting   LocateRule = "setting"    // autoMemoryDirectory of trusted settings
	RuleRemote    LocateRule = "remote"     // CLAUDE_CODE_REMOTE_MEMORY_DIR is the base
	RuleConfigDir LocateRule = "config-dir" // CLAUDE_CONFIG_DIR is the base
	RuleDefault   LocateRule = "default"    // ~/.claude is the base

	// The rules of stores other than the project's, which are named and not looked for.
	RuleStore LocateRule = "store" // an agent's, in the place that the client gives it
	RuleExtra LocateRule = "extra" // a folder of our configuration
)

// LocateOptions is what the caller was told.
type LocateOptions struct {
	MemoryDir string // --memory-dir; may be relative to Env.Cwd or start with "~/"
	Project   string // --project
	// Roots are directories that the MCP client named; they come after
	// CLAUDE_PROJECT_DIR and before the working directory.
	Roots []string
	// TrustProjectSettings lets autoMemoryDirectory of project settings count
	// (Config.Memory.TrustProjectSettings).
	TrustProjectSettings bool
	// Store is another memory than the project's, see ParseStore; "" is the project's.
	Store string
	// Extra are the folders that our configuration names (Config.Stores).
	Extra map[string]string
}

// Skipped is a candidate that was not taken.
type Skipped struct {
	Candidate string     `json:"candidate"` // as it was given
	Rule      LocateRule `json:"rule"`
	Source    string     `json:"source"` // flag, variable or file
	Reason    string     `json:"reason"`
}

// Location says where the memory of a project lies and why.
type Location struct {
	Directory string `json:"directory"` // absolute and clean; need not exist
	// Real is Directory with its symlinks resolved as far as it exists: two
	// spellings of one directory have one Real.
	Real     string          `json:"real"`
	Exists   bool            `json:"exists"`
	Rule     LocateRule      `json:"rule"`
	Source   string          `json:"source"`
	Why      string          `json:"why"`
	Project  project.Project `json:"project"`
	Memory   settings.Switch `json:"memory"`
	Dream    settings.Switch `json:"dream"`
	Skipped  []Skipped       `json:"skipped"` // every other candidate, in order
	Warnings []string        `json:"warnings"`
	Client   settings.Client `json:"-"` // the settings that decided

	Store StoreName `json:"-"`
	// Within is the project that a store in a checkout may not leave, "" elsewhere.
	Within string `json:"-"`
	// ReadOnly directories are never written.
	ReadOnly bool `json:"readOnly,omitempty"`
}

// Locate finds the memory directory of a project. It creates and changes
// nothing, and it does not fail because the directory is missing. It fails
// when the project or an explicit --memory-dir cannot be used.
func Locate(env settings.Env, opt LocateOptions) (Location, error) {
	loc := Location{Skipped: []Skipped{}, Warnings: []string{}}
	name, err := ParseStore(opt.Store)
	if err != nil {
		return loc, err
	}
	if opt.MemoryDir != "" && !name.Auto() {
		return loc, errBothNamed
	}
	if loc.Project, err = loc.findProject(env, opt); err != nil {
		return loc, err
	}
	loc.Warnings = append(loc.Warnings, loc.Project.Warnings...)
	loc.Warnings = append(loc.Warnings, env.Planted()...)
	loc.Client = settings.LoadClient(env, loc.Project)
	for _, p := range loc.Client.Problems {
		loc.Warnings = append(loc.Warnings, p.Error())
	}
	loc.Memory, loc.Dream = loc.Client.MemorySwitch(), loc.Client.DreamSwitch()

	if !name.Auto() {
		if err := loc.locateStore(env, name, opt.Extra); err != nil {
			return loc, err
		}
		loc.inspect(env)
		return loc, nil
	}
	candidates := []candidate{}
	if opt.MemoryDir != "" {
		c, err := flagCandidate(env, opt.MemoryDir)
		if err != nil {
			return loc, err
		}
		candidates = append(candidates, c)
	}
	candidates = append(candidates, overrideCandidates(env, loc.Client)...)
	candidates = append(candidates, settingCandidates(env, loc.Client, opt.TrustProjectSettings)...)
	candidates = append(candidates, loc.baseCandidates(env)...)
	if err := loc.choose(candidates); err != nil {
		return loc, err
	}
	loc.inspect(env)
	return loc, nil
}

// findProject takes the first project that was named: --project, then
// CLAUDE_PROJECT_DIR, then the client's roots, then the working directory.
// What a person typed must be right; what a client says is skipped when it is
// not.
func (loc *Location) findProject(env settings.Env, opt LocateOptions) (project.Project, error) {
	if opt.Project != "" {
		return project.Find(opt.Project, env.ProjectOptions())
	}
	named := []struct{ dir, source string }{{env.Getenv("CLAUDE_PROJECT_DIR"), "CLAUDE_PROJECT_DIR"}}
	for _, r := range opt.Roots {
		named = append(named, struct{ dir, source string }{r, "a root of the client"})
	}
	for _, n := range named {
		if n.dir == "" {
			continue
		}
		p, err := project.Find(n.dir, env.ProjectOptions())
		if err == nil {
			return p, nil
		}
		loc.Warnings = append(loc.Warnings, fmt.Sprintf("%s is ignored: %v", n.source, err))
	}
	return project.Find(env.Cwd, env.ProjectOptions())
}

// candidate is a directory that something names.
type candidate struct {
	rule   LocateRule
	source string
	given  string
	dir    string // absolute and clean; "" when refused
	refuse string // why it cannot be taken
	why    string
}

// choose takes the first usable candidate and records all others.
func (loc *Location) choose(candidates []candidate) error {
	for _, c := range candidates {
		reason := c.refuse
		switch {
		case reason == "" && loc.Directory == "":
			loc.Directory, loc.Rule, loc.Source, loc.Why = c.dir, c.rule, c.source, c.why
			continue
		case reason == "":
			reason = "comes after " + loc.Source
		}
		loc.Skipped = append(loc.Skipped, Skipped{Candidate: c.given, Rule: c.rule, Source: c.source, Reason: reason})
	}
	if loc.Directory == "" {
		return errors.New("locating memory: the home directory is unknown and nothing else names a memory directory: set HOME or CLAUDE_CONFIG_DIR, or use --memory-dir")
	}
	return nil
}

func flagCandidate(env settings.Env, given string) (candidate, error) {
	dir, err := project.Absolute(given, env.ProjectOptions())
	if err != nil {
		return candidate{}, fmt.Errorf("--memory-dir: %w", err)
	}
	if dir == filepath.Dir(dir) {
		return candidate{}, fmt.Errorf("--memory-dir %s: the root of a file system cannot be a memory directory: name a directory below it", given)
	}
	return candidate{rule: RuleFlag, source: "--memory-dir", given: given, dir: dir, why: "--memory-dir names it"}, nil
}

func overrideCandidates(env settings.Env, client settings.Client) []candidate {
	var cs []candidate
	for _, v := range client.Environ(settings.EnvOverride) {
		c := candidate{rule: RuleOverride, source: v.Source, given: v.Value, why: settings.EnvOverride + " names it"}
		switch {
		case !v.Trusted:
			c.refuse = refusedEnv(v)
		case strings.HasPrefix(v.Value, "~"):
			c.refuse = `"~" is not expanded here; only an absolute path counts, as for the client`
		default:
			c.dir, c.refuse = absoluteOnly(env.GOOS, v.Value)
		}
		cs = append(cs, c)
	}
	return cs
}

func refusedEnv(v settings.EnvValue) string {
	return v.Reason + ": their env may only switch memory off, never move it"
}

func settingCandidates(env settings.Env, client settings.Client, trustProject bool) []candidate {
	var cs []candidate
	for _, v := range client.Values(settings.KeyDirectory) {
		given, err := v.Text()
		if err != nil {
			continue // cannot be: LoadClient dropped it and said so
		}
		c := candidate{rule: RuleSetting, source: v.Source.Label(), given: given, why: settings.KeyDirectory + " names it"}
		if v.Source.Trusted || trustProject {
			c.dir, c.refuse = settingDir(env, given)
		} else {
			c.refuse = v.Source.Reason + ", and a repository may not move memory; allow it with memory.trust_project_settings in our config.yaml"
		}
		cs = append(cs, c)
	}
	return cs
}

// settingDir resolves autoMemoryDirectory: absolute or "~/…" (observed on Claude Code 2.1.332).
func settingDir(env settings.Env, given string) (dir, refuse string) {
	rest, tilde := strings.CutPrefix(given, "~/")
	if !tilde && env.GOOS == "windows" {
		rest, tilde = strings.CutPrefix(given, `~\`)
	}
	if !tilde {
		return absoluteOnly(env.GOOS, given)
	}
	if env.Home == "" {
		return "", "the home directory is unknown"
	}
	dir = filepath.Join(env.Home, rest)
	if project.SamePath(env.GOOS, dir, env.Home) {
		return "", "it is the home directory itself"
	}
	return absoluteOnly(env.GOOS, dir)
}

// absoluteOnly cleans an absolute path below the root of a file system, and
// says why any other is refused.
func absoluteOnly(goos, p string) (dir, refuse string) {
	switch {
	case p == "":
		return "", "it is empty"
	case strings.ContainsRune(p, 0):
		return "", "it holds a NUL byte"
	case goos == "windows" && (strings.HasPrefix(p, `\\`) || strings.HasPrefix(p, "//")):
		return "", "it is a network path, and asking for it would send credentials"
	case goos == "windows" && !hasDrive(p):
		return "", "it names no drive; only an absolute path counts"
	case goos != "windows" && !strings.HasPrefix(p, "/"):
		return "", "it is relative; only an absolute path counts"
	}
	dir = filepath.Clean(p)
	if dir == filepath.Dir(dir) || goos == "windows" && len(strings.TrimRight(dir, `\/`)) == 2 {
		return "", "it is the root of a file system"
	}
	return dir, ""
}

// hasDrive reports whether p starts like `C:\` or `C:/`.
func hasDrive(p string) bool {
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') &&
		('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
}

// baseCandidates are `<base>/projects/<slug>/memory` for each base that is
// there.
func (loc *Location) baseCandidates(env settings.Env) []candidate {
	var cs []candidate
	add := func(rule LocateRule, source, base string) {
		if !filepath.IsAbs(base) && base != "" {
			if env.Cwd == "" {
				cs = append(cs, candidate{rule: rule, source: source, given: base, refuse: "it is relative and the working directory is unknown"})
				return
			}
			loc.Warnings = append(loc.Warnings, fmt.Sprintf("%s is relative (%s): it means another directory in each working directory; make it absolute", source, base))
			base = filepath.Join(env.Cwd, base)
		}
		dir := memoryBelow(base, loc.Project.Root)
		cs = append(cs, candidate{rule: rule, source: source, given: dir, dir: dir,
			why: fmt.Sprintf("the memory of project %s below %s", loc.Project.Root, filepath.Clean(base))})
	}
	refuse := func(rule LocateRule, v settings.EnvValue, reason string) {
		cs = append(cs, candidate{rule: rule, source: v.Source, given: v.Value, refuse: reason})
	}
	for _, v := range loc.Client.Environ(settings.EnvRemoteDir) {
		if v.Trusted {
			add(RuleRemote, v.Source, v.Value)
		} else {
			refuse(RuleRemote, v, refusedEnv(v))
		}
	}
	for _, v := range loc.Client.Environ(settings.EnvConfigDir) {
		switch {
		case v.Process:
			add(RuleConfigDir, v.Source, v.Value)
		case v.Trusted:
			refuse(RuleConfigDir, v, "settings are found through this variable, so they cannot set it")
		default:
			refuse(RuleConfigDir, v, refusedEnv(v))
		}
	}
	if env.Home != "" {
		add(RuleDefault, "the client's default", filepath.Join(env.Home, ".claude"))
	}
	return cs
}

// memoryBelow is where the client keeps the memory of a root below base.
func memoryBelow(base, root string) string {
	return filepath.Join(base, "projects", project.Slug(root), "memory")
}

// inspect looks at the chosen directory and says what a reader should know.
func (loc *Location) inspect(env settings.Env) {
	loc.Real = resolveExisting(loc.Directory)
	warn := func(format string, args ...any) {
		loc.Warnings = append(loc.Warnings, fmt.Sprintf(format, args...))
	}
	fi, err := os.Stat(loc.Directory)
	switch {
	case err == nil && fi.IsDir():
		loc.Exists = true
	case err == nil:
		warn("%s is not a directory: move that file away, or choose another place with --memory-dir", loc.Directory)
	case !errors.Is(err, fs.ErrNotExist):
		warn("%s cannot be reached: %v: mend that, or choose another place with --memory-dir", loc.Directory, project.Reason(err))
	}
	if env.Home != "" && loc.Real == resolveExisting(env.Home) {
		warn("the memory directory is the home directory (%s): its Markdown files would be topics; choose a directory of its own", loc.Directory)
	}
	loc.reportSplit()
}

// reportSplit names memory that other rules of the same base would have
// used: a subdirectory's or a worktree's own, left by a client that did not
// look for the git root.
func (loc *Location) reportSplit() {
	if loc.Rule != RuleRemote && loc.Rule != RuleConfigDir && loc.Rule != RuleDefault {
		return
	}
	base := filepath.Dir(filepath.Dir(filepath.Dir(loc.Directory)))
	seen := map[string]bool{loc.Directory: true}
	for _, dir := range []string{loc.Project.Dir, loc.Project.Worktree} {
		other := memoryBelow(base, dir)
		if dir == "" || seen[other] {
			continue
		}
		seen[other] = true
		if fi, err := os.Stat(other); err == nil && fi.IsDir() && resolveExisting(other) != loc.Real {
			loc.Warnings = append(loc.Warnings, fmt.Sprintf("there is also a memory directory for %s alone: %s; it is not used, since all directories and worktrees of %s share one: move what is worth keeping",
				dir, other, loc.Project.Root))
		}
	}
}

// resolveExisting resolves the symlinks of the part of p that exists and
// keeps the rest.
func resolveExisting(p string) string {
	rest := ""
	for dir := p; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return p
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
