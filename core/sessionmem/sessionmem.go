// Package sessionmem is the session memory: the rolling summary of one session, in ten
// fixed sections, that survives a compaction. It owns the file, its limits, and when it
// is due to be written again; who writes it is no matter of this package.
package sessionmem

import (
	"path/filepath"
	"strings"

	"mem/core/text"
	"mem/core/transcript"
)

// The place of a session's memory beside its transcript (seed 24.3, FACTS §5 of the
// design: `<session>/session-memory/summary.md`).
const (
	Folder = "session-memory"
	Name   = "summary.md"
)

// Section is one of the fixed sections.
type Section struct {
	Title string
	About string // what belongs there
}

// Sections are all sections, in their order.
var Sections = []Section{
	{"Session Title", "Five to ten words by which somebody finds this session again."},
	{"Current State", "What is being worked on at this moment, what is open, and the very next step."},
	{"Task specification", "What was asked for, with the decisions and constraints that came with it."},
	{"Files and Functions", "The files and functions that matter, and in a few words why."},
	{"Workflow", "The commands that are run, in which order, and how to read what they print."},
	{"Errors & Corrections", "What went wrong and how it was mended; what the person corrected; what not to try again."},
	{"Codebase and System Documentation", "The parts of the system and how they work together."},
	{"Learnings", "What worked, what did not, what to avoid. Nothing that another section has."},
	{"Key results", "What was asked for as a result, whole: the answer, the table, the document."},
	{"Worklog", "What was done, step by step, each on a line."},
}

// Template is the file as it begins.
func Template() string {
	var b strings.Builder
	for i, s := range Sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("# " + s.Title + "\n_" + s.About + "_\n")
	}
	return b.String()
}

// DirOf gives the folder of a session's memory: beside its transcript. It is "" for a
// session that lies in an archive or that is a subagent's, which has none.
func DirOf(x *transcript.Session) string {
	base, ok := strings.CutSuffix(x.Path, ".jsonl")
	if !ok || x.Agent != "" {
		return ""
	}
	return filepath.Join(base, Folder)
}

// Tokens estimates the tokens of a text: a quarter for each ASCII character, one for
// each of another script.
func Tokens(s string) int {
	_, quarters := text.Weight(s)
	return (quarters + 3) / 4
}
