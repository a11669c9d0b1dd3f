package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mem/core/memory"
	"mem/diagnostics"
)

// checked is the answer of memory_check.
type checked struct {
	Directory string         `json:"directory"`
	Files     int            `json:"files"`
	Counts    map[string]int `json:"counts"`
	wrong
	Unread   []memory.Unread `json:"unread"`
	Failures []string        `json:"failures"`
	memory.Notice
}

func memoryCheck() spec {
	return spec{
		name:  "memory_check",
		title: "Check memory",
		description: "Looks for what is wrong with a memory: an index that is cut, broken links, topics that nothing links, missing or wrong frontmatter, " +
			"relative dates, secrets, text that commands its reader, and more. Each finding says how it is mended; memory_fix does it.",
		in: schema{
			opt("topic", str("Only this file: path or name of a topic, or MEMORY.md.")),
			opt("rules", list("Only these rules.", str(""))),
			opt("severity", choice("Only findings at least this severe; hint unless given.", "hint", "information", "warning", "error")),
			opt("secrets", boolean("Search for secrets too, which takes longer; true unless given.")),
			storeArg(),
		},
		out: schema{
			req("directory", str("Where the paths lie.")), req("files", integer("Looked at.")),
			req("counts", raw(`{"type":"object","description":"Findings by severity.","additionalProperties":{"type":"integer"}}`)),
			req("unread", list("Files that no rule could look at.", schema{req("path", str("")), req("message", str(""))}.nested(""))),
			req("failures", list("Rules that broke down.", str(""))),
		}.with(append(wrongSchema("By file and place; the worst first where not all are listed."), notice()...)...),
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Topic    string   `json:"topic"`
			Rules    []string `json:"rules"`
			Severity string   `json:"severity"`
			Secrets  *bool    `json:"secrets"`
		}) (answer, error) {
			dir, err := m.directory()
			if err != nil {
				return answer{}, err
			}
			if err := knownRules(dir.Engine, a.Rules); err != nil {
				return answer{}, err
			}
			scope := diagnostics.Scope{Late: a.Secrets == nil || *a.Secrets}
			if a.Topic != "" {
				p, err := m.Resolve(ctx, a.Topic)
				if err != nil {
					return answer{}, err
				}
				scope.Paths = []string{p}
			}
			least := diagnostics.Hint
			if a.Severity != "" {
				if least, err = diagnostics.ParseSeverity(a.Severity); err != nil {
					return answer{}, err
				}
			}
			s, err := dir.Snapshot(ctx, nil)
			if err != nil {
				return answer{}, err
			}
			r, err := dir.Engine.Check(ctx, s, scope)
			if err != nil {
				return answer{}, err
			}
			all := slices.DeleteFunc(r.Findings, func(f diagnostics.Finding) bool {
				return f.Severity < least || len(a.Rules) > 0 && !slices.Contains(a.Rules, f.Rule)
			})
			out := checked{Directory: m.Location.Directory, Files: r.Files, Counts: map[string]int{}, wrong: listed(dir.Engine, all, maxChecked), Failures: []string{}}
			for _, f := range all {
				out.Counts[f.Severity.String()]++
			}
			out.Unread = memory.FewUnread(r.Unread)
			for _, f := range r.Failures[:min(len(r.Failures), 5)] {
				out.Failures = append(out.Failures, memory.Fit(f.Error(), maxFound))
			}
			out.Note(dir.Warnings...)
			out.Note(m.Off())
			return answer{out, out.words()}, nil
		}),
	}
}

func (c checked) words() string {
	head := counted(c.Files, "file") + " looked at, nothing found."
	if n := len(c.Findings) + c.More; n > 0 {
		var parts []string
		for _, s := range []string{"error", "warning", "information", "hint"} {
			if c.Counts[s] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", c.Counts[s], s))
			}
		}
		head = fmt.Sprintf("%s looked at, %s: %s.", counted(c.Files, "file"), counted(n, "finding"), strings.Join(parts, ", "))
	}
	var rest []string
	for _, u := range c.Unread {
		rest = append(rest, "Not read: "+u.Path+" "+u.Message)
	}
	for _, f := range c.Failures {
		rest = append(rest, "Broke down: "+f)
	}
	return words(head, c.wrong.words(), words(rest...), noticeWords(c.Notice))
}

// knownRules says which of some names is no rule.
func knownRules(e *diagnostics.Engine, names []string) error {
	for _, n := range names {
		if e.Rule(n) == nil {
			var all []string
			for _, r := range e.Rules {
				all = append(all, r.ID)
			}
			return fmt.Errorf("there is no rule %q; the rules are %s", n, strings.Join(all, ", "))
		}
	}
	return nil
}
