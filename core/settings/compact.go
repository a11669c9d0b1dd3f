package settings

import (
	"fmt"
	"path/filepath"

	"mem/core/project"
)

// KeyCompact is the client's setting for auto-compaction; older clients have it in
// `.claude.json` instead of their settings (observed on Claude Code 2.1.332).
const KeyCompact = "autoCompactEnabled"

// Variables of the client that switch auto-compaction off.
const (
	EnvNoAutoCompact = "DISABLE_AUTO_COMPACT"
	EnvNoCompact     = "DISABLE_COMPACT"
)

// CompactSwitch says whether the client compacts conversations by itself. Session
// memory is written for that: where it is off, nobody reads it.
func (c Client) CompactSwitch(env Env) Switch {
	for _, name := range []string{EnvNoCompact, EnvNoAutoCompact} {
		if v, ok := c.anyOn(name); ok {
			return Switch{Why: fmt.Sprintf("%s=%s turns auto-compaction off", name, v.Value), Source: v.Source}
		}
	}
	if len(c.Values(KeyCompact)) > 0 {
		return c.keySwitch(KeyCompact)
	}
	if path := env.clientState(); path != "" {
		if data, err := project.ReadFile(path, MaxClientFile); err == nil {
			if keys, err := parseClient(data); err == nil && keys[KeyCompact] != nil {
				if on, err := (Value{raw: keys[KeyCompact]}).Bool(); err == nil {
					return Switch{On: on, Why: fmt.Sprintf("%s is %t", KeyCompact, on), Source: path}
				}
			}
		}
	}
	return Switch{On: true, Why: "nothing turns it off"}
}

// clientState is the file in which the client keeps what it notes itself.
func (e Env) clientState() string {
	const name = ".claude.json"
	if e.Getenv(EnvConfigDir) != "" {
		if dir := e.ClientDir(); dir != "" {
			return filepath.Join(dir, name)
		}
		return ""
	}
	if e.Home == "" {
		return ""
	}
	return filepath.Join(e.Home, name)
}
