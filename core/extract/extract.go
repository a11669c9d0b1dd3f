// Package extract is the job that learns from finished turns: at the end of a turn it
// decides whether what was said since the last time is worth a look, and has a forked
// agent write down what will still matter in later conversations.
package extract

import (
	"time"

	"mem/core/transcript"
)

// Limits of one run of the agent, besides the turns (jobs.extract.max_turns, 5 by the
// seed). Ours: a run that goes well takes two turns and some seconds.
const (
	Wall         = 5 * time.Minute
	OutputTokens = 32_000
	ToolCalls    = 60
	ReadBytes    = 2 << 20
)

// Turn is a turn that ended.
type Turn struct {
	Session string // id of the session
	// Transcript is where the client writes it; "" for a session that mem recorded.
	Transcript string
	// Agent is set for the turn of a subagent, from which nothing is learnt.
	Agent string
	// Over says that no turn ended but the session: what the counter of turns held back is
	// looked at now.
	Over bool
}

// Decision says what became of the end of a turn. Every gate can be asked why.
type Decision struct {
	// Run says that a run is due: the session waits for it now.
	Run    bool   `json:"run"`
	Reason string `json:"reason"`
	// Gate names what decided: "agent", "memory", "setting", "engine", "session", "counter", "over",
	// "running", or "due".
	Gate string `json:"gate"`
}

// Cursor is up to where a session was looked at. docs/formats.md specifies how it is
// stored.
type Cursor struct {
	Version int    `json:"v"`
	Session string `json:"session"`
	// Leaf is the last message that was looked at.
	Leaf transcript.UUID `json:"leaf,omitzero"`
	Time time.Time       `json:"time,omitzero"` // when it was last moved
	By   string          `json:"by,omitempty"`  // id of the job that moved it; "" where the agent wrote memory itself
}

// Waiting is a session whose turn ended and that waits for a run.
type Waiting struct {
	Version    int       `json:"v"`
	Session    string    `json:"session"`
	Transcript string    `json:"transcript,omitempty"`
	Since      time.Time `json:"since"`
	// Asked says that somebody asked for it: it is looked at also where the agent wrote
	// memory itself.
	Asked bool `json:"asked,omitempty"`
	// Failed counts the runs that failed on it since it waits.
	Failed int `json:"failed,omitempty"`
}
