package hook

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/settings"
)

// Client is a program whose hooks call mem. docs/hooks.md says where each of these facts
// was found.
type Client struct {
	Name  string // as the command line takes it
	Title string // for people
	// Events maps the client's names.
	Events map[string]Event
	// Install are the client's names of the events that an installation asks for.
	Install []string
	// Reads says that transcripts of this client are ones that mem reads. Of the others
	// turns are recorded, where a payload tells them.
	Reads bool
	// Loads says that the client loads the memory directory by itself.
	Loads bool
	// JSON says that it takes context only as JSON, not as text.
	JSON bool
	// Compacts says that what is printed before a compaction joins the instructions of
	// who summarises.
	Compacts bool
	// Submitted says that what a person typed is in submitted_prompt: its prompt may be
	// another text.
	Submitted bool
	// wrap is the element in which it puts what hooks said before and behind a prompt, with
	// "<" and ">" of the text escaped; its payloads have it with the prompt.
	wrap string
	// Together says that the end of a turn tells the prompt and the answer.
	Together bool
	// How many of its timeouts' units make a second; 0 gives no timeout, where versions differ.
	timeoutUnit float64
	file        func(env settings.Env) string
	projectFile string // below the root of a project
	note        string // what else a person has to do
	switches    []hooksOff
}

// hooksOff is a setting of a client, by its path, and the value with which no hook runs.
type hooksOff struct{ key, off string }

// claudeEvents are the names that Claude Code gave and others took over.
var claudeEvents = map[string]Event{
	"SessionStart": SessionStart, "UserPromptSubmit": Prompt, "PostToolUse": Tools, "PostToolBatch": Tools,
	"Stop": Stop, "SubagentStop": SubagentStop, "PreCompact": PreCompact, "SessionEnd": SessionEnd,
}

// Clients are those whose hooks mem knows, the first being the one that is meant where
// none is named.
var Clients = []Client{
	{
		Name: "claude-code", Title: "Claude Code", Events: claudeEvents,
		Install: []string{"SessionStart", "UserPromptSubmit", "PostToolBatch", "Stop", "PreCompact", "SessionEnd"},
		Reads:   true, Loads: true, Compacts: true, timeoutUnit: 1,
		file:        func(env settings.Env) string { return below(env.ClientDir(), "settings.json") },
		projectFile: ".claude/settings.local.json",
		switches:    []hooksOff{{"disableAllHooks", "true"}},
	},
	{
		Name: "codex", Title: "Codex CLI", Events: claudeEvents,
		Install: []string{"SessionStart", "UserPromptSubmit", "Stop"},
		JSON:    true, timeoutUnit: 1,
		file: func(env settings.Env) string {
			if dir := env.Getenv("CODEX_HOME"); dir != "" {
				return below(dir, "hooks.json")
			}
			return below(env.Home, ".codex", "hooks.json")
		},
		projectFile: ".codex/hooks.json",
		note:        "Codex runs hooks only after you looked at them and trust them (/hooks); older versions need `codex_hooks = true` below [features] in config.toml.",
	},
	{
		Name: "gemini-cli", Title: "Gemini CLI",
		Events: map[string]Event{
			"SessionStart": SessionStart, "BeforeAgent": Prompt, "AfterTool": Tools, "AfterAgent": Stop,
			"PreCompress": PreCompact, "SessionEnd": SessionEnd,
		},
		Install: []string{"SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"},
		JSON:    true, Together: true, wrap: "hook_context", timeoutUnit: 1000,
		file:        func(env settings.Env) string { return below(env.Home, ".gemini", "settings.json") },
		projectFile: ".gemini/settings.json",
		switches:    []hooksOff{{"hooksConfig.enabled", "false"}, {"hooks.enabled", "false"}, {"tools.enableHooks", "false"}},
	},
	{
		Name: "qwen-code", Title: "Qwen Code", Events: claudeEvents,
		Install: []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"},
		JSON:    true, Submitted: true,
		file:        func(env settings.Env) string { return below(env.Home, ".qwen", "settings.json") },
		projectFile: ".qwen/settings.json",
		switches:    []hooksOff{{"disableAllHooks", "true"}},
	},
}

// Unsupported are clients that have hooks or the like and why mem does not use them.
var Unsupported = map[string]string{
	"cursor":      "which fields its payloads have could not be verified in its documentation",
	"windsurf":    "which fields its payloads have could not be verified in its documentation",
	"copilot-cli": "its hooks take no context and do not tell the answer, and mem does not read its transcripts",
	"opencode":    "it has plugins in JavaScript, no hooks that run a program",
	"vscode":      "where it keeps hooks of a user could not be verified in its documentation",
}

func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// ClientNames are the names of all clients.
func ClientNames() []string {
	var names []string
	for _, c := range Clients {
		names = append(names, c.Name)
	}
	return names
}

// ClientNamed gives a client; "" is the first.
func ClientNamed(name string) (Client, error) {
	if name == "" {
		return Clients[0], nil
	}
	if i := slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name }); i >= 0 {
		return Clients[i], nil
	}
	known := strings.Join(ClientNames(), ", ")
	if why := Unsupported[name]; why != "" {
		return Client{}, fmt.Errorf("%s is not supported: %s. Those that are: %s", name, why, known)
	}
	return Client{}, fmt.Errorf("there is no client %q; those that are known: %s", name, known)
}

// Output is what a client reads when text shall reach its model at an event, nil where
// nothing may be said. On the end of a turn that is always so: it would make the agent
// take another one.
func (c Client) Output(e Event, name, text string) []byte {
	switch e {
	case SessionStart, Prompt:
	case PreCompact:
		if !c.Compacts {
			return nil
		}
	default:
		return nil
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if !c.JSON {
		return []byte(strings.TrimRight(text, "\n") + "\n")
	}
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	b, err := json.Marshal(map[string]specific{"hookSpecificOutput": {name, text}})
	if err != nil {
		return nil // cannot be: two strings
	}
	return append(b, '\n')
}

// File is where the client keeps the settings of its user, "" when that is not known.
func (c Client) File(env settings.Env) string { return c.file(env) }

// ProjectFile is the settings file for one project, below its root, with slashes.
func (c Client) ProjectFile() string { return c.projectFile }

// Note is what else a person has to do for the hooks to run; "" is nothing.
func (c Client) Note() string { return c.note }
