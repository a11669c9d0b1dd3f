package settings

import (
	"fmt"
	"strings"
	"time"
)

// Config is our own configuration. Its fields are documented in Keys, the one
// table that parsing, the schema, the example and `mem-mcp config` share.
type Config struct {
	Memory  MemoryConfig
	Limits  LimitsConfig
	Lock    LockConfig
	Journal JournalConfig
	Bases   BasesConfig
	Guard   GuardConfig

	Engine  string
	Engines EnginesConfig
	Jobs    JobsConfig
	Budgets BudgetsConfig
	Hooks   HooksConfig

	// Stores are folders of Markdown that are searched and read beside memory, by
	// the name under which they are addressed; absolute or from "~/".
	Stores map[string]string

	sources map[string]string // key → where its value comes from
}

// MemoryConfig decides where memory lies and how it is written.
type MemoryConfig struct {
	TrustProjectSettings bool
	DailyLog             bool
}

// LimitsConfig bounds what is loaded.
type LimitsConfig struct {
	IndexLines  int
	IndexBytes  int64
	EntryLength int // characters
	ScanTopics  int
	ScanLines   int
	TopicBytes  int64
}

// LockConfig is about waiting for other writers.
type LockConfig struct{ Wait time.Duration }

// JournalConfig decides how long replaced text is kept.
type JournalConfig struct {
	MaxAge  time.Duration
	MaxSize int64 // bytes
}

// BasesConfig bounds the texts kept as merge bases.
type BasesConfig struct {
	MaxCount int
	MaxSize  int64 // bytes
}

// GuardConfig is about what may not be written.
type GuardConfig struct {
	Secrets string
	Allow   []string // SHA-256, lower-case hex
}

// JobsConfig holds the settings of the background jobs.
type JobsConfig struct {
	// ReadProject lets jobs read the files of the project.
	ReadProject   bool
	Extract       ExtractConfig
	SessionMemory SessionMemoryConfig
	Dream         DreamConfig
}

// ExtractConfig is the job that learns from a finished turn.
type ExtractConfig struct {
	Enabled              bool
	EveryTurns, MaxTurns int
	Policy               string
}

// SessionMemoryConfig is the job that keeps a session's summary.
type SessionMemoryConfig struct {
	Enabled                               bool
	FirstTokens, EveryTokens              int
	ToolCalls, SectionTokens, TotalTokens int
}

// DreamConfig is the job that consolidates a memory directory.
type DreamConfig struct {
	Enabled               bool
	MinHours, MinSessions int
	Policy                string
}

// HooksConfig is about what happens at a client's events.
type HooksConfig struct {
	PromptMemories int  // that are shown with a prompt
	RecordTurns    bool // of clients whose transcripts are not read
}

// BudgetsConfig bounds what jobs may spend; 0 is no limit.
type BudgetsConfig struct {
	Day, Job Budget
	JobTime  time.Duration // of one run; 0 is what each kind of job has by itself
}

// Budget is one limit on each thing that can be spent.
type Budget struct {
	Tokens int64
	Runs   int
	Cost   float64 // US dollars
}

// Key is one setting: the name, the type, and everything that is said of it.
type Key struct {
	Path    string   // "limits.index_lines"
	Type    string   // boolean, integer, number, size, duration, choice, hashes, text, folders
	Unit    string   // "" when the type says it
	Doc     string   // what it decides; the source of a number
	Allowed []string // of a choice
	Min     int64    // of integer, number, size (bytes) and duration (nanoseconds)
	Max     int64    // 0 is none
	Default string   // as it is written in the file

	// FileOnly keys are rules of safety: only the file and the command line
	// may set them, since a repository can suggest variables to a client.
	FileOnly bool

	field func(*Config) any
}

// Types of a Key.
const (
	TypeBool     = "boolean"
	TypeInt      = "integer"
	TypeNumber   = "number"
	TypeSize     = "size"
	TypeDuration = "duration"
	TypeChoice   = "choice"
	TypeHashes   = "hashes"
	TypeText     = "text"
	TypeFolders  = "folders"
)

// EnvName is the variable that overrides the key; "" for FileOnly keys.
func (k Key) EnvName() string {
	if k.FileOnly {
		return ""
	}
	return "MEM_" + strings.ToUpper(strings.ReplaceAll(k.Path, ".", "_"))
}

// Keys returns every setting in the order in which it is shown.
func Keys() []Key {
	keys := []Key{
		boolean("memory.trust_project_settings", "false", func(c *Config) any { return &c.Memory.TrustProjectSettings },
			"Let autoMemoryDirectory in a project's settings move its memory. Off, because a repository could point memory at a directory of its choice."),
		boolean("memory.daily_log", "false", func(c *Config) any { return &c.Memory.DailyLog },
			"Append new memories to today's log instead of writing a topic and an entry."),

		count("limits.index_lines", "200", "lines", 1, func(c *Config) any { return &c.Limits.IndexLines },
			"Lines of the index that are loaded. The client stops at 200."),
		size("limits.index_bytes", "25000", 1, func(c *Config) any { return &c.Limits.IndexBytes },
			"Size of the index that is loaded. The seed stops at 25,000 bytes, the client at 25,000 UTF-16 units."),
		count("limits.entry_length", "150", "characters", 1, func(c *Config) any { return &c.Limits.EntryLength },
			"Advised length of an entry; a longer one is only reported."),
		count("limits.scan_topics", "200", "topics", 1, func(c *Config) any { return &c.Limits.ScanTopics },
			"Topics that a scan lists, newest first."),
		count("limits.scan_lines", "30", "lines", 1, func(c *Config) any { return &c.Limits.ScanLines },
			"Lines of a topic that a scan reads."),
		size("limits.topic_bytes", "8MiB", 1024, func(c *Config) any { return &c.Limits.TopicBytes },
			"Largest topic that is read; a larger one is reported and left alone. Ours: real topics have a few kilobytes."),

		duration("lock.wait", "10s", func(c *Config) any { return &c.Lock.Wait },
			"How long a write waits for another writer before it names the holder and gives up."),
		duration("journal.max_age", "90d", func(c *Config) any { return &c.Journal.MaxAge },
			"How long the journal keeps what a write replaced, so that it can be undone."),
		size("journal.max_size", "64MiB", 1<<20, func(c *Config) any { return &c.Journal.MaxSize },
			"Size of a journal above which its oldest changes are dropped."),
		count("bases.max_count", "1000", "texts", 0, func(c *Config) any { return &c.Bases.MaxCount },
			"Texts kept as merge bases, newest first. 0 keeps none: every edit beside another one is then a conflict."),
		size("bases.max_size", "32MiB", 0, func(c *Config) any { return &c.Bases.MaxSize },
			"Size of all merge bases together."),

		fileOnly(choice("guard.secrets", "refuse", []string{"refuse", "warn"}, func(c *Config) any { return &c.Guard.Secrets },
			"What happens to a write that adds a secret: refuse it, or warn and write it.")),
		fileOnly(Key{Path: "guard.allow", Type: TypeHashes, Default: "[]", field: func(c *Config) any { return &c.Guard.Allow },
			Doc: "What the guard may let pass, each as the SHA-256 in hex that a refusal or a finding names: secrets that may be written, and what the safety rules (secret, hidden-character, instruction-text, link-outside) found and may leave unreported."}),
	}
	keys = append(keys, fileOnly(Key{Path: "stores", Type: TypeFolders, Default: "{}", field: func(c *Config) any { return &c.Stores },
		Doc: "Folders that are read and searched beside memory and never written, each under a name: a team's handbook, another project's memory. They are addressed as extra/<name>."}))
	keys = append(keys, engineKeys()...)
	keys = append(keys, jobKeys()...)
	prompt := count("hooks.prompt_memories", "0", "memories", 0, func(c *Config) any { return &c.Hooks.PromptMemories },
		"Memories that match a prompt and are shown with it. 0 shows none.")
	prompt.Max = 50
	return append(keys, prompt,
		fileOnly(boolean("hooks.record_turns", "true", func(c *Config) any { return &c.Hooks.RecordTurns },
			"Record what hooks tell of a conversation whose client keeps no transcript that mem reads. Secrets are taken out.")),
	)
}

// jobKeys are the settings of the jobs.
func jobKeys() []Key {
	keys := []Key{
		fileOnly(boolean("jobs.read_project", "false", func(c *Config) any { return &c.Jobs.ReadProject },
			"Let the agent of a dream read the files of the project, too, to see what is out of date. Without it, it reads memory and transcripts; other jobs always do, and so does a command engine.")),
		boolean("jobs.extract.enabled", "true", func(c *Config) any { return &c.Jobs.Extract.Enabled }, "Learn from finished turns."),
		count("jobs.extract.every_turns", "1", "turns", 1, func(c *Config) any { return &c.Jobs.Extract.EveryTurns }, "Run after every n-th turn."),
		count("jobs.extract.max_turns", "5", "turns", 1, func(c *Config) any { return &c.Jobs.Extract.MaxTurns }, "Turns that one run may take."),
		fileOnly(choice("jobs.extract.policy", "apply", []string{"apply", "review"}, func(c *Config) any { return &c.Jobs.Extract.Policy }, "Apply what a run finds, or keep it for review.")),

		boolean("jobs.session_memory.enabled", "true", func(c *Config) any { return &c.Jobs.SessionMemory.Enabled }, "Keep a rolling summary of the session."),
		count("jobs.session_memory.first_tokens", "10000", "tokens", 1, func(c *Config) any { return &c.Jobs.SessionMemory.FirstTokens }, "Context at which the summary is first written."),
		count("jobs.session_memory.every_tokens", "5000", "tokens", 1, func(c *Config) any { return &c.Jobs.SessionMemory.EveryTokens }, "Growth after which it is written again."),
		count("jobs.session_memory.tool_calls", "3", "calls", 0, func(c *Config) any { return &c.Jobs.SessionMemory.ToolCalls }, "Tool calls that must lie between two summaries."),
		count("jobs.session_memory.section_tokens", "2000", "tokens", 1, func(c *Config) any { return &c.Jobs.SessionMemory.SectionTokens }, "Size of one section."),
		count("jobs.session_memory.total_tokens", "12000", "tokens", 1, func(c *Config) any { return &c.Jobs.SessionMemory.TotalTokens }, "Size of the whole summary."),

		boolean("jobs.dream.enabled", "true", func(c *Config) any { return &c.Jobs.Dream.Enabled }, "Consolidate memory in the background."),
		count("jobs.dream.min_hours", "24", "hours", 0, func(c *Config) any { return &c.Jobs.Dream.MinHours }, "Hours since the last consolidation."),
		count("jobs.dream.min_sessions", "5", "sessions", 0, func(c *Config) any { return &c.Jobs.Dream.MinSessions }, "Sessions touched since then."),
		fileOnly(choice("jobs.dream.policy", "hold-deletions", []string{"hold-deletions", "apply", "review"}, func(c *Config) any { return &c.Jobs.Dream.Policy },
			"Apply what a dream makes, keep it for review, or apply it but for what deletes something.")),
	}
	for _, b := range []struct {
		name, of string
		tokens   string
		runs     string
		cost     string
		get      func(*Config) *Budget
	}{
		{"day", "all jobs of a day", "5000000", "500", "5", func(c *Config) *Budget { return &c.Budgets.Day }},
		{"job", "one run of a job", "1000000", "60", "1", func(c *Config) *Budget { return &c.Budgets.Job }},
	} {
		prefix := "budgets." + b.name + "."
		keys = append(keys,
			fileOnly(Key{Path: prefix + "tokens", Type: TypeInt, Unit: "tokens", Default: b.tokens, field: func(c *Config) any { return &b.get(c).Tokens },
				Doc: fmt.Sprintf("Tokens that %s may use, those from the provider's cache not counted; 0 is no limit.", b.of)}),
			fileOnly(Key{Path: prefix + "runs", Type: TypeInt, Unit: "model calls", Default: b.runs, field: func(c *Config) any { return &b.get(c).Runs },
				Doc: fmt.Sprintf("Model calls that %s may make; 0 is no limit.", b.of)}),
			fileOnly(Key{Path: prefix + "cost", Type: TypeNumber, Unit: "US dollars", Default: b.cost, field: func(c *Config) any { return &b.get(c).Cost },
				Doc: fmt.Sprintf("Money that %s may cost; 0 is no limit.", b.of)}),
		)
	}
	return append(keys, fileOnly(duration("budgets.job.time", "0s", func(c *Config) any { return &c.Budgets.JobTime },
		"How long one run of a job may take, where that is less than each kind of job has by itself (a few minutes); 0s leaves it at that.")))
}

func boolean(path, def string, field func(*Config) any, doc string) Key {
	return Key{Path: path, Type: TypeBool, Default: def, Doc: doc, field: field}
}

// maxCount bounds every count, so that no sum of two overflows an int.
const maxCount = 1_000_000_000

func count(path, def, unit string, least int64, field func(*Config) any, doc string) Key {
	return Key{Path: path, Type: TypeInt, Unit: unit, Default: def, Min: least, Max: maxCount, Doc: doc, field: field}
}

// maxSize bounds every size: 1 TiB.
const maxSize = 1 << 40

func size(path, def string, least int64, field func(*Config) any, doc string) Key {
	return Key{Path: path, Type: TypeSize, Unit: "bytes", Default: def, Min: least, Max: maxSize, Doc: doc, field: field}
}

// maxDuration bounds every duration: a hundred years.
const maxDuration = 100 * 365 * 24 * time.Hour

func duration(path, def string, field func(*Config) any, doc string) Key {
	return Key{Path: path, Type: TypeDuration, Default: def, Max: int64(maxDuration), Doc: doc, field: field}
}

func choice(path, def string, allowed []string, field func(*Config) any, doc string) Key {
	return Key{Path: path, Type: TypeChoice, Default: def, Allowed: allowed, Doc: doc, field: field}
}

// plain is a text of one line; empty is the default.
func plain(path string, field func(*Config) any, doc string) Key {
	return Key{Path: path, Type: TypeText, Default: `""`, Doc: doc, field: field}
}

func fileOnly(k Key) Key {
	k.FileOnly = true
	return k
}
