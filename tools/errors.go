package tools

import (
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"mem/core/change"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/sessionmem"
	sessionupdate "mem/core/sessionmem/update"
	"mem/core/store"
	"mem/core/transcript"
)

// problem is the structured part of a failed call: what went wrong, and what
// the caller needs to do better.
type problem struct {
	Error     string            `json:"error"`
	Kind      string            `json:"kind"`
	Path      string            `json:"path,omitempty"`
	Hash      string            `json:"hash,omitempty"` // of the current text
	Text      string            `json:"text,omitempty"` // the current text
	Cut       bool              `json:"textIsCut,omitempty"`
	Conflicts []change.Conflict `json:"conflicts,omitempty"`
	Near      []string          `json:"near,omitempty"`
	Findings  []finding         `json:"findings,omitempty"`
}

type finding struct {
	Rule        string `json:"rule"`
	Line        int    `json:"line"`
	Reason      string `json:"reason"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// problemParts is what the output schema of every tool says of a problem. That schema
// must admit one, since the TypeScript SDK v1 holds error results against it, too, and
// throws the whole result away when they differ.
func problemParts() schema {
	return schema{opt("error", str("What went wrong and what to do; the rest is not there then, but kind and details."))}
}

// The kinds of problems.
const (
	kindInvalid   = "invalid"
	kindExists    = "exists"
	kindConflict  = "conflict"
	kindSecret    = "secret"
	kindLocked    = "locked"
	kindNotFound  = "not-found"
	kindAmbiguous = "ambiguous"
	kindPerson    = "needs-person"
	kindRejected  = "rejected"
)

const (
	// maxError bounds what went wrong, in characters.
	maxError = 3_000
	// maxProblemText bounds the texts of a problem together: their weight.
	maxProblemText = 12_000
	maxNear        = 10
	maxFindings    = 10
)

// failed gives the result of a call that did not succeed.
func failed(err error) *mcp.CallToolResult {
	p := problemOf(err)
	text := p.Error
	if p.Hash != "" {
		text += "\n\nCurrent text of " + memdir.ShownName(p.Path) + " (hash " + p.Hash + "):\n" + p.Text
	}
	for _, c := range p.Conflicts {
		text += "\n\nConflict in " + c.Path + ", " + c.Part + "\n--- yours\n" + c.Ours + "\n--- theirs\n" + c.Theirs
	}
	return &mcp.CallToolResult{IsError: true, StructuredContent: p, Content: []mcp.Content{mcp.NewTextContent(text)}}
}

func problemOf(err error) problem {
	p := problem{Error: memdir.Shown(err.Error(), maxError), Kind: kindInvalid}
	var exists *memory.ExistsError
	var conflict *store.ConflictError
	var refused *store.RefusedError
	var locked *store.LockedError
	var missing *memdir.NotFoundError
	var ambiguous *memdir.AmbiguousError
	var noSession *transcript.NotFoundError
	var severalSessions *transcript.AmbiguousError
	var person *personError
	var rejected *proposal.RejectedError
	var noProposal *proposal.NotFoundError
	var noJob *job.NotFoundError
	var over *sessionupdate.OverError
	var summaryChanged *sessionmem.ChangedError
	switch {
	case errors.As(err, &over):
		p.Kind = kindRejected
	case errors.Is(err, sessionupdate.ErrSecret):
		p.Kind = kindSecret
	case errors.As(err, &summaryChanged):
		p.Kind, p.Path, p.Hash = kindConflict, memdir.Shown(summaryChanged.Path, memdir.MaxShown), summaryChanged.Current.Hash
		p.Text, p.Cut = cut(summaryChanged.Current.Text, maxProblemText)
	case errors.As(err, &person):
		p.Kind = kindPerson
	case errors.As(err, &rejected):
		p.Kind = kindRejected
	case errors.As(err, &noProposal):
		p.Kind, p.Near = notFoundOr(noProposal.Match), few(noProposal.Match)
	case errors.As(err, &noJob):
		p.Kind, p.Near = notFoundOr(noJob.Match), few(noJob.Match)
	case errors.As(err, &exists):
		p.Kind, p.Path, p.Hash = kindExists, exists.Path, exists.Current.Hash
		p.Text, p.Cut = cut(exists.Current.Text, maxProblemText)
	case errors.As(err, &conflict):
		p.Kind = kindConflict
		p.fill(conflict)
	case errors.As(err, &refused):
		p.Kind, p.Path = kindSecret, refused.Path
		for _, f := range refused.Findings[:min(len(refused.Findings), maxFindings)] {
			p.Findings = append(p.Findings, finding{f.Rule, f.Line, memdir.Shown(f.Reason, 1000), f.Fingerprint})
		}
	case errors.As(err, &locked):
		p.Kind = kindLocked
	case errors.As(err, &missing):
		p.Kind, p.Near = kindNotFound, few(missing.Near)
	case errors.As(err, &ambiguous):
		p.Kind, p.Near = kindAmbiguous, few(ambiguous.Paths)
	case errors.As(err, &noSession):
		p.Kind = kindNotFound
	case errors.As(err, &severalSessions):
		p.Kind, p.Near = kindAmbiguous, few(severalSessions.Sessions)
	}
	return p
}

func notFoundOr(match []string) string {
	if len(match) > 1 {
		return kindAmbiguous
	}
	return kindNotFound
}

func (p *problem) fill(conflict *store.ConflictError) {
	shown := conflict.Conflicts[:min(len(conflict.Conflicts), 3)]
	for _, c := range shown {
		c.Path, c.Part = memdir.Shown(c.Path, memdir.MaxShown), memdir.Shown(c.Part, memdir.MaxShown)
		for _, s := range []*string{&c.Base, &c.Ours, &c.Theirs} {
			short, isCut := cut(*s, maxProblemText/(2*len(shown)))
			*s = short
			p.Cut = p.Cut || isCut
		}
		p.Conflicts = append(p.Conflicts, c)
	}
	path := conflict.Conflicts[0].Path
	if cur, ok := conflict.Current[path]; ok && cur.Exists {
		p.Path, p.Hash = path, cur.Hash
		if short, isCut := cut(cur.Text, maxProblemText/2); len(p.Conflicts) == 1 && !isCut {
			p.Text = short
		} else {
			p.Cut = true
		}
	}
}

// cut bounds a text by what it weighs; the whole of it can be read with
// memory_read.
func cut(s string, most int) (string, bool) {
	short := memory.Fit(s, most)
	if short == s {
		return s, false
	}
	return short + "\n… (cut; memory_read gives the whole text)", true
}

// few bounds a list of paths.
func few(paths []string) []string {
	var out []string
	for _, p := range paths[:min(len(paths), maxNear)] {
		out = append(out, memory.Fit(p, 1000))
	}
	return out
}
