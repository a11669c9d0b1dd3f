// Package proposal keeps changes that wait for a person: what a job made and may not
// apply by itself. It also is the one way by which the result of a job reaches memory,
// so that whoever did the thinking passes the same checks.
package proposal

import (
	"time"

	"mem/core/change"
)

// Policy says what happens to the result of a job.
type Policy string

// The policies.
const (
	Apply Policy = "apply"
	// HoldDeletions applies what adds and edits; what deletes waits, with all that belongs to it.
	HoldDeletions Policy = "hold-deletions"
	Review        Policy = "review"
)

// Unit is a part of a result that is applied whole or not at all: a topic that was
// written, or two that became one.
type Unit struct {
	ID      string        `json:"id"` // within its proposal: "1", "2", …
	Title   string        `json:"title"`
	Reason  string        `json:"reason,omitempty"`
	Sources []string      `json:"sources,omitempty"` // sessions, logs, topics that it comes from
	Change  change.Change `json:"change"`
	// Deletes says that it removes a topic, an entry, or more than half of a body.
	Deletes bool  `json:"deletes"`
	State   State `json:"state"`
	// Applied is the id of the change that it became.
	Applied string `json:"applied,omitempty"`
	Note    string `json:"note,omitempty"` // why it is not applied: a conflict, a refusal
	// Attempt names the change that is being made of it. The history of the memory tells
	// whether it was, where the process that made it died.
	Attempt string `json:"attempt,omitempty"`
}

// State is where a unit or a proposal is.
type State string

// The states. A proposal is open as long as one of its units is.
const (
	Open       State = "open"
	Applied    State = "applied"
	Discarded  State = "discarded"
	Superseded State = "superseded" // a later one makes it pointless
)

// Proposal is a set of units that a job left. docs/formats.md specifies how it is stored.
type Proposal struct {
	Version int       `json:"v"`
	ID      string    `json:"id"`
	Job     string    `json:"job,omitempty"`
	Kind    string    `json:"kind"` // of the job
	Title   string    `json:"title"`
	Report  string    `json:"report,omitempty"`
	Created time.Time `json:"created"`
	Closed  time.Time `json:"closed,omitzero"` // since when it is not open any more
	Origin  string    `json:"origin,omitempty"`
	State   State     `json:"state"`
	// SupersededBy is the id of the proposal or job that made it pointless.
	SupersededBy string `json:"supersededBy,omitempty"`
	// Attempts counts the changes that were begun for it.
	Attempts int    `json:"attempts,omitempty"`
	Units    []Unit `json:"units"`
}

// OpenUnits counts the units that wait.
func (p *Proposal) OpenUnits() int {
	n := 0
	for _, u := range p.Units {
		if u.State == Open {
			n++
		}
	}
	return n
}

// close brings the state up to that of the units.
func (p *Proposal) close(now time.Time) {
	if p.State != Open || p.OpenUnits() > 0 {
		return
	}
	p.State, p.Closed = Discarded, now
	for _, u := range p.Units {
		if u.State == Applied {
			p.State = Applied
		}
	}
}
