// Package deliver hands a conversation to whoever takes it up: as messages that
// an API accepts, or as a text to read, within a budget, without secrets, and
// with word of everything that is not in it.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"mem/core/guard"
	"mem/core/transcript"
)

// Format says what a delivery is for.
type Format string

// The formats.
const (
	// Messages are role and content as the Anthropic Messages API takes them.
	Messages Format = "messages"
	// Brief is Markdown to read, for a person or a model.
	Brief Format = "brief"
)

const (
	// DefaultBudget is the budget where none is asked for, in tokens. The whole
	// delivery then has at most 40,000 characters as JSON, so that it fits a
	// result once: a client moves results of more than 50,000 characters or about
	// 25,000 tokens into a file (observed 2026-11-30).
	DefaultBudget = 10_000
	// MinBudget is the smallest budget.
	MinBudget = 2_000
)

// ErrCursor says that a cursor is not one of this conversation, or that what it
// points at has changed.
var ErrCursor = errors.New("the cursor does not fit this conversation; start again without one")

// Options say what to deliver. The zero value gives prompts, answers and tool
// calls as messages, with a stub for each result.
type Options struct {
	// BudgetTokens bounds the delivery, as JSON with all its fields: its estimated
	// tokens, and its characters to four times as many. 0 means DefaultBudget.
	BudgetTokens int
	Format       Format // "" means Messages
	// Thinking includes it where it is signed, which the API asks for. A reader
	// rarely needs it.
	Thinking bool
	// ToolResults includes what tools gave. A brief has their first lines.
	ToolResults bool
	// Attachments includes what the client added to turns, and its notices.
	Attachments bool
	// Cursor continues a delivery with older turns: its NextCursor.
	Cursor string
	// Redact finds the secrets that are not shown; nil shows them.
	Redact *guard.Scanner
}

// Delivery is a page of a conversation. As JSON it stays within the budget.
type Delivery struct {
	Session     string    `json:"session,omitempty"`
	Title       string    `json:"title,omitempty"`
	FirstPrompt string    `json:"firstPrompt,omitempty"` // of the session, shortened
	Cwd         string    `json:"cwd,omitempty"`         // the last that the session says
	Branch      string    `json:"branch,omitempty"`
	Model       string    `json:"model,omitempty"`
	Version     string    `json:"version,omitempty"` // of the client
	Start       time.Time `json:"start,omitzero"`
	End         time.Time `json:"end,omitzero"`
	Turns       int       `json:"turns"` // of the whole file
	Format      Format    `json:"format"`
	// Messages of the page, oldest first; empty for a brief. Where NextCursor or
	// LeftOut say that something is missing, a message of the role user says so
	// in its place.
	Messages []APIMessage        `json:"messages"`
	Text     string              `json:"text,omitempty"` // of a brief
	Coverage transcript.Coverage `json:"coverage"`
	Problems string              `json:"problems,omitempty"` // of the file, in words
	// ResumePoint is the uuid that the next message has as its parent.
	ResumePoint string  `json:"resumePoint,omitempty"`
	LeftOut     LeftOut `json:"leftOut"`
	// Secrets is how many different ones were found and are not shown.
	Secrets int `json:"secrets,omitempty"`
	// Tokens is about how many the delivery takes as JSON.
	Tokens int `json:"tokens"`
	// NextCursor continues with older turns; "" when there are none.
	NextCursor string   `json:"nextCursor,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// LeftOut says what a page does not have of the conversation.
type LeftOut struct {
	// Turns and Rows of the chain are older than this page; NextCursor leads to
	// them. FirstLine and LastLine are where they stand in the file.
	Turns     int `json:"turns,omitempty"`
	Rows      int `json:"rows,omitempty"`
	FirstLine int `json:"firstLine,omitempty"`
	LastLine  int `json:"lastLine,omitempty"`
	// Partial says that the oldest turn of the page begins on the next page.
	Partial bool `json:"partial,omitempty"`
	// Shortened texts, results and arguments, and the characters that are gone.
	Shortened  int `json:"shortened,omitempty"`
	Characters int `json:"characters,omitempty"`
	// Not included, as asked for or for want of room.
	Results     int `json:"results,omitempty"`
	Thinking    int `json:"thinking,omitempty"`
	Attachments int `json:"attachments,omitempty"`
	Notices     int `json:"notices,omitempty"` // system rows
	Images      int `json:"images,omitempty"`  // and documents
	Answers     int `json:"answers,omitempty"` // with their calls, too large for any budget
	Failures    int `json:"failures,omitempty"`
	// Unpaired are calls without a result and results without a call.
	Unpaired   int `json:"unpaired,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
	// Where are the first places at which something was shortened or left out.
	Where []Place `json:"where,omitempty"`
}

// Place is where something is missing.
type Place struct {
	Line       int    `json:"line"` // of the transcript
	What       string `json:"what"`
	Characters int    `json:"characters,omitempty"`
}

// maxPlaces bounds LeftOut.Where.
const maxPlaces = 10

func (l *LeftOut) place(p Place) {
	if len(l.Where) < maxPlaces {
		l.Where = append(l.Where, p)
	}
}

func (l *LeftOut) add(m LeftOut) {
	l.Shortened += m.Shortened
	l.Characters += m.Characters
	l.Results += m.Results
	l.Thinking += m.Thinking
	l.Attachments += m.Attachments
	l.Notices += m.Notices
	l.Images += m.Images
	l.Answers += m.Answers
	l.Failures += m.Failures
	l.Unpaired += m.Unpaired
	l.Unreadable += m.Unreadable
	for _, p := range m.Where {
		l.place(p)
	}
}

// Deliver gives the newest part of the chain c of t that fits the budget, or with
// a cursor the part before it. The compaction's summary and the first prompt of
// the chain come with the first page. Over budget, tool results are shortened
// first; then older turns are left out, whole ones where that leaves the page at
// least half full. Rows that cannot be read are counted.
//
// The pages that the cursors lead to hold each row of the chain once. Memory is
// bounded by the budget and the longest record.
func Deliver(ctx context.Context, src io.ReaderAt, t *transcript.Transcript, c *transcript.Chain, o Options) (*Delivery, error) {
	if o.BudgetTokens == 0 {
		o.BudgetTokens = DefaultBudget
	}
	if o.BudgetTokens < MinBudget {
		return nil, fmt.Errorf("a budget of %d tokens is too small: at least %d are needed", o.BudgetTokens, MinBudget)
	}
	o.BudgetTokens = min(o.BudgetTokens, maxBudget)
	switch o.Format {
	case "":
		o.Format = Messages
	case Messages, Brief:
	default:
		return nil, fmt.Errorf("there is no format %.40q; there are %q and %q", o.Format, Messages, Brief)
	}
	defer t.HoldHeap()()
	j, err := newJob(ctx, src, t, c, o)
	if err != nil {
		return nil, err
	}
	return j.deliver()
}

// maxBudget keeps sums of costs far from overflow, and memory bounded.
const maxBudget = 10_000_000
