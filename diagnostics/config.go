package diagnostics

import (
	"slices"

	"mem/core/memdir"
	"mem/core/text"
)

// Config is what .mem.yaml decides: diagnostics only, and never less than the
// safety rules say. It is not changed once it is made.
type Config struct {
	// Severities replaces the severity of rules, by their ID.
	Severities map[string]Severity
	Limits     Limits
	Client     Client
	// Problems are what is wrong with the configuration itself; the rule
	// "configuration" reports them.
	Problems []ConfigProblem
}

// ConfigProblem is one thing in a configuration that cannot be obeyed.
type ConfigProblem struct {
	Path    string // of the file: ".mem.yaml" in the memory directory, absolute elsewhere
	Span    text.Span
	Message string
	Text    *text.Text
}

// WithProblem gives the same configuration with one thing more that is wrong.
func (c *Config) WithProblem(p ConfigProblem) *Config {
	with := *c
	with.Problems = append(slices.Clone(c.Problems), p)
	return &with
}

// Limits are the numbers that rules go by.
type Limits struct {
	IndexLines        int // lines of the index that are loaded
	IndexSize         int // bytes, and UTF-16 units, of the index that are loaded
	NearPercent       int // of a limit, from which index-near-limit speaks
	EntryLength       int // characters of an entry's line
	ScanLines         int // lines of a topic that a scan reads
	Topics            int // topics that a scan lists
	DescriptionLength int // characters
	StaleDays         int // after which an untouched project topic is stale
	ReferenceBytes    int // bytes of a reference topic's body
}

// Client is whose limits hold for the index.
type Client string

// The client profiles.
const (
	// AnyClient takes what any known reader drops: certain loss is an error, loss
	// for some readers a warning.
	AnyClient Client = "any"
	// ClaudeCode counts UTF-16 units.
	ClaudeCode Client = "claude-code"
	// SeedClient counts bytes.
	SeedClient Client = "seed"
)

// DefaultConfig gives what holds without a configuration.
func DefaultConfig() *Config {
	return &Config{Client: AnyClient, Limits: Limits{
		IndexLines:        memdir.MaxIndexLines,
		IndexSize:         memdir.MaxIndexSize,
		NearPercent:       70, // the client's own generator stays below 140 of 200 lines and 17,500 of 25,000 characters
		EntryLength:       memdir.EntryLength,
		ScanLines:         memdir.MaxScanLines,
		Topics:            memdir.MaxScanTopics,
		DescriptionLength: 200, // ours: one line that a reader judges at a glance
		StaleDays:         90,  // ours
		ReferenceBytes:    1 << 10,
	}}
}

// severity gives what a rule's finding counts as. The configuration replaces the
// rule's own severity; a finding that a rule reports as less than that keeps the
// distance. A safety rule is only ever made stricter.
func (c *Config) severity(r *Rule, s Severity) Severity {
	set, ok := c.Severities[r.ID]
	if !ok {
		return s
	}
	if r.Safety {
		return max(s, set)
	}
	if set == Off {
		return Off
	}
	return min(max(set-(r.Severity-s), Hint), Error)
}
