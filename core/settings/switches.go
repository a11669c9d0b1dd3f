package settings

import "fmt"

// Switch says whether something is on, and why.
type Switch struct {
	On     bool   `json:"on"`
	Why    string `json:"why"`
	Source string `json:"source,omitempty"` // file or variable; "" for the default
}

// Environment variables of the client that decide on memory and its place
// (observed on Claude Code 2.1.332).
const (
	EnvDisable   = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
	EnvSimple    = "CLAUDE_CODE_SIMPLE"
	EnvRemote    = "CLAUDE_CODE_REMOTE"
	EnvRemoteDir = "CLAUDE_CODE_REMOTE_MEMORY_DIR"
	EnvOverride  = "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"
	EnvConfigDir = "CLAUDE_CONFIG_DIR"
)

// MemorySwitch says whether automatic memory is on. Anybody may switch it
// off; a source that is not trusted can never switch it on.
func (c Client) MemorySwitch() Switch {
	var keep *EnvValue // what says "on" explicitly
	for _, v := range c.Environ(EnvDisable) {
		disable, enable := truth(v.Value)
		// Among trusted settings the first one decides. A person who sets the
		// variable for this process and a repository may always switch off.
		if disable && (keep == nil || v.Process || !v.Trusted) {
			return Switch{Why: fmt.Sprintf("%s=%s turns memory off", EnvDisable, v.Value), Source: v.Source}
		}
		if enable && v.Trusted && keep == nil {
			keep = &v
		}
	}
	if v, ok := c.anyOn(EnvSimple); ok {
		return Switch{Why: fmt.Sprintf("%s=%s: the client runs without memory", EnvSimple, v.Value), Source: v.Source}
	}
	if v, ok := c.anyOn(EnvRemote); ok && c.Trusted(EnvRemoteDir) == nil {
		return Switch{Why: fmt.Sprintf("%s=%s without %s: nothing written here would last", EnvRemote, v.Value, EnvRemoteDir), Source: v.Source}
	}
	if keep != nil {
		return Switch{On: true, Why: fmt.Sprintf("%s=%s keeps memory on", EnvDisable, keep.Value), Source: keep.Source}
	}
	return c.keySwitch(KeyEnabled)
}

// DreamSwitch says whether automatic consolidation may run: it needs memory
// to be on and nobody to have said `autoDreamEnabled: false`.
func (c Client) DreamSwitch() Switch {
	if m := c.MemorySwitch(); !m.On {
		return Switch{Why: "memory is off: " + m.Why, Source: m.Source}
	}
	return c.keySwitch(KeyDream)
}

// RemoteSwitch is on where the client runs on a machine that does not last, whether or
// not memory does.
func (c Client) RemoteSwitch() Switch {
	if v, ok := c.anyOn(EnvRemote); ok {
		return Switch{On: true, Why: fmt.Sprintf("%s=%s", EnvRemote, v.Value), Source: v.Source}
	}
	return Switch{Why: EnvRemote + " is not set"}
}

// anyOn returns the first place that switches a variable on, trusted or not.
func (c Client) anyOn(name string) (EnvValue, bool) {
	for _, v := range c.Environ(name) {
		if on, _ := truth(v.Value); on {
			return v, true
		}
	}
	return EnvValue{}, false
}

// keySwitch reads a boolean key that is on by default. The trusted source of
// highest precedence decides; a source that is not trusted may only say false.
func (c Client) keySwitch(key string) Switch {
	decided := Switch{On: true, Why: "nothing turns it off"}
	found := false
	for _, v := range c.Values(key) {
		on, err := v.Bool()
		if err != nil {
			continue // cannot be: LoadClient dropped it and said so
		}
		s := Switch{On: on, Why: fmt.Sprintf("%s is %t", key, on), Source: v.Source.Label()}
		switch {
		case !v.Source.Trusted && !on:
			return s
		case v.Source.Trusted && !found:
			decided, found = s, true
		}
	}
	return decided
}
