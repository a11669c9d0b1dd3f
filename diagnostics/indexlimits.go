package diagnostics

import "mem/core/memdir"

// IndexRules gives how the readers of the profile load an index, the one that loads
// least first: what it loads whole, the others do too.
func (c *Config) IndexRules() []memdir.Rule {
	seed, client := memdir.SeedRule(), memdir.ClientRule()
	for _, r := range []*memdir.Rule{&seed, &client} {
		r.Lines, r.Size = max(c.Limits.IndexLines, 1), max(c.Limits.IndexSize, 1)
	}
	switch c.Client {
	case SeedClient:
		return []memdir.Rule{seed}
	case ClaudeCode:
		return []memdir.Rule{client}
	}
	return []memdir.Rule{seed, client} // a UTF-16 unit takes a byte at least
}
