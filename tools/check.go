package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/sessions"
	"mem/diagnostics"
	"mem/diagnostics/report"
	"mem/diagnostics/workspace"
)

// target is what a tool works on: a memory, what rules know of it, and the sessions
// of its project.
type target struct {
	*memory.Memory
	checks     *checks
	sessionsOf SessionsOf
	open       Opener // of other stores
	with       Options
}

func (t target) sessions() *sessions.Sessions { return t.sessionsOf(t.Memory) }

// maxKept is of how many memories checks keeps what rules know: an agent works with
// the project's and with its own.
const maxKept = 4

// checks keeps what tools know of memories between calls.
type checks struct {
	mu   sync.Mutex
	kept []checkedMemory // the one last used at the end

	several workspace.Several // for a look at all stores
	shelf   memory.Shelf      // for a search of all stores
}

type checkedMemory struct {
	of  *memory.Memory
	dir *workspace.Directory
}

// directory gives the memory's directory as rules look at it. Another memory takes
// the place of the one that was not used for longest; calls under way keep what they
// have.
func (t target) directory() (*workspace.Directory, error) {
	t.checks.mu.Lock()
	defer t.checks.mu.Unlock()
	kept := &t.checks.kept
	if i := slices.IndexFunc(*kept, func(k checkedMemory) bool { return k.of == t.Memory }); i >= 0 {
		k := (*kept)[i]
		*kept = append(slices.Delete(*kept, i, i+1), k)
		return k.dir, nil
	}
	dir, err := workspace.Open(t.Location.Directory, workspace.Options{Env: t.Env(), Project: t.Location.Project.Root, Origin: t.Origin(), Cache: t.Cache()})
	if err != nil {
		return nil, err
	}
	if len(*kept) == maxKept {
		*kept = slices.Delete(*kept, 0, 1)
	}
	*kept = append(*kept, checkedMemory{t.Memory, dir})
	return dir, nil
}

// Limits of what rules say in one result.
const (
	maxChecked     = 60     // findings a result of memory_check has
	maxAfter       = 12     // findings a result of a write has
	maxFound       = 400    // characters of one message
	maxOffers      = 4      // fixes of one finding
	maxFindingSize = 12_000 // characters of all together
)

// wrong is what rules find, as a part of a result.
type wrong struct {
	Findings []found `json:"findings"`
	// More counts findings that are not listed.
	More int `json:"moreFindings,omitempty"`
}

// found is one finding, with what an agent needs of it: the columns are for editors.
type found struct {
	Rule        string               `json:"rule"`
	Severity    diagnostics.Severity `json:"severity"`
	Path        string               `json:"path"`
	Line        int                  `json:"line"`
	Message     string               `json:"message"`
	Fixes       []report.Fix         `json:"fixes,omitempty"`
	Fingerprint string               `json:"fingerprint,omitempty"`
}

func findingList(doc string) raw {
	return list(doc, schema{
		req("rule", str("")), req("severity", choice("", "error", "warning", "information", "hint")),
		req("path", str("")), req("line", integer("From 1.")),
		req("message", str("What is wrong and what to do.")),
		opt("fixes", list("What memory_fix can do, best first.", schema{req("fix", str("")), req("title", str("")), req("safe", boolean(""))}.nested(""))),
		opt("fingerprint", str("Under which a person can allow it.")),
	}.nested(""))
}

func findingParts(doc string) raw {
	return parts("array", doc+" Each: rule, severity, path, line, message, fixes (fix, title, safe; best first), fingerprint (a person can allow it).")
}

func wrongSchema(doc string) schema {
	return schema{req("findings", findingList(doc)).tell(findingParts(doc)), opt("moreFindings", integer("Not listed."))}
}

// newState is what a write's result says of the files that it left.
func newState() schema {
	return wrongSchema("What is wrong with the files that were changed, as they are now.")
}

// listed bounds findings: the worst come first where not all fit.
func listed(e *diagnostics.Engine, all []diagnostics.Finding, most int) wrong {
	if len(all) > most {
		all = slices.Clone(all)
		slices.SortStableFunc(all, func(a, b diagnostics.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	}
	room := maxFindingSize
	w := wrong{Findings: []found{}}
	for i, f := range report.Findings(e, all[:min(len(all), most)], func(p string) string { return p }) {
		x := found{f.Rule, f.Severity, f.Path, f.Line, memdir.Shown(f.Message, maxFound), batchFixes(f.Fixes), f.Fingerprint}
		for i := range x.Fixes {
			x.Fixes[i].Title = memdir.Shown(x.Fixes[i].Title, maxFound)
		}
		if room -= memory.Size(x); room < 0 {
			w.More = len(all) - i
			return w
		}
		w.Findings = append(w.Findings, x)
	}
	w.More = len(all) - len(w.Findings)
	return w
}

// batchFixes gives the fixes that memory_fix makes, as many as are listed.
func batchFixes(all []report.Fix) []report.Fix {
	all = slices.DeleteFunc(slices.Clone(all), func(x report.Fix) bool { return x.Manual })
	return all[:min(len(all), maxOffers)]
}

func (w wrong) words() string {
	var lines []string
	for _, f := range w.Findings {
		l := fmt.Sprintf("%s:%d: %s %s: %s", memdir.ShownName(f.Path), f.Line, f.Severity, f.Rule, f.Message)
		for i, x := range f.Fixes {
			l += map[bool]string{true: " Fixes: ", false: ", "}[i == 0] + x.Fix
			if !x.Safe {
				l += " (unsafe)"
			}
		}
		lines = append(lines, l)
	}
	if w.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more findings", w.More))
	}
	return words(lines...)
}

// ahead is the check of what a call is about to write.
type ahead struct {
	*workspace.Ahead
	dir *workspace.Directory // nil where the memory cannot be looked at
	err error                // why
}

// ahead prepares the check of what a call is about to write. Whoever made it calls end.
func (t target) ahead(ctx context.Context) ahead {
	dir, err := t.directory()
	if err != nil {
		return ahead{err: err}
	}
	return ahead{Ahead: dir.Ahead(ctx), dir: dir}
}

// reading is ahead for a call that takes no whole look at the memory itself.
func (t target) reading(ctx context.Context) ahead {
	a := t.ahead(ctx)
	if a.dir != nil {
		a.Read()
	}
	return a
}

func (a ahead) end() {
	if a.dir != nil {
		a.Stop()
	}
}

// planned gives what is told of the change before it is durable.
func (a ahead) planned() memory.Planned {
	if a.dir == nil {
		return nil
	}
	return a.Expect
}

// newState gives what rules find in the files that a change left: all in its topics, of
// the index what is at least a warning or stands in the entries of these topics.
// What cannot be looked at is a note; the change stands.
func (t target) newState(a ahead, c *memory.Change) wrong {
	none := wrong{Findings: []found{}}
	paths, deleted := c.Paths()
	if c.ID == "" || len(paths) == 0 {
		return none
	}
	var s *diagnostics.Snapshot
	var r *diagnostics.Result
	err := a.err
	if err == nil {
		s, r, err = a.Check(c.Left, paths, deleted)
	}
	if err != nil {
		c.Note("The new state was not checked: " + err.Error())
		return none
	}
	for _, f := range r.Failures {
		c.Note("Not checked by " + f.Error())
	}
	mine := map[int]bool{} // lines of the index
	for _, e := range s.View.Index.Entries {
		mine[e.Line] = slices.Contains(paths, e.Target)
	}
	all := slices.DeleteFunc(r.Findings, func(f diagnostics.Finding) bool {
		return f.Path == memfile.IndexName && f.Severity < diagnostics.Warning && !mine[f.Text.LineAt(f.Span.Start)]
	})
	return listed(a.dir.Engine, all, maxAfter)
}
