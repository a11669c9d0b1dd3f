package dream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
)

// similar proposes to merge topics that say nearly the same.
func (p *plan) similar(ctx context.Context) error {
	var paths []string
	var sets [][]uint64
	for _, path := range p.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := p.by[path].file
		if set := shingles(f.Value("description") + "\n\n" + ownWords(f)); len(set) > 0 {
			paths, sets = append(paths, path), append(sets, set)
		}
	}
	into, gone := map[string]bool{}, map[string]bool{} // topics that take another in, and that go
	for _, o := range p.parts {
		for path := range o.drop {
			gone[path] = true
		}
	}
	for _, x := range near(sets) {
		keep, drop := p.by[paths[x.a]], p.by[paths[x.b]]
		if prefer(drop, keep) < 0 {
			keep, drop = drop, keep
		}
		// One that takes in another does not go itself: the next dream looks at what became
		// of both.
		if gone[keep.Path] || gone[drop.Path] || into[drop.Path] || different(keep, drop) {
			continue
		}
		words := fmt.Sprintf("%d %% of the phrases of the shorter one stand in the other", int(x.contained*100))
		if newer := later(keep, drop); newer != nil {
			words += fmt.Sprintf("; %s was written later", memdir.ShownName(newer.Path))
		}
		if nums := numbersApart(ownWords(keep.file), ownWords(drop.file)); nums != "" {
			words += "; they differ in " + nums + ", so one of them may be out of date"
		}
		if p.merge(keep, drop, words, false) {
			into[keep.Path], gone[drop.Path] = true, true
		}
	}
	return nil
}

// detailsHeading is what details of the index stand below, see diagnostics/fixes.
const detailsHeading = "Details from the index"

// ownWords gives the body of a topic without what came to it from the index: two topics
// with one text stay near, whatever their entries said.
func ownWords(f *memfile.File) string {
	for _, h := range f.Outline().Headings {
		if h.Text == detailsHeading {
			src := f.Text.String()
			return src[f.Body.Start:h.Section.Start] + src[h.Section.End:f.Body.End]
		}
	}
	return f.BodyText()
}

// different reports whether two topics say that they are of different kinds: what a person
// prefers and what a project does are two memories, however they are put.
func different(a, b *topic) bool {
	x, y := a.file.Meta().Type, b.file.Meta().Type
	return x != "" && y != "" && x != y
}

// later gives the topic that was written at least a day after the other.
func later(a, b *topic) *topic {
	switch d := a.touched().Sub(b.touched()); {
	case d >= 24*time.Hour:
		return a
	case d <= -24*time.Hour:
		return b
	}
	return nil
}

// entryWords gives what the entries of a topic say of it, folded: title and summary.
func (p *plan) entryWords(path string) [][2]string {
	x := p.parsed(p.texts[memfile.IndexName])
	if p.said == nil {
		p.said = map[string][][2]string{}
		for _, e := range x.Entries {
			if e.List {
				p.said[e.Target] = append(p.said[e.Target], [2]string{folded(e.Title), folded(e.Summary)})
			}
		}
	}
	return p.said[path]
}

// newWords gives what the entries of drop say that neither the text that takes it in nor
// the entries of that one do. A title that is the name of what goes says nothing.
func (p *plan) newWords(keep, drop *topic, text string) (out []string) {
	known := folded(text)
	for _, e := range p.entryWords(keep.Path) {
		known += "\n" + e[0] + "\n" + e[1]
	}
	for _, e := range p.entryWords(drop.Path) {
		title, summary := e[0], e[1]
		if f := memdir.Fold(title); f == memdir.Fold(drop.Name()) || f == memdir.Fold(memdir.Stem(drop.Path)) || says(known, title) {
			title = ""
		}
		if says(known, summary) {
			summary = ""
		}
		words := strings.Trim(title+" — "+summary, " —")
		if words != "" && !says(known, words) {
			out, known = append(out, words), known+"\n"+words
		}
	}
	return out
}

// detailsBelow gives the lines below the entries of a topic: what goes with an entry.
func (p *plan) detailsBelow(path string) (out []string) {
	x := p.parsed(p.texts[memfile.IndexName])
	for _, e := range listed(x, path) {
		if at := detailsOf(x, e); at.Len() > 0 {
			out = append(out, x.Text().Slice(at))
		}
	}
	return out
}

// merge plans that one topic takes in another, with every link that leads to it. same says
// that the two say the same word for word.
func (p *plan) merge(keep, drop *topic, why string, same bool) bool {
	name := memdir.ShownName
	refuse := func(reason string) bool {
		p.report.Left = append(p.report.Left, Item{What: fmt.Sprintf("%s and %s", name(keep.Path), name(drop.Path)),
			Why: why + ", but they were not merged: " + reason, Sources: []string{keep.Path, drop.Path}})
		return false
	}
	if drop.pinned {
		return refuse(name(drop.Path) + " is pinned")
	}
	for _, path := range []string{keep.Path, drop.Path} {
		if memdir.CheckTopicPath(path) != nil {
			return refuse(fmt.Sprintf("mem does not write a file named %s", name(path)))
		}
	}
	keepText, ok1 := p.text(keep.Path)
	dropText, ok2 := p.text(drop.Path)
	if !ok1 || !ok2 {
		return false
	}
	m, err := mergeTopics(keep.Path, keepText, drop.Path, dropText)
	if err != nil {
		return refuse(err.Error())
	}
	if after, ok := follow(keep.Path, m.text, p.library, drop, keep); ok {
		m.text = after
	}
	if drop.entries > 0 && keep.entries > 0 {
		for _, words := range p.newWords(keep, drop, m.text) {
			m.text = insertBlock(m.text, block{heading: "## " + detailsHeading, text: relinked(words, memfile.IndexName, keep.Path)}, memfile.Parse(m.text).Text.EOL())
			m.added = append(m.added, words)
		}
		details := p.detailsBelow(drop.Path)
		after, ok := withDetails(m.text, keep.Path, details)
		if !ok {
			return refuse(fmt.Sprintf("%s cannot take the details below the entry of %s", name(keep.Path), name(drop.Path)))
		}
		if after != m.text {
			m.added = append(m.added, details...)
		}
		m.text = after
	}
	if keep.pinned && m.text != keepText {
		return refuse(name(keep.Path) + " is pinned, and lacks a part of it")
	}
	moved := map[string]string{}
	for _, from := range slices.Sorted(maps.Keys(drop.linkedBy)) {
		now, ok := p.text(from)
		if from == keep.Path || !ok {
			continue
		}
		after, ok := follow(from, now, p.library, drop, keep)
		switch {
		case !ok:
			continue
		case p.pinned(from):
			return refuse(fmt.Sprintf("%s links it and is pinned", name(from)))
		case memdir.CheckTopicPath(from) != nil:
			return refuse(fmt.Sprintf("%s links it and has a name that mem does not write", name(from)))
		}
		moved[from] = after
	}
	title := fmt.Sprintf("Merge %s into %s", name(drop.Path), name(keep.Path))
	o := p.propose(title, append(slices.Sorted(maps.Keys(moved)), keep.Path, drop.Path)...)
	o.copies = o.copies && same
	o.now[keep.Path] = m.text
	maps.Copy(o.now, moved)
	o.drop[drop.Path] = true
	switch {
	case drop.entries > 0 && keep.entries > 0:
		o.entries = append(o.entries, drop.Path)
	case drop.entries > 0:
		o.retarget[drop.Path] = keep.Path
	}
	reason := fmt.Sprintf("%s says what %s says: %s.", name(drop.Path), name(keep.Path), why)
	if n := len(m.added); n > 0 {
		reason += fmt.Sprintf(" %s that only %s had: taken over.", number(n, "part"), name(drop.Path))
	}
	if n := len(moved); n > 0 {
		reason += fmt.Sprintf(" Links to it in %s follow.", number(n, "topic"))
	}
	o.reasons = append(o.reasons, reason)
	o.sources = append(o.sources, keep.Path, drop.Path)
	o.items = append(o.items, Item{What: fmt.Sprintf("%s into %s", name(drop.Path), name(keep.Path)), Why: why, Sources: []string{drop.Path}})
	return true
}
