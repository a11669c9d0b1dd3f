// Package fork is the forked agent: a bounded model loop that may look at much and
// change only a staged memory. Engines do the thinking; whoever does, what it may see
// and change is decided by the same tools, and what it leaves in the stage is all that
// it did.
package fork

import (
	"context"
	"encoding/json"
	"time"

	"mem/core/model"
)

// Names of the engines, in the order in which "auto" tries them.
const (
	Provider = "provider"
	Command  = "command"
	Sampling = "sampling"
	Host     = "host"
	None     = "none"
)

// Limits bound a run; 0 is no limit. Each ends the run cleanly.
type Limits struct {
	Turns        int           // replies of the model
	Wall         time.Duration // of the whole run
	OutputTokens int64
	ToolCalls    int
	ReadBytes    int64   // that tools gave
	Tokens       int64   // model.Usage.Tokens: the budget of the job, or what is left of the day's
	Cost         float64 // US dollars
}

// Tools are what the agent can call. core/fork/gate has the only ones.
type Tools interface {
	// Tools lists them as the model sees them.
	Tools() []model.Tool
	// Call runs one. It never fails: what is refused or wrong is a Result that says so.
	// ctx ends a call that takes too long.
	Call(ctx context.Context, name string, input json.RawMessage) Called
}

// Called is what one call did.
type Called struct {
	Text    string   // for the model
	Refused string   // why the gate did not let it happen, "" when it did
	Failed  bool     // it was let through and did not work
	Read    int64    // bytes that it gave
	Touched []string // staged files that it changed
}

// Task is what an agent is to do.
type Task struct {
	Job    string // id of its record
	Kind   string // extract, session-memory, dream, merge
	Memory string // the memory directory, for the ledger of what was spent
	System string
	// Shared is the conversation that it inherits, the same in every run of one session,
	// so that it comes from the provider's cache. Secrets are redacted already.
	Shared []model.Message
	Prompt string // the instruction, after Shared
	Tools  Tools
	// Stage is the folder that Tools write to, for engines that run programs of their own.
	// They may change nothing else.
	Stage string
	// Mount is what the instructions call that folder, such as "memory" for /memory, which it is
	// unless told.
	Mount  string
	Limits Limits
	// Progress is told of every turn; nil asks for none. It must not block.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Turn      int
	Text      string   // what the agent said in this turn, one line
	Calls     []string // what it called, each on one line
	Touched   []string // all staged files changed so far
	Usage     model.Usage
	ToolCalls int
}

// End says why a run ended.
type End string

// How runs end. Only EndDone means that the agent was through.
const (
	EndDone      End = "done"
	EndTurns     End = "turn limit"
	EndWall      End = "time limit"
	EndOutput    End = "output limit"
	EndCalls     End = "tool call limit"
	EndRead      End = "read limit"
	EndBudget    End = "budget"
	EndCancelled End = "cancelled"
	EndFailed    End = "failed" // the model or its command
)

// Refusal is a call that the gate refused.
type Refusal struct {
	Turn   int    `json:"turn"`
	Tool   string `json:"tool"`
	Input  string `json:"input"` // shortened, without secrets
	Reason string `json:"reason"`
}

// Outcome is what became of a run. What it changed is in the stage.
type Outcome struct {
	End       End
	Reason    string // in words, with the way out where there is one
	Turns     int
	ToolCalls int
	Read      int64  // bytes
	Text      string // the agent's last words: its report
	Model     string
	Usage     model.Usage
	Refused   []Refusal
	Touched   []string
}

// Engine does the thinking of a task.
type Engine interface {
	Name() string // of the constants above
	// Says which model or command it is, for people.
	Detail() string
	// Run runs a task. How it ended is in the outcome, failures of the model included; an
	// error is a fault of ours or of this machine. When ctx ends, Run returns within a second
	// and leaves no process behind.
	Run(ctx context.Context, t Task) (*Outcome, error)
}
