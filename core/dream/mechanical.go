package dream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/proposal"
)

// MechanicalOptions says how the mechanical part works.
type MechanicalOptions struct {
	Fixer Fixer // nil runs no rules
	Now   time.Time
	// Rule is what readers load of the index.
	Rule memdir.Rule
	// Limits are those within which the View was read.
	Limits memdir.Limits
	// Declined says that somebody discarded just this before; nil says that of nothing.
	Declined func(proposal.Unit) bool
	// Undone says that an earlier dream did this and somebody took it back; nil says that of
	// nothing.
	Undone func(proposal.Unit) bool
	// Most is how many units each list has at most, 0 for what a proposal may have. The next
	// dream makes the others.
	Most int
}

// Outcome is what the mechanical part came to. Nothing is written.
type Outcome struct {
	// Apply lists what loses no word. Its units stand on the memory as it is, and none on
	// another.
	Apply []proposal.Unit
	// Copies lists topics that go since others say the same word for word, and Propose what a
	// person has to decide. Their units stand on what Apply leaves, and none on another.
	Copies, Propose []proposal.Unit
	Report          *Report
}

// maxProblems is how many files are named that could not be read.
const maxProblems = 20

// Rules of diagnostics that the mechanical part has turns of its own for.
const (
	ruleOrphan    = "orphan-topic"
	ruleTooLong   = "index-too-long"
	ruleTooLarge  = "index-too-large"
	ruleNearLimit = "index-near-limit"
)

// Mechanical consolidates what a View shows without any model: safe fixes, copies merged,
// what is nearly the same and what leads nowhere proposed, topics without an entry indexed,
// the index put in order and cut to what readers load by moving details into topics.
//
// Topics that are pinned, and everything that is no topic and not the index, stay as they
// are: daily logs need a model to be distilled.
func Mechanical(ctx context.Context, v *memdir.View, o MechanicalOptions) (*Outcome, error) {
	lib, err := gather(ctx, v, v.Exists)
	if err != nil {
		return nil, err
	}
	p := &plan{library: lib, disk: map[string]string{}, times: map[string]time.Time{}, owner: map[string]*part{}, limits: o.Limits, most: o.Most, declined: o.Declined, undone: o.Undone,
		report: &Report{Engine: "none", Before: memdir.FillOf(v.Index, o.Rule), Notes: lib.notes}}
	if p.most <= 0 {
		p.most = proposal.MaxUnits
	}
	p.out = &Outcome{Report: p.report}
	if v.Index.Exists {
		p.disk[memfile.IndexName] = v.Index.Text().String()
	}
	for path, t := range lib.by {
		p.disk[path], p.times[path] = t.base, t.ModTime
	}
	p.texts = maps.Clone(p.disk)
	why, err := p.fix(ctx, o)
	if err != nil {
		return nil, err
	}
	for i, x := range v.Problems {
		if i == maxProblems {
			p.report.Notes = append(p.report.Notes, fmt.Sprintf("%d more files were not read.", len(v.Problems)-i))
			break
		}
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("Not read: %s %s", memdir.ShownName(x.Path), memdir.Shown(x.Message, maxItemText)))
	}
	if n := len(v.Logs); n > 0 {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s: distilling them needs a model, so they were left alone.", number(n, "daily log")))
	}
	index, err := p.index(ctx, o, v.LinkedOnly)
	if err != nil {
		return nil, err
	}
	p.apply(index, why)
	if err := p.again(ctx, v.Exists); err != nil {
		return nil, err
	}
	p.copies()
	if err := p.similar(ctx); err != nil {
		return nil, err
	}
	p.deadLinks()
	p.rest()
	p.report.bound()
	return p.out, nil
}

// again looks at the memory as the units so far leave it.
func (p *plan) again(ctx context.Context, exists func(string) bool) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	p.library, err = gather(ctx, v, exists)
	return err
}

func (p *plan) pinned(path string) bool { t := p.by[path]; return t != nil && t.pinned }

// fix makes the safe fixes of all rules but those that the index has turns of its own
// for, and gives the reasons by file.
func (p *plan) fix(ctx context.Context, o MechanicalOptions) (why map[string][]string, err error) {
	why = map[string][]string{}
	if o.Fixer == nil {
		p.report.Notes = append(p.report.Notes, "No rules were run: there is no fixer.")
		return why, nil
	}
	m, err := o.Fixer.Mend(ctx, p.view, MendOptions{Skip: []string{ruleOrphan, ruleTooLong, ruleTooLarge, ruleNearLimit}, Accept: p.keepsPinned})
	if err != nil {
		return nil, err
	}
	more := 0
	for _, f := range m.Change.Files {
		if after, exists, err := f.After(); err == nil && exists && f.Kind == change.Edit {
			if len(why) == p.most-1 && f.Path != memfile.IndexName { // the index has one of its own
				more++
				continue
			}
			p.texts[f.Path] = after
			why[f.Path] = []string{}
		}
	}
	if more > 0 {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s to mend are left for the next dream: one does %d.", number(more, "more topic"), p.most-1))
	}
	for _, x := range m.Made {
		if _, ok := why[x.Path]; ok {
			why[x.Path] = append(why[x.Path], memdir.Shown(x.Words, maxItemText))
		}
	}
	p.refused(m.Refused)
	p.judge(m.Left)
	return why, nil
}

// refused reports what rules would mend and may not, pinned topics aside.
func (p *plan) refused(list []Mend) {
	for _, x := range list {
		if x.Path != memfile.IndexName && !p.pinned(x.Path) {
			p.report.Left = append(p.report.Left, Item{What: fmt.Sprintf("%s:%d", memdir.ShownName(x.Path), x.Line), Why: memdir.Shown(x.Words, maxItemText)})
		}
	}
}

// judge reports what needs a model or a person.
func (p *plan) judge(left []Mend) {
	for _, x := range left {
		switch x.Rule {
		case "conflict-markers", "instruction-text", "hidden-character", "secret", "relative-date", "topic-stale", "instruction-overlap", "name-duplicate":
			p.report.Left = append(p.report.Left, Item{What: fmt.Sprintf("%s:%d", memdir.ShownName(x.Path), x.Line), Why: x.Words})
		}
	}
}

var errPinned = errors.New("the topic is pinned")

// keepsPinned refuses what changes a pinned topic or takes its entry out, and what changes
// a file whose name mem does not write: it would be refused later, dream after dream.
func (p *plan) keepsPinned(c change.Change) error {
	for _, f := range c.Files {
		if f.Path != memfile.IndexName {
			if p.pinned(f.Path) {
				return errPinned
			}
			if err := memdir.CheckTopicPath(f.Path); err != nil {
				return err
			}
			continue
		}
		after, _, err := f.After()
		if err != nil {
			return err
		}
		var x, was *memfile.Index
		for path, t := range p.by {
			if !t.pinned {
				continue
			}
			if x == nil {
				x, was = memfile.ParseIndex(after), memfile.ParseIndex(f.Base)
			}
			if x.Entry(path) == nil && was.Entry(path) != nil {
				return errPinned
			}
		}
	}
	return nil
}

// copies plans to merge topics that say the same, word for word: the text of the one that
// goes is in the one that stays.
func (p *plan) copies() {
	groups := map[string][]*topic{}
	var keys []string
	for _, path := range p.order {
		key := folded(ownWords(p.by[path].file))
		if key == "" {
			continue
		}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], p.by[path])
	}
	for _, key := range keys {
		group := groups[key]
		slices.SortStableFunc(group, prefer)
		for _, drop := range group[1:] {
			keep := group[0]
			if drop.pinned || !sameAbout(keep, drop) {
				continue // similar decides
			}
			p.merge(keep, drop, "its text stands word for word in "+memdir.ShownName(keep.Path), true)
		}
	}
}

// sameAbout reports whether what two topics with one text say of themselves is the same,
// or said by one only.
func sameAbout(a, b *topic) bool {
	x, y := a.file.Meta(), b.file.Meta()
	same := func(p, q string) bool { return p == "" || q == "" || folded(p) == folded(q) }
	return same(x.Type, y.Type) && same(x.Description, y.Description)
}

// prefer orders two topics of which one stays: pinned, with an entry, more linked, longer,
// the path as a last resort.
func prefer(a, b *topic) int {
	yes := func(x bool) int {
		if x {
			return 1
		}
		return 0
	}
	for _, by := range [][2]int{
		{yes(a.pinned), yes(b.pinned)}, {min(a.entries, 1), min(b.entries, 1)},
		{len(a.linkedBy), len(b.linkedBy)}, {len(a.file.BodyText()), len(b.file.BodyText())}, {len(b.Path), len(a.Path)},
	} {
		if by[0] != by[1] {
			return by[1] - by[0]
		}
	}
	return strings.Compare(a.Path, b.Path)
}

// rest makes units of what waits.
func (p *plan) rest() {
	more, declined := 0, 0
	for _, o := range p.parts {
		if len(p.out.Copies)+len(p.out.Propose) >= p.most {
			more++
			continue
		}
		u, ok := p.unit(o, p.texts)
		if !ok {
			continue
		}
		if p.declined != nil && p.declined(u) {
			declined++
			continue
		}
		if !o.copies || p.undone != nil && p.undone(u) { // what somebody took back, a person decides
			p.out.Propose = append(p.out.Propose, u)
			p.report.Proposed = append(p.report.Proposed, o.items...)
			continue
		}
		p.out.Copies = append(p.out.Copies, u)
		p.report.Merged = append(p.report.Merged, o.items...)
		for _, path := range slices.Sorted(maps.Keys(o.drop)) {
			p.report.Dropped = append(p.report.Dropped, Item{What: memdir.ShownName(path), Why: "a copy"})
		}
	}
	if more > 0 {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s are left for the next dream: one makes %d.", number(more, "more proposal"), p.most))
	}
	if declined > 0 {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s that somebody discarded before: not made again, as long as the texts are the same.", number(declined, "proposal")))
	}
	if p.takenBack > 0 {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s that an earlier dream did and somebody undid: not done again, as long as the texts are the same.", number(p.takenBack, "part")))
	}
	if p.wiki > 0 {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s in double brackets mean no topic; they may be wishes, and were left alone.", number(p.wiki, "name")))
	}
}
