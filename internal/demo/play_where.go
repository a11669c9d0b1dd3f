package demo

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// playWhere finds the memory of the project from two checkouts and keeps the
// demo away from any directory outside of its scratch.
func playWhere(s *stage) {
	s.say("A scratch project is a git checkout with a linked worktree; its own settings try to move memory elsewhere.")
	var main, linked whereResult
	s.run(s.scratch.project, &main, "where", "--json")
	s.back("%s\nchosen by rule %q: %s", main.Directory, main.Rule, main.Why)
	s.check(main.Memory.On && below(main.Directory, s.scratch.home),
		"memory is on and lies in the scratch home: nothing of yours is touched", main)
	s.check(main.Rule == "default", "the rule is the client's default, not the checkout's wish", main.Rule)
	refused := false
	for _, k := range main.Skipped {
		if k.Candidate == s.scratch.outside {
			refused = k.Rule == "setting" && k.Reason != ""
			s.back("skipped %s\n%s", k.Candidate, k.Reason)
		}
	}
	s.check(refused, "the checkout may not move memory, and the result says so", main.Skipped)

	s.run(s.scratch.linked, &linked, "where", "--json")
	s.check(linked.Directory == main.Directory, "the linked worktree shares the same memory", linked.Directory)
	s.memory = main.Directory

	p := s.attach("server", s.scratch.project)
	var status struct {
		Directory string `json:"directory"`
		Exists    bool   `json:"exists"`
	}
	s.resource(p, "memory://auto/status", &status)
	s.check(status.Directory == main.Directory, "the server, over MCP, names the same directory", status)
	s.check(!status.Exists, "looking has created nothing: the directory does not exist yet", status)
	s.leave(p)
}

func below(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && rel != "." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resource reads a resource that holds JSON.
func (s *stage) resource(p *process, uri string, into any) {
	if s.err != nil {
		return
	}
	s.print.sent(p.label + ": resources/read  " + uri)
	text, err := p.resource(s.ctx, uri)
	if err != nil {
		s.fail(err)
		return
	}
	s.note(&Call{To: p.label, Name: "resources/read", Arguments: map[string]any{"uri": uri}, Result: json.RawMessage(text)})
	if err := json.Unmarshal([]byte(text), into); err != nil {
		s.fail(fmt.Errorf("reading %s: %w", uri, err))
	}
}
