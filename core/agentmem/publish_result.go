package agentmem

import (
	"fmt"
	"strings"

	"mem/core/memdir"
)

// PublishOptions says what goes to the team.
type PublishOptions struct {
	// Confirm writes; without it the result shows what would be written.
	Confirm bool
	// Only are the topics that are published, by path; nil is all that is new.
	Only []string
	// Allow are held items that a person lets through, as Held.Item names them.
	Allow []string
	Note  string // for the team, kept in snapshot.json
	// Plan is that of a dry run that a person agreed to; another one is not made. "" is any.
	Plan string
}

// Held is a topic that is not published, and why.
type Held struct {
	Item   string `json:"item"` // names it for whoever lets it through
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"`
	Kind   string `json:"kind"` // user-topic, home-path, email, secret, hidden, name, size
	Reason string `json:"reason"`
	// Never says that nobody can let it through here.
	Never bool `json:"never,omitempty"`
}

// PublishedFile is one file of the snapshot that changes.
type PublishedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // the name that it had
	Action string `json:"action"`         // added, changed, removed, renamed
}

// Published is what a publish did, or would do.
type Published struct {
	Agent     string          `json:"agent"`
	Snapshot  string          `json:"snapshot"`
	DryRun    bool            `json:"dryRun"`
	UpdatedAt string          `json:"updatedAt,omitempty"`
	Files     []PublishedFile `json:"files"`
	MoreFiles int             `json:"moreFiles,omitempty"`
	Held      []Held          `json:"held"`
	MoreHeld  int             `json:"moreHeld,omitempty"`
	Diff      string          `json:"diff,omitempty"` // of a dry run, without secrets, cut
	Notes     []string        `json:"notes,omitempty"`
	// Plan names exactly what would be written, "" for nothing. Allowed is what is let through.
	Plan    string `json:"-"`
	Allowed []Held `json:"-"`
}

// PlanError says that what would be published is not what a person agreed to.
type PlanError struct{ Agent string }

func (e *PlanError) Error() string {
	return fmt.Sprintf("the memory of %s or its snapshot changed since what would be published was shown. Nothing was published; look at it again", e.Agent)
}

// PullFirstError says that the snapshot has news that conflict with what is published.
type PullFirstError struct {
	Agent     string
	Conflicts []Conflict
}

func (e *PullFirstError) Error() string {
	var parts []string
	for i, c := range e.Conflicts {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("and %d more", len(e.Conflicts)-i))
			break
		}
		parts = append(parts, memdir.ShownName(c.Path)+": "+memdir.Shown(c.Part, memdir.MaxShown))
	}
	return fmt.Sprintf("the snapshot of %s has news that were not pulled and that conflict with what is here: %s. Nothing was published. Pull first (mem-mcp snapshot pull %s) and decide: theirs, mine or both", e.Agent, strings.Join(parts, "; "), e.Agent)
}
