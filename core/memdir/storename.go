package memdir

import (
	"fmt"
	"path/filepath"
	"strings"

	"mem/core/memfile"
)

// Scope is whose an agent's memory is.
type Scope string

// The scopes of agents' memory, as clients have them.
const (
	ScopeUser    Scope = "user"    // one for all projects of this person
	ScopeProject Scope = "project" // in the checkout, for whoever works on the project
	ScopeLocal   Scope = "local"   // in the checkout, for this person alone
)

// Scopes lists the scopes.
func Scopes() []Scope { return []Scope{ScopeProject, ScopeLocal, ScopeUser} }

// Folder is where memory of this scope lies below the client's folder (.claude).
func (s Scope) Folder() string {
	if s == ScopeLocal {
		return string(PlaceLocal)
	}
	return string(PlaceAgent)
}

// StoreAuto names the memory directory of the project.
const StoreAuto = "auto"

// maxAgent bounds an agent's name, in bytes: the longest path element that all file
// systems hold has 255, and a name ends up in paths of state and in results.
const maxAgent = 100

// StoreName says which memory directory is meant. The zero value is the project's.
type StoreName struct {
	Agent string // as its folder is called
	Scope Scope
	Extra string // a folder of our configuration, which is only read
}

// ParseStore reads the name of a store: "auto" (or nothing), "agent/<name>/<scope>"
// or "extra/<name>". The agent's name becomes that of its folder.
func ParseStore(s string) (StoreName, error) {
	bad := func(why string) error {
		return fmt.Errorf(`%q is no name of a store: %s. Give "auto" for the project's memory, "agent/<name>/project", "agent/<name>/local" or "agent/<name>/user" for an agent's, or "extra/<name>" for a folder of the configuration; memory_stores lists those that there are`, cutMark(Shown(s, MaxShown), MaxShown), why)
	}
	if s == "" || s == StoreAuto {
		return StoreName{}, nil
	}
	parts := strings.Split(s, "/")
	switch {
	case parts[0] == "extra" && len(parts) == 2 && parts[1] != "":
		return StoreName{Extra: parts[1]}, nil
	case parts[0] != "agent":
		return StoreName{}, bad("it begins with none of the known kinds")
	case len(parts) != 3:
		return StoreName{}, bad("it does not have three parts")
	}
	n := StoreName{Scope: Scope(parts[2])}
	switch n.Scope {
	case ScopeUser, ScopeProject, ScopeLocal:
	default:
		return StoreName{}, bad(fmt.Sprintf("%q is no scope", cutMark(Shown(parts[2], MaxShown), MaxShown)))
	}
	var why string
	if n.Agent, why = agentFolder(parts[1]); why != "" {
		return StoreName{}, bad("of the agent's name, " + why)
	}
	return n, nil
}

// agentFolder gives the folder of an agent's memory: dots become dashes, as the client
// does it (observed on Claude Code 2.1.332), and so do colons, which stand in the name of
// a plugin's agent and which no file name of Windows holds. What could leave the folder,
// or would be another file's or none on some system, is refused.
func agentFolder(name string) (folder, why string) {
	switch {
	case strings.TrimSpace(name) == "":
		return "", "it is empty"
	case strings.HasPrefix(name, "."), strings.Contains(name, ".."):
		return "", `it starts with a dot or holds ".."`
	case len(name) > maxAgent:
		return "", fmt.Sprintf("it is longer than %d bytes", maxAgent)
	case strings.ContainsAny(name, `/\`):
		return "", "it holds a slash"
	case strings.HasPrefix(name, "~"):
		return "", `"~" is not a home directory here`
	case memfile.IsMarkdown(name):
		return "", "it ends like a memory file"
	}
	// Looked at before dots become dashes, too: they may hide a device or an escape.
	for _, el := range []string{strings.ReplaceAll(name, ":", "-"), strings.NewReplacer(".", "-", ":", "-").Replace(name)} {
		if why := badElement(el); why != "" {
			return "", why
		}
		folder = el
	}
	if len(folder) != len(strings.ToValidUTF8(folder, "")) {
		return "", "it is not valid UTF-8"
	}
	return folder, ""
}

// AgentFolder gives the name of the folder that a client keeps an agent's memory in.
func AgentFolder(agent string) (string, error) {
	folder, why := agentFolder(agent)
	if why != "" {
		return "", fmt.Errorf("%q is no name of an agent that has a memory: %s", cutMark(Shown(agent, MaxShown), MaxShown), why)
	}
	return folder, nil
}

// Auto reports whether the project's own memory is meant.
func (n StoreName) Auto() bool { return n == StoreName{} }

func (n StoreName) String() string {
	switch {
	case n.Extra != "":
		return "extra/" + n.Extra
	case n.Agent != "":
		return "agent/" + n.Agent + "/" + string(n.Scope)
	}
	return StoreAuto
}

// Below gives the store's directory below a client's folder: the user's own one, or
// .claude in a project.
func (n StoreName) Below(clientDir string) string {
	return filepath.Join(clientDir, n.Scope.Folder(), n.Agent)
}
