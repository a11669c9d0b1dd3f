package tools

import (
	"context"

	"github.com/mark3labs/mcp-go/server"

	"mem/core/model"
	"mem/core/proposal"
	"mem/core/work"
)

// Toolset is a group of tools that is switched on together.
type Toolset struct {
	Name  string
	Doc   string
	specs []spec
}

// Toolsets is every toolset with its tools, in the order in which clients and
// the documentation list them.
func Toolsets() []Toolset {
	return []Toolset{
		{Name: "memory", Doc: "Read, write, search, repair and undo the memory of a project.", specs: []spec{
			memoryContext(),
			memoryList(),
			memoryRead(),
			memorySearch(),
			memoryWrite(),
			memoryEdit(),
			memoryDelete(),
			memoryMove(),
			memoryLog(),
			memoryHistory(),
			memoryUndo(),
			memoryCheck(),
			memoryFix(),
			memoryStores(),
		}},
		{Name: "transcripts", Doc: "Find, search, take up and record the sessions of a project: its conversations with any agent.", specs: []spec{
			transcriptList(),
			transcriptResume(),
			transcriptSearch(),
			transcriptAppend(),
			transcriptExport(),
		}},
		{Name: "proposals", Doc: "Hand in the result of a job, and look at, apply or discard what waits for a person.", specs: []spec{
			proposalList(),
			proposalShow(),
			proposalSubmit(),
			proposalApply(),
			proposalDiscard(),
		}},
		{Name: "snapshots", Doc: "Share what an agent learnt with a team through git: state, pull and publish of snapshots.", specs: []spec{
			snapshotStatus(),
			snapshotPull(),
			snapshotPublish(),
		}},
		{Name: "jobs", Doc: "Have a forked agent learn from a session, and keep the summary of a session.", specs: []spec{
			extractStart(),
			extractStatus(),
			extractCancel(),
			sessionSummaryGet(),
			sessionSummaryUpdate(),
		}},
		{Name: "dream", Doc: "Consolidate the memory of a project: start, watch and stop it, and see what it did.", specs: []spec{
			dreamStart(),
			dreamStatus(),
			dreamCancel(),
			dreamHistory(),
		}},
	}
}

// Options say what tools may do and what they are wired with. The zero value is ready
// to use.
type Options struct {
	// AllowApply lets proposals be applied that wait for a person: one said so when the
	// server was started.
	AllowApply bool
	// Finishers end jobs of kinds that need more than proposal.Finish, when a host hands
	// their result back.
	Finishers map[string]proposal.Finisher
	// Start starts a process that runs a job; nil where this program cannot.
	Start work.Starter
	// Sampling gives the model of the client that makes a call, nil where it lends none.
	Sampling func(ctx context.Context) model.Model
	// Background runs f while the server is up; nil where it runs nothing besides calls.
	Background func(f func(ctx context.Context))
}

// Bind gives the tools of a toolset, working on what open and of give.
func (t Toolset) Bind(open Opener, of SessionsOf, with ...Options) []server.ServerTool {
	var out []server.ServerTool
	questions, checks := newQuestions(), &checks{}
	for _, s := range t.specs {
		out = append(out, s.bind(open, of, questions, checks, with...))
	}
	return out
}

// Names lists the tools of the toolset.
func (t Toolset) Names() []string {
	var names []string
	for _, s := range t.specs {
		names = append(names, s.name)
	}
	return names
}
