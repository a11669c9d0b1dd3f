// Package job keeps the records of background work on a memory: what runs, waits for a
// host or is over, who runs it, how far it is, and what came of it. Records are files in
// the state of the memory, so that every process sees, and can stop, what another one
// runs.
package job

import (
	"encoding/json"
	"time"

	"mem/core/model"
)

// Kinds of jobs.
const (
	Extract       = "extract"
	SessionMemory = "session-memory"
	Dream         = "dream"
	Merge         = "merge" // of a team's snapshot
)

// State is where a job is.
type State string

// The states. The last four are final.
const (
	Queued    State = "queued"  // nobody thinks yet; offered to the next conversation
	Running   State = "running" // a process works on it
	Waiting   State = "waiting" // a host has the prompt; proposal_submit ends it
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Lost      State = "lost" // its process died
)

// Final reports whether nothing more happens to a job.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Cancelled || s == Lost
}

// Record is one job. docs/formats.md specifies how it is stored.
type Record struct {
	Version int    `json:"v"`
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	State   State  `json:"state"`
	// Started by: "hook", "tool", "command", "schedule".
	By      string          `json:"by,omitempty"`
	Session string          `json:"session,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"` // of the kind; versioned by it

	Engine  string `json:"engine,omitempty"`
	Detail  string `json:"engineDetail,omitempty"`
	Why     string `json:"engineWhy,omitempty"`
	Process int    `json:"pid,omitempty"`
	// ProcessStart tells a process from a later one with the same pid.
	ProcessStart string `json:"pidStart,omitempty"`

	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`

	Phase    string   `json:"phase,omitempty"` // of a dream: starting, updating
	Turns    int      `json:"turns,omitempty"`
	Calls    int      `json:"toolCalls,omitempty"`
	Last     []string `json:"lastTurns,omitempty"` // what the agent did last, each on one line
	Touched  []string `json:"filesTouched,omitempty"`
	Sessions []string `json:"sessions,omitempty"` // under review

	Usage    model.Usage `json:"usage"`
	End      string      `json:"end,omitempty"` // fork.End
	Reason   string      `json:"reason,omitempty"`
	Report   string      `json:"report,omitempty"`
	Refused  []Refused   `json:"refused,omitempty"`
	Change   string      `json:"change,omitempty"`   // applied, for memory_undo
	Proposal string      `json:"proposal,omitempty"` // stored, for review
}

// Refused is something that the gate or the checks of a result did not let happen.
type Refused struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}
