package dream

import (
	"context"

	"mem/core/change"
	"mem/core/memdir"
)

// Fixer finds and mends what is wrong with a memory by rules. diagnostics has the rules;
// diagnostics/mending makes a Fixer of them.
type Fixer interface {
	// Mend gives the change that mends what the options admit in a View. Nothing is written.
	Mend(ctx context.Context, v *memdir.View, o MendOptions) (*Mended, error)
}

// MendOptions says what is mended.
type MendOptions struct {
	Only []string // findings of these rules; nil means all
	Skip []string // but not of these
	// Unsafe admits fixes that move text or need judgement.
	Unsafe bool
	// Room is how many lines of the index are to be left free: its limits count as so much
	// lower.
	Room int
	// Accept may refuse a change. It is asked for several at once, and for each where it refuses.
	Accept func(change.Change) error
}

// Mended is what a Fixer came to.
type Mended struct {
	Change  change.Change // edits and new files
	Made    []Mend
	Refused []Mend
	Left    []Mend // findings that nothing mends
}

// Mend is one finding: mended, refused or left.
type Mend struct {
	Rule  string `json:"rule"`
	Fix   string `json:"fix,omitempty"`
	Path  string `json:"path"`
	Line  int    `json:"line"` // from 1
	Words string `json:"words"`
}
