package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func orphanTopic() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "orphan-topic",
		Severity: diagnostics.Warning,
		Summary:  "No link leads from the index to a topic.",
		Fixes:    []string{fixes.AddEntry},
		Evidence: []diagnostics.Evidence{
			{Claim: "20 % of the topics in 4,039 memory files of public repositories are linked by nothing", Source: "corpus", Checked: "2026-11-30"},
			{Claim: "the index goes into the system prompt of an agent with memory", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			v := p.View
			switch {
			case v.LinkedOnly, len(v.Topics) == 0:
			case unwritten(v.Index):
				reportNoIndex(p)
			case v.Index.Notebook():
				// Prose without a link, often all there is to know: one in five
				// real indexes.
			default:
				reportOrphans(p)
			}
		},
	}
}

// unwritten reports whether an index is missing, or has headings at most.
func unwritten(x *memfile.Index) bool {
	if !x.Exists {
		return true
	}
	if x.Text().Len() > 1<<10 {
		return false
	}
	for line := range strings.Lines(x.File.BodyText()) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// reportNoIndex says once what is true of every topic.
func reportNoIndex(p *diagnostics.Pass) {
	if p.View.IndexError != nil {
		return // it may name them all
	}
	var top []*memdir.Topic
	for _, t := range p.View.Topics {
		if !strings.Contains(t.Path, "/") {
			top = append(top, t)
		}
	}
	if len(top) == 0 {
		return // folders that nothing links are left alone, as they are beside an index
	}
	what := "is missing"
	if p.View.Index.Exists {
		what = "has no entry"
	}
	topics, add := "1 topic", "Add its entry."
	if len(top) > 1 {
		topics, add = fmt.Sprintf("%d topics", len(top)), "Add an entry for each."
	}
	f := diagnostics.Finding{Path: memfile.IndexName,
		Message: fmt.Sprintf("%s %s, so a session that starts here does not learn of the %s in this directory.", memfile.IndexName, what, topics)}
	held := 0
	for _, t := range top {
		if len(fixes.MendFirst(p.Context, p.Snapshot, t)) > 0 {
			held++
		}
	}
	fit := len(fixes.EntriesThatFit(p.Context, p.Snapshot, top))
	switch {
	case held > 0 && fit == 0:
		f.Message += " Mend what is wrong with them first; then add an entry for each."
	case held > 0 && fit+held == len(top):
		f.Message += fmt.Sprintf(" Add an entry for each, and mend what is wrong with %d of them before.", held)
	case fit == len(top):
		f.Message += " " + add
	case fit > 0:
		f.Message += fmt.Sprintf(" It has room for the entries of the %d that changed last.", fit)
	}
	if fit > 0 {
		f.Offers = []diagnostics.Offer{{Fix: fixes.AddEntry, Arg: ".", Title: "Add the entries of the topics"}}
	}
	if d, err := p.Snapshot.Doc(memfile.IndexName); err == nil {
		f.Text, f.Span = d.File.Text, d.FirstLine()
	}
	p.Report(f)
}

func reportOrphans(p *diagnostics.Pass) {
	reached := reachedFrom(p)
	if reached.topics == len(p.View.Topics) || p.Context.Err() != nil {
		return
	}
	var orphans []*memdir.Topic
	for _, t := range p.View.Topics {
		if !reached.files[t.Path] && reached.dirs[path.Dir(t.Path)] {
			orphans = append(orphans, t)
		}
	}
	if len(orphans) > 0 {
		meant := meantByIndex(p)
		orphans = slices.DeleteFunc(orphans, func(t *memdir.Topic) bool { return meant[t] })
	}
	fit := map[*memdir.Topic]bool{}
	for _, t := range fixes.EntriesThatFit(p.Context, p.Snapshot, orphans) {
		fit[t] = true
	}
	for _, t := range orphans {
		f := diagnostics.Finding{Path: t.Path, Message: fmt.Sprintf("No link leads from %s to this topic, so nobody who starts there finds it.", memfile.IndexName)}
		if fit[t] {
			f.Message += " Give it an entry, or link it from a topic that has one."
			f.Offers = []diagnostics.Offer{{Fix: fixes.AddEntry, Arg: t.Path, Title: "Add its entry to " + memfile.IndexName}}
		} else if !linkable(t) {
			f.Message += " Its file name can be in no link: rename it."
		} else if first := fixes.MendFirst(p.Context, p.Snapshot, t); len(first) > 0 {
			f.Message += fmt.Sprintf(" See what %s says of it first; then give it an entry.", strings.Join(first, " and "))
		} else {
			f.Message += " The index has no room for its entry: shorten that first, or link it from a topic that has one."
		}
		if d, err := p.Snapshot.Doc(t.Path); err == nil {
			f.Text, f.Span = d.File.Text, d.FirstLine()
		}
		p.Report(f)
	}
}

// meantByIndex gives the topics that a link of the index probably means that leads
// nowhere: another rule says so, and mending the link is better than a second entry.
func meantByIndex(p *diagnostics.Pass) map[*memdir.Topic]bool {
	d, err := p.Snapshot.Doc(memfile.IndexName)
	if err != nil {
		return nil
	}
	x := newTargets(p)
	meant := map[*memdir.Topic]bool{}
	for _, l := range p.Links(memfile.IndexName) {
		var near []*memdir.Topic
		if target := diagnostics.Target(memfile.IndexName, l); l.Wiki {
			if name, _ := wikiName(l); looksLikeName(l, name) && !x.knows(memfile.IndexName, l.Target, name) {
				near = x.nearest(name)
			}
		} else if target != "" && !leavesBy(target) && !x.exists(target) {
			near = x.nearFiles(d, target)
		}
		if len(near) > 0 {
			meant[near[0]] = true
		}
	}
	return meant
}

// reached is what chains of links from the index lead to.
type reached struct {
	files  map[string]bool
	dirs   map[string]bool // folders with a topic that is reached, and the top
	topics int             // how many of files are topics
}

// reachedFrom follows links, [[names]] included, breadth first. Most indexes link
// everything themselves; then no other file is looked at.
func reachedFrom(p *diagnostics.Pass) *reached {
	r := &reached{files: make(map[string]bool, 1+len(p.View.Topics)), dirs: map[string]bool{".": true}}
	r.files[memfile.IndexName] = true
	x := newTargets(p)
	queue := append(make([]string, 0, 1+len(p.View.Topics)), memfile.IndexName)
	visit := func(file string) {
		if !r.files[file] {
			r.files[file] = true
			queue = append(queue, file)
		}
	}
	reach := func(t *memdir.Topic) {
		if !r.files[t.Path] {
			r.topics++
			r.dirs[path.Dir(t.Path)] = true
		}
		visit(t.Path)
	}
	follow := func(target string) {
		if target == "" || leavesBy(target) || r.files[target] {
			return
		}
		if t := p.View.Topic(target); t != nil {
			reach(t)
		} else if in := x.below(target); len(in) > 0 { // a link to a folder is one to what it lists
			for _, t := range in {
				reach(t)
			}
		} else if t := x.topic(target); t != nil {
			reach(t)
		} else if isLog(target) {
			visit(target)
		}
	}
	for len(queue) > 0 && r.topics < len(p.View.Topics) && p.Context.Err() == nil {
		from := queue[0]
		queue = queue[1:]
		for _, l := range p.Links(from) {
			if l.Wiki {
				name, _ := wikiName(l)
				for _, t := range x.named(from, name) {
					reach(t)
				}
				continue
			}
			follow(diagnostics.Target(from, l))
		}
		for _, ref := range p.References(from) {
			follow(diagnostics.Target(from, ref.Link))
		}
	}
	return r
}
