package tools

import "github.com/mark3labs/mcp-go/server"

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
	}
}

// Bind gives the tools of a toolset, working on what open and of give.
func (t Toolset) Bind(open Opener, of SessionsOf) []server.ServerTool {
	var out []server.ServerTool
	questions, checks := newQuestions(), &checks{}
	for _, s := range t.specs {
		out = append(out, s.bind(open, of, questions, checks))
	}
	return out
}
