package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/fork"
)

// personal are the commands that change something, as they are typed. What runs inside of
// a forked agent may not: its work reaches memory by its stage alone, and nothing that waits
// for a person is decided by it.
var personal = map[string]bool{
	"": true, "serve": true, // an agent could do all of this over MCP
	"write": true, "delete": true, "undo": true, "purge": true, "adopt": true, "stores merge": true, "sessions archive": true,
	"proposals apply": true, "proposals discard": true, "engine use": true, "engine test": true, "hooks install": true, "hooks remove": true,
	"snapshot pull": true, "snapshot publish": true, "snapshot setup": true, "extract": true, "summary": true, "dream": true, "dream cancel": true, "jobs cancel": true,
}

// refuseInside says why a command does not run, nil where it does.
func (a *app) refuseInside(c *cobra.Command) error {
	_, words, _ := strings.Cut(c.CommandPath(), " ")
	if !fork.Inside(a.env) || !personal[words] {
		return nil
	}
	return fmt.Errorf("%s is set: this runs inside of a forked agent, which changes nothing but its copy of the memory", fork.EnvInside)
}
