package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mem/core/atomicfile"
	"mem/core/memdir"
	"mem/core/project"
	"mem/core/settings"
)

// needed are the flags without which claude is not confined, or what it does cannot be
// followed. All are in its help.
var needed = []string{
	"--print", "--restricted", "--tools", "--permission-mode", "--permission-prompts", "--strict-mcp-config",
	"--no-session-persistence", "--disable-slash-commands", "--setting-sources", "--settings", "--system-prompt",
	"--output-format", "--verbose", "--model", "--max-budget-usd",
}

// welcome are flags that are given where they are known.
var welcome = []string{"--safe-mode", "--no-chrome"}

const (
	probeVersion = 1
	// probeWait is how long the program may take to say what it can do. It takes 0.3 s.
	probeWait = 20 * time.Second
	// maxHelp bounds what it says, in bytes; the help has 20 KB.
	maxHelp = 1 << 20
)

// probe is what a program can do. It is kept in the cache directory and holds as long as
// the program is the same file.
type probe struct {
	V       int       `json:"v"`
	Path    string    `json:"path"`
	Size    int64     `json:"size"`
	Time    time.Time `json:"mtime"`
	Needed  []string  `json:"needed"` // that were looked for
	Version string    `json:"version"`
	Missing []string  `json:"missing,omitempty"`
	Welcome []string  `json:"welcome,omitempty"`
}

// look asks a program for its version and its flags, or remembers what it said.
func look(path string, env settings.Env) (*probe, error) {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	p := &probe{V: probeVersion, Path: file, Size: st.Size(), Time: st.ModTime().UTC(), Needed: needed}
	cache := cacheFile(env, path)
	if kept := recall(cache, p); kept != nil {
		return kept, nil
	}
	version, err := ask(env, path, "--version")
	if err != nil {
		return nil, err
	}
	help, err := ask(env, path, "--help")
	if err != nil {
		return nil, err
	}
	p.Version = memdir.Shown(firstLine(version), 80)
	if !strings.Contains(version, "Claude Code") {
		return nil, fmt.Errorf("it calls itself %q, not Claude Code", p.Version)
	}
	for _, f := range needed {
		if !hasFlag(help, f) {
			p.Missing = append(p.Missing, f)
		}
	}
	for _, f := range welcome {
		if hasFlag(help, f) {
			p.Welcome = append(p.Welcome, f)
		}
	}
	keep(cache, p)
	return p, nil
}

// maxIndent is how far an option of a help text is indented at most; what stands further
// in describes one.
const maxIndent = 6

// hasFlag looks for a flag in a help text, at the begin of a line or after its other forms.
func hasFlag(help, flag string) bool {
	for line := range strings.Lines(help) {
		words := strings.Fields(strings.ReplaceAll(line, ",", " "))
		if len(line)-len(strings.TrimLeft(line, " ")) > maxIndent {
			continue
		}
		for _, word := range words {
			if !strings.HasPrefix(word, "-") {
				break
			}
			if word == flag {
				return true
			}
		}
	}
	return false
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// ask runs the program with one flag, in no project and with nothing of ours around it.
func ask(env settings.Env, path, flag string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), probeWait, fmt.Errorf("it did not answer %s within %s", flag, probeWait))
	defer cancel()
	dir, err := os.MkdirTemp("", "mem-probe-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var out bytes.Buffer
	p := process{path: path, args: []string{flag}, dir: dir, env: reduced(env, nil)}
	said, err := p.run(ctx, nil, func(line []byte) bool {
		if out.Len() < maxHelp {
			out.Write(line)
			out.WriteByte('\n')
		}
		return true
	})
	if err != nil {
		if said != "" {
			return "", fmt.Errorf("%w: %s", err, memdir.Shown(said, 300))
		}
		return "", err
	}
	return out.String(), nil
}

func cacheFile(env settings.Env, path string) string {
	if env.CacheDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(env.CacheDir, "commands", hex.EncodeToString(sum[:8])+".json")
}

// recall gives what is known of the very same program.
func recall(file string, now *probe) *probe {
	if file == "" {
		return nil
	}
	b, err := project.ReadFile(file, maxHelp)
	if err != nil {
		return nil
	}
	var p probe
	if json.Unmarshal(b, &p) != nil || p.V != now.V || p.Path != now.Path || p.Size != now.Size || !p.Time.Equal(now.Time) || strings.Join(p.Needed, " ") != strings.Join(now.Needed, " ") {
		return nil
	}
	return &p
}

// keep stores a probe. It is a cache: where it cannot be written, the next one asks anew.
func keep(file string, p *probe) {
	b, err := json.Marshal(p)
	if file == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	_ = atomicfile.Write(file, b, 0o600, atomicfile.Quick)
}
