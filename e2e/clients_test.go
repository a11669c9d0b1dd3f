package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/change"
	corememory "mem/core/memory"
	"mem/core/proposal"
	"mem/core/settings"
	"mem/internal/need"
)

// The real clients, by their names in clients/connect.mjs, and what each of
// them does, one script in clients for each concern.
var (
	realClients = []string{"v1", "v2-legacy", "v2-auto", "v2-modern"}
	concerns    = []string{"handshake", "workflow", "resources", "consent", "proposals", "roots", "limits"}
)

const modules = "clients/node_modules"

func TestClients(t *testing.T) {
	needModule(t, "@modelcontextprotocol/sdk")
	needModule(t, "@modelcontextprotocol/client")
	for _, client := range realClients {
		for _, concern := range concerns {
			t.Run(client+"/"+concern, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				if concern == "proposals" {
					p.propose(t, "whole", "parts", "refused")
				}
				runScript(t, p, concern, client)
			})
		}
	}
}

// propose leaves proposals, as a job does under review: each adds two topics that are named
// after it.
func (p *place) propose(t *testing.T, titles ...string) {
	t.Helper()
	m, err := corememory.Open(corememory.Options{MemoryDir: p.memory(t), Env: settings.Env{
		Lookup: func(string) (string, bool) { return "", false }, Home: p.root, Cwd: p.project,
		ConfigDir: filepath.Join(p.root, "config", "mem"), StateDir: filepath.Join(p.state(), "mem"), CacheDir: filepath.Join(p.root, "cache", "mem"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, title := range titles {
		var c change.Change
		for _, n := range []string{"one", "two"} {
			name := title + "-" + n
			c.Files = append(c.Files, change.File{Path: name + ".md", Kind: change.Create, New: "---\nname: " + name + "\ndescription: about " + name + "\ntype: project\n---\n\ntext\n"})
		}
		s, err := proposal.Of(m).Settle(t.Context(), proposal.Submission{Kind: title, Title: title, Policy: proposal.Review, Units: proposal.Split(c)})
		if err != nil || s.Proposal == nil {
			t.Fatal(s, err)
		}
	}
}

// runScript makes a subtest of each check that a script reports.
func runScript(t *testing.T, p *place, script, client string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	path, err := filepath.Abs(filepath.Join("clients", script+".mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "node", path, client, binary)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.project, p.env, time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	done := false
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var c struct {
			Name, Error string
			Done        bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Errorf("%s wrote %q: %v", script, lines.Text(), err)
			continue
		}
		if done = done || c.Done; c.Done {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if c.Error != "" {
				t.Error(c.Error)
			}
		})
	}
	if err != nil || !done {
		t.Errorf("%s did not come to its end: %v\n%s", script, err, stderr.String())
	}
	if t.Failed() || stderr.Len() > 0 {
		t.Logf("stderr: %s", stderr.String())
	}
	p.noTempFiles(t)
}

func TestInspector(t *testing.T) {
	needModule(t, "@modelcontextprotocol/inspector")
	node, err := newNode()
	need.That(t, "Node 22.19 or newer", err)
	launcher, err := filepath.Abs(modules + "/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	inspect := func(t *testing.T, into any, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		// It hands the server a few variables only; HOME is among them.
		cmd := exec.CommandContext(ctx, node, append([]string{launcher, "--cli", binary}, args...)...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = p.project, p.env, time.Second
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, into)
		}
		if err != nil {
			t.Fatalf("inspector %v: %v\n%s%s", args, err, out, stderr.String())
		}
	}
	t.Run("tools/list --strict", func(t *testing.T) {
		var l struct{ Tools []struct{ Name string } }
		if inspect(t, &l, "--method", "tools/list", "--strict"); len(l.Tools) != 36 {
			t.Errorf("%d tools", len(l.Tools))
		}
	})
	t.Run("tools/call", func(t *testing.T) {
		var r struct {
			StructuredContent written
			IsError           bool
		}
		inspect(t, &r, "--method", "tools/call", "--tool-name", "memory_write",
			"--tool-arg", "name=inspected", "--tool-arg", "description=A memory", "--tool-arg", "type=user", "--tool-arg", "body=By the Inspector.")
		if r.IsError || !r.StructuredContent.Created {
			t.Fatalf("%+v", r)
		}
		b, err := os.ReadFile(filepath.Join(r.StructuredContent.Directory, r.StructuredContent.Path))
		if err != nil || !strings.Contains(string(b), "By the Inspector.") {
			t.Errorf("%s %v", b, err)
		}
	})
	t.Run("resources/read", func(t *testing.T) {
		var r struct{ Contents []struct{ Text string } }
		inspect(t, &r, "--method", "resources/read", "--uri", "memory://auto/index")
		if len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, "(inspected.md)") {
			t.Errorf("%+v", r)
		}
	})
}

// needModule needs Node and an installed package.
func needModule(t *testing.T, name string) {
	t.Helper()
	_, err := exec.LookPath("node")
	need.That(t, "node", err)
	_, err = os.Stat(filepath.Join(modules, name, "package.json"))
	if err != nil {
		err = fmt.Errorf("it is not installed; run scripts/node-clients.sh")
	}
	need.That(t, "the npm package "+name, err)
}

// newNode finds a Node that runs the Inspector: the one that npm installed, or
// the machine's.
func newNode() (string, error) {
	if found, _ := filepath.Glob(modules + "/node-*/bin/node"); len(found) > 0 {
		return filepath.Abs(found[0])
	}
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "", err
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "v%d.%d.", &major, &minor); err != nil || major < 22 || major == 22 && minor < 19 {
		return "", fmt.Errorf("this is %s", bytes.TrimSpace(out))
	}
	return "node", nil
}
