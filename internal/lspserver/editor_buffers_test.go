package lspserver

import (
	"fmt"
	"strings"
)

type point struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start point `json:"start"`
	End   point `json:"end"`
}

func (s span) String() string {
	return fmt.Sprintf("%d:%d-%d:%d", s.Start.Line, s.Start.Character, s.End.Line, s.End.Character)
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code"`
	Source   string `json:"source"`
	Message  string `json:"message"`
	Tags     []int  `json:"tags"`
	Related  []struct {
		Location struct {
			URI   string `json:"uri"`
			Range span   `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	} `json:"relatedInformation"`
}

type publication struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// open opens a file of the memory with a text; it need not be on disk.
func (e *editor) open(name, text string) {
	e.t.Helper()
	e.version++
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": e.uri(name), "languageId": "markdown", "version": e.version, "text": text}})
}

// change gives a file a whole new text.
func (e *editor) change(name, text string) {
	e.t.Helper()
	e.edit(name, map[string]any{"text": text})
}

func (e *editor) edit(name string, changes ...map[string]any) {
	e.t.Helper()
	e.version++
	e.notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name), "version": e.version}, "contentChanges": changes})
}

func replace(fromLine, from, toLine, to int, text string) map[string]any {
	return map[string]any{"range": span{point{fromLine, from}, point{toLine, to}}, "text": text}
}

func (e *editor) close(name string) {
	e.t.Helper()
	e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}})
}

// shown waits for diagnostics of a file's newest version, or of the version given.
func (e *editor) shown(name string, version int) []diagnostic {
	e.t.Helper()
	var found []diagnostic
	e.wait(fmt.Sprintf("diagnostics of %s, version %d,", name, version), func() bool {
		for _, p := range e.pushed[e.uri(name)] {
			if p.Version == version {
				found = p.Diagnostics
				return true
			}
		}
		return false
	})
	return found
}

// latest gives what the editor shows of a file now.
func (e *editor) latest(name string) []diagnostic {
	all := e.pushed[e.uri(name)]
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1].Diagnostics
}

// until waits until what is shown of a file is as it should be.
func (e *editor) until(name, what string, ok func([]diagnostic) bool) {
	e.t.Helper()
	e.wait(what, func() bool { return len(e.pushed[e.uri(name)]) > 0 && ok(e.latest(name)) })
}

func codes(found []diagnostic) string {
	var all []string
	for _, d := range found {
		all = append(all, d.Code)
	}
	return strings.Join(all, " ")
}

func has(code string) func([]diagnostic) bool {
	return func(found []diagnostic) bool {
		for _, d := range found {
			if d.Code == code {
				return true
			}
		}
		return false
	}
}

func lacks(code string) func([]diagnostic) bool {
	return func(found []diagnostic) bool { return !has(code)(found) }
}
