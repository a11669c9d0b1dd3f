package diagnostics

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"mem/core/memdir"
)

// Engine runs a set of rules and makes their fixes. It is safe for concurrent use.
type Engine struct {
	Rules []Rule // in the order in which they are documented
	Fixes []Fix
	// Allowed reports whether the user's own configuration allows what a safety
	// rule found, by its fingerprint; nil allows nothing.
	Allowed func(fingerprint string) bool
}

// Rule gives the rule of that name, nil when there is none.
func (e *Engine) Rule(id string) *Rule {
	if i := slices.IndexFunc(e.Rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return &e.Rules[i]
	}
	return nil
}

func (e *Engine) isLate(id string) bool {
	r := e.Rule(id)
	return r != nil && r.Late
}

// Fix gives the fix of that name, nil when there is none.
func (e *Engine) Fix(id string) *Fix {
	if i := slices.IndexFunc(e.Fixes, func(f Fix) bool { return f.ID == id }); i >= 0 {
		return &e.Fixes[i]
	}
	return nil
}

// Scope says what is checked.
type Scope struct {
	// Paths are the files whose findings are wanted; nil means all.
	Paths []string
	// Late says to run the late rules too.
	Late bool
}

// Result is what a check found.
type Result struct {
	Findings []Finding // by path and place
	// Failures are rules that broke down or could not look at something: their
	// silence about it is no praise.
	Failures []Failure
	// Unread are files that no rule could look at.
	Unread []memdir.Problem
	Files  int // looked at
}

// Failure is a rule that did not do its work.
type Failure struct {
	Rule string
	Path string // "" for the whole directory
	Err  error
}

func (f Failure) Error() string {
	if f.Path == "" {
		return fmt.Sprintf("rule %s: %v", f.Rule, f.Err)
	}
	return fmt.Sprintf("rule %s on %s: %v", f.Rule, memdir.ShownName(f.Path), f.Err)
}

// maxCheckers bounds how many files are looked at a time.
const maxCheckers = 8

// maxBeside is how many changed files are looked at while the rules for the whole
// memory run: both take equally long after a key was pressed. Of more files these
// rules would want to know what is found in them only then.
const maxBeside = 2

// Check runs the rules. It fails only when ctx ends. Of what a rule finds in one file
// it gives maxFindings.
func (e *Engine) Check(ctx context.Context, s *Snapshot, scope Scope) (*Result, error) {
	r, err := e.check(ctx, s, scope)
	if err != nil {
		return nil, err
	}
	r.bound()
	return r, nil
}

// maxFindings is how many findings of one rule in one file are told. Nobody reads
// more, and an editor that gets them all stands still.
const maxFindings = 1000

// bound drops what is over maxFindings. The last one that is told says how many there
// are, and matters as much as the worst of them.
func (r *Result) bound() {
	type source struct{ rule, path string }
	count, last := map[source]int{}, map[source]int{}
	kept := r.Findings[:0]
	for _, f := range r.Findings {
		from := source{f.Rule, f.Path}
		if count[from]++; count[from] <= maxFindings {
			last[from] = len(kept)
			kept = append(kept, f)
			continue
		}
		l := &kept[last[from]]
		l.Severity = max(l.Severity, f.Severity)
	}
	clear(r.Findings[len(kept):])
	r.Findings = kept
	for from, n := range count {
		more := n - maxFindings
		if more > 0 {
			kept[last[from]].More = more
		}
		switch {
		case more == 1:
			kept[last[from]].Message += " And 1 more finding of this rule in this file."
		case more > 1:
			kept[last[from]].Message += fmt.Sprintf(" And %d more findings of this rule in this file.", more)
		}
	}
}

// check is Check without a bound.
func (e *Engine) check(ctx context.Context, s *Snapshot, scope Scope) (*Result, error) {
	s.cache.servedBy(e)
	paths := scope.Paths
	if paths == nil {
		paths = s.Paths()
	}
	entries := make([]*entry, len(paths))
	unread := make([]error, len(paths))
	var changed []int // those that were not looked at as they are now
	for i, p := range paths {
		if id, _, ok := s.identity(p); ok {
			if entries[i] = s.kept(p, id, s.wanted(scope.Late)); entries[i] == nil {
				changed = append(changed, i)
			}
		}
	}
	var next atomic.Int64
	work := func() {
		for k := int(next.Add(1)) - 1; k < len(changed) && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
			i := changed[k]
			entries[i], unread[i] = e.checkFile(ctx, s, paths[i], scope.Late)
		}
	}
	var whole []outcome
	var others sync.WaitGroup
	if len(changed) <= maxBeside {
		others.Go(work)
		whole = e.checkMemory(ctx, s, scope.Late)
	} else {
		for range min(runtime.GOMAXPROCS(0), maxCheckers, 1+len(changed)/16) - 1 {
			others.Go(work)
		}
		work()
		others.Wait()
		whole = e.checkMemory(ctx, s, scope.Late) // with what was found in each file at hand
	}
	others.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r := &Result{Unread: slices.Clone(s.View.Problems)}
	byPath := map[string]*entry{}
	for i, p := range paths {
		switch {
		case unread[i] != nil:
			r.Unread = append(r.Unread, memdir.Problem{Path: p, Message: unread[i].Error()})
		case entries[i] != nil:
			r.Files++
			byPath[p] = entries[i]
		}
	}
	found := map[string][]Finding{}
	for p, en := range byPath {
		found[p] = slices.Clone(en.found)
		failed := en.failed
		if en.checked.late && !scope.Late {
			found[p] = slices.DeleteFunc(found[p], func(f Finding) bool { return e.isLate(f.Rule) })
			failed = slices.DeleteFunc(slices.Clone(failed), func(f Failure) bool { return e.isLate(f.Rule) })
		}
		r.Failures = append(r.Failures, failed...)
	}
	for _, o := range whole {
		r.Failures = append(r.Failures, o.failed...)
		for _, f := range o.found {
			if byPath[f.Path] != nil || scope.Paths == nil || slices.Contains(paths, f.Path) {
				found[f.Path] = append(found[f.Path], f)
			}
		}
	}
	failed := map[[2]string]bool{} // rules that did not do their work, with the path
	for _, f := range r.Failures {
		failed[[2]string{f.Rule, f.Path}] = true
	}
	for p, fs := range found {
		ran := func(id string) bool {
			rule := e.Rule(id)
			return rule != nil && (rule.File != nil || rule.Memory != nil) && (!rule.Late || scope.Late) &&
				s.Config.severity(rule, rule.Severity) != Off && !failed[[2]string{id, p}] && !failed[[2]string{id, ""}]
		}
		kept, fail := e.obey(ctx, s, p, byPath[p], fs, ran)
		r.Findings = append(r.Findings, kept...)
		r.Failures = append(r.Failures, fail...)
	}
	e.order(r)
	s.cache.prune(s)
	return r, nil
}

// outcome is what one rule found, in the whole memory.
type outcome struct {
	found  []Finding
	failed []Failure
}

// checkMemory runs the rules that look at the whole memory, until ctx ends.
func (e *Engine) checkMemory(ctx context.Context, s *Snapshot, late bool) (all []outcome) {
	for i := range e.Rules {
		rule := &e.Rules[i]
		if rule.Memory == nil || rule.Late && !late || s.Config.severity(rule, rule.Severity) == Off {
			continue
		}
		found, failed := run(s.pass(ctx, rule, nil), rule.Memory)
		if ctx.Err() != nil {
			return nil
		}
		all = append(all, outcome{found, failed})
	}
	return all
}

// checkFile runs the rules that look at one file, or gives what they found when
// it was the same. It gives nil for a path that is no file of the memory.
func (e *Engine) checkFile(ctx context.Context, s *Snapshot, p string, late bool) (*entry, error) {
	id, kind, ok := s.identity(p)
	if !ok {
		return nil, nil
	}
	want := s.wanted(late)
	if kept := s.kept(p, id, want); kept != nil {
		return kept, nil
	}
	d, err := s.read(p)
	if err != nil {
		return nil, err
	}
	en := factsOf(id, d)
	en.checked = want
	pass := new(Pass) // of each rule in turn
	for i := range e.Rules {
		rule := &e.Rules[i]
		if rule.File == nil || rule.Late && !late || !slices.Contains(rule.Kinds, kind) || s.Config.severity(rule, rule.Severity) == Off {
			continue
		}
		*pass = Pass{Snapshot: s, Context: ctx, Doc: d, rule: rule}
		fs, fail := run(pass, rule.File)
		en.found = append(en.found, fs...)
		en.failed = append(en.failed, fail...)
	}
	if ctx.Err() != nil { // a rule may have ended early
		return nil, ctx.Err()
	}
	s.cache.mu.Lock()
	s.cache.entries[p] = en
	s.cache.mu.Unlock()
	return en, nil
}

// Found gives what the rules that look at one file find in it, the late ones aside,
// and nothing silences: for those who must know of one file before they say something
// of another. A file that cannot be read has none, nor has one before the first check.
func (s *Snapshot) Found(ctx context.Context, p string) []Finding {
	s.cache.mu.Lock()
	e := s.cache.engine
	s.cache.mu.Unlock()
	if e == nil {
		return nil
	}
	en, err := e.checkFile(ctx, s, p, false)
	if err != nil || en == nil || len(en.found) == 0 {
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(en.found), func(f Finding) bool { return e.isLate(f.Rule) })
	found, _ = e.obey(ctx, s, p, en, found, func(string) bool { return false })
	return found
}

// run calls a rule; one that breaks down is reported, and the rest goes on.
func run(p *Pass, rule func(*Pass)) (found []Finding, failed []Failure) {
	where := ""
	if p.Doc != nil {
		where = p.Doc.Path
	}
	defer func() {
		if r := recover(); r != nil {
			failed = append(failed, Failure{p.rule.ID, where, fmt.Errorf("it broke down: %v; please report this with: %s", r, frames())})
		}
	}()
	rule(p)
	if p.failed != nil {
		failed = append(failed, Failure{p.rule.ID, where, p.failed})
	}
	return p.found, failed
}

func frames() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	return strings.Join(lines[:min(len(lines), 14)], " | ")
}

// obey takes out what comments and the user's configuration silence, and lets the
// rules about comments look at the rest.
func (e *Engine) obey(ctx context.Context, s *Snapshot, p string, en *entry, found []Finding, ran func(string) bool) ([]Finding, []Failure) {
	var comments []Ignore
	if en != nil {
		comments = slices.Clone(en.ignores)
	}
	silence := silencersOf(comments)
	kept := slices.DeleteFunc(found, func(f Finding) bool {
		if r := e.Rule(f.Rule); r != nil && r.Safety {
			return f.Fingerprint != "" && e.Allowed != nil && e.Allowed(f.Fingerprint)
		}
		return silence.by(f)
	})
	if len(comments) == 0 {
		return kept, nil
	}
	d, err := s.Doc(p)
	if err != nil {
		return kept, []Failure{{"unused-ignore", p, err}}
	}
	var failed []Failure
	for i := range e.Rules {
		rule := &e.Rules[i]
		if rule.Ignores == nil || s.Config.severity(rule, rule.Severity) == Off {
			continue
		}
		look := s.pass(ctx, rule, d)
		look.engine, look.ran = e, ran
		fs, fail := run(look, func(p *Pass) { rule.Ignores(p, comments) })
		kept = append(kept, fs...)
		failed = append(failed, fail...)
	}
	return kept, failed
}

// order sorts what was found by path, place and the order of the rules.
func (e *Engine) order(r *Result) {
	rank := map[string]int{}
	for i, rule := range e.Rules {
		rank[rule.ID] = i
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End),
			cmp.Compare(rank[a.Rule], rank[b.Rule]), cmp.Compare(a.Message, b.Message))
	})
	slices.SortStableFunc(r.Failures, func(a, b Failure) int {
		return cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(rank[a.Rule], rank[b.Rule]))
	})
	for i := range r.Findings { // messages quote what files hold
		if m := &r.Findings[i].Message; !utf8.ValidString(*m) {
			*m = strings.ToValidUTF8(*m, "\uFFFD")
		}
	}
}

// comparePaths puts the index first.
func comparePaths(a, b string) int {
	index := func(p string) int {
		if p == indexName {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(index(a), index(b)), cmp.Compare(a, b))
}
