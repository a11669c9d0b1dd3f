package agentmem

import (
	"slices"
	"strings"

	"mem/core/change"
)

// Choice is what somebody decides about news of the team.
type Choice string

// The choices. Each but Skip also takes what does not conflict.
const (
	TakeTheirs Choice = "theirs" // in a conflict the team's text; deletions are made
	TakeMine   Choice = "mine"   // in a conflict the text here; what the team deleted stays
	TakeBoth   Choice = "both"   // in a conflict one text below the other
	// Skip takes nothing of this version: it stays out here and stays in the snapshot, and is
	// not offered again before the team changes it again.
	Skip Choice = "skip"
)

// Wish is one decision: about a topic, or a part of it as a Conflict names it.
type Wish struct {
	Path   string `json:"path"`           // of the topic, here or in the snapshot; "*" is all
	Part   string `json:"part,omitempty"` // "" is the whole file
	Choice Choice `json:"choice"`
}

// wishes answers what was decided about an item or a part.
type wishes struct {
	list  []Wish
	apply bool // take all that neither conflicts nor deletes
	exact bool // what nobody decided stays as it is, though it conflicts with nothing
	// noted says that nothing is written here: only what lies on disk already, and what was
	// decided to stay, is had in common from then on.
	noted bool
}

// follows tells whether the entry of a topic goes the way of the topic: where somebody
// decided about that, or all is taken.
func (w wishes) follows(names ...string) bool {
	return !w.exact || w.file(names...) != "" || !w.noted && w.anyPart(names...)
}

func (w wishes) file(names ...string) Choice {
	for _, v := range w.list {
		if v.Part != "" {
			continue
		}
		for _, n := range names {
			if v.Path == n {
				return v.Choice
			}
		}
	}
	for _, v := range w.list {
		if v.Path == "*" && v.Part == "" {
			return v.Choice
		}
	}
	return ""
}

// wanted tells whether a topic that was skipped is asked for by its name after all.
func (w wishes) wanted(f fileState, names ...string) bool {
	if f.Seen == nil {
		return false
	}
	for _, v := range w.list {
		if v.Part == "" && (v.Choice == TakeTheirs || v.Choice == TakeBoth) && slices.Contains(names, v.Path) {
			return true
		}
	}
	return false
}

func (w wishes) part(p change.Part, names ...string) Choice {
	for _, v := range w.list {
		for _, n := range names {
			if v.Path == n && v.Part != "" && (v.Part == p.Name || v.Part == p.Key) {
				return v.Choice
			}
		}
	}
	return ""
}

// anyPart tells whether a part of the file was decided.
func (w wishes) anyPart(names ...string) bool {
	for _, v := range w.list {
		for _, n := range names {
			if v.Path == n && v.Part != "" {
				return true
			}
		}
	}
	return false
}

// Conflict is what both sides changed differently: a part of a topic, or a whole one that
// one side deleted.
type Conflict struct {
	change.Conflict
	// Whole says that it is about the whole topic; Part says in words what happened.
	Whole bool `json:"whole,omitempty"`
}

// outcome is what becomes of one item when the team's news are taken.
type outcome struct {
	it     *item
	team   string // what the team did: added, changed, removed, renamed; "" nothing new
	path   string // where it stands afterwards, "" where it is gone
	text   string
	kept   bool // nothing changes here; text is not given
	open   []Conflict
	waits  bool // news that conflict with nothing and were not taken
	state  fileState
	moved  bool // the state is kept under the team's path from now on
	settle bool // nothing of the team is open
	// entry says whose entry goes with a topic that one side deleted and that stays.
	entry change.Choice
}

// side gives the text of a version of an item and whether it is there.
func (a *analysis) side(t *tree, p string) (string, bool, error) {
	if p == "" || t.files[p] == nil {
		return "", false, nil
	}
	s, err := t.text(p)
	return s, true, err
}

// unread tells whether a topic is here and could not be read.
func (a *analysis) unread(it *item) bool {
	return it.mine == "" && (a.mine.unread(it.base) || a.mine.unread(it.theirs)) || a.mine.unread(it.mine)
}

// known gives a text of the state; one that is lost counts as unknown, which makes what
// differs a conflict rather than somebody's deletion.
func (a *analysis) known(sum string) string {
	s, ok := a.state.text(a.st, sum)
	if !ok {
		a.notes = append(a.notes, "A text that this memory and the snapshot had in common is gone from the state; what differs there is shown as a conflict.")
	}
	return s
}

// keep notes a text for the state and gives its hash.
func (a *analysis) keep(s string, exists bool) string {
	if !exists {
		return none
	}
	sum := sumOf(s)
	a.st.texts[sum] = s
	return sum
}

// pullItem decides about one topic.
func (a *analysis) pullItem(it *item, w wishes) (*outcome, error) {
	f := a.st.Files[it.base]
	if it.base == "" {
		f = fileState{}
	}
	if w.wanted(f, it.names()...) {
		f.Seen = nil
	}
	o := &outcome{it: it, state: f, kept: true, settle: true}
	theirSum, mineSum := a.theirs.sum(it.theirs), a.mine.sum(it.mine)
	if a.unread(it) { // it stays as it is, on both sides
		if theirSum != f.seen() {
			o.team, o.waits, o.settle = "changed", true, false
		}
		return o, nil
	}
	switch {
	case theirSum == mineSum && it.theirs == it.mine:
		o.state, o.moved, o.path = fileState{Base: theirSum}, true, it.mine
		return o, nil
	case theirSum == f.seen() && (it.theirs == it.base || it.theirs == "" || it.theirs == it.mine):
		o.path = it.mine
		return o, nil
	}
	mine, here, err := a.side(a.mine, it.mine)
	if err != nil {
		return nil, err
	}
	o.text, o.path = mine, it.mine
	theirs, there, err := a.side(a.theirs, it.theirs)
	if err != nil {
		return nil, err
	}
	wish := w.file(it.names()...)
	o.team = "changed"
	switch {
	case !there:
		o.team = "removed"
	case f.seen() == none || (!here && f.Base == none):
		o.team = "added"
	case it.theirs != it.base:
		o.team = "renamed"
	}
	theirSum = a.keep(theirs, there)
	o.kept = wish == Skip
	if wish == Skip {
		o.state.Seen = &theirSum
		if f.Base == theirSum {
			o.state.Seen = nil
		}
		return o, nil
	}
	unchanged := mineSum == f.seen()
	switch {
	case !there && unchanged: // they deleted it
		switch wish {
		case TakeTheirs:
			o.path, o.text, o.state = "", "", fileState{}
		case TakeMine, TakeBoth:
			o.state, o.entry = fileState{}, change.Ours
		default:
			o.waits, o.settle = true, false
		}
		return o, nil
	case !there || (!here && f.seen() != none && f.Base != none): // one side deleted, the other changed
		switch wish {
		case TakeTheirs:
			o.path, o.text, o.entry = it.theirs, theirs, change.Theirs
		case TakeMine, TakeBoth:
			o.entry = change.Ours
		default:
			words := "the team removed the topic, and it was changed here"
			if there {
				words = "the topic was removed here, and the team changed it"
			}
			o.open = append(o.open, Conflict{Conflict: change.Conflict{Path: it.path(), Part: words, Base: a.known(f.seen()), Ours: mine, Theirs: theirs}, Whole: true})
			o.settle = false
			return o, nil
		}
		o.state, o.moved = fileState{Base: theirSum}, true
		return o, nil
	case !here: // they added it
		if !w.apply && wish == "" {
			o.waits, o.settle = true, false
			return o, nil
		}
		o.path, o.text, o.state, o.moved = it.theirs, theirs, fileState{Base: theirSum}, true
		return o, nil
	}
	return o, a.mergeTexts(o, w, wish, mine, theirs)
}

// mergeTexts joins two texts of a topic.
func (a *analysis) mergeTexts(o *outcome, w wishes, wish Choice, mine, theirs string) error {
	it, f := o.it, o.state
	from := f.seen()
	if wish == TakeTheirs && f.Seen != nil {
		from, f.Seen = f.Base, nil // it is wanted after all
	}
	base := a.known(from)
	held := map[string]bool{}
	merged, open := change.Resolve(it.path(), base, mine, theirs, func(p change.Part) change.Decision {
		part := w.part(p, it.names()...)
		if w.exact && part == "" && wish == "" && !p.Conflict {
			taken := strings.TrimRight(p.Ours, "\n") == strings.TrimRight(p.Theirs, "\n") // but for the blank lines behind it
			held[p.Name] = held[p.Name] || p.Theirs != p.Base && !taken
			return change.Decision{Choice: change.Ours}
		}
		return decide(p, part, wish)
	})
	path := it.mine
	if it.theirs != it.base && it.mine == it.base && it.theirs != "" {
		path = it.theirs
	}
	if w.exact && wish == "" {
		path = it.mine // a name is no part
	}
	nothing := merged == mine && path == it.mine && len(open) == 0
	if nothing {
		o.team = "" // it is here already
	}
	if !nothing && !w.apply && !w.exact && wish == "" && !w.anyPart(it.names()...) {
		o.waits, o.settle = true, false
		for _, c := range open {
			o.open = append(o.open, Conflict{Conflict: c})
		}
		return nil
	}
	for _, c := range open {
		o.open = append(o.open, Conflict{Conflict: c})
		held[c.Part] = true
	}
	if w.exact && wish == "" && !w.anyPart(it.names()...) {
		merged = mine // the order of the parts too
	}
	o.path, o.text = path, merged
	if w.noted && wish == "" && it.theirs != it.mine && it.theirs != it.base {
		o.settle = false // their name waits
	}
	now, some := theirs, false
	for _, h := range held {
		some = some || h
	}
	if some {
		o.settle = false
		now = normal(change.Advance(it.path(), base, theirs, func(p change.Part) bool { return !held[p.Name] }))
	}
	if w.noted && wish == "" && !w.anyPart(it.names()...) && !sameNews(it.path(), base, now, mine, theirs) {
		now, some, o.settle = base, true, false
	}
	sum := a.keep(now, now != "" || from != none)
	if f.Seen != nil {
		o.state.Seen = &sum
		if f.Base == sum {
			o.state.Seen = nil
		}
		return nil
	}
	o.state = fileState{Base: sum}
	o.moved = !some && (path == it.theirs || it.theirs == it.base)
	return nil
}

// sameNews tells whether a later common text leaves the news of the team what they were
// with an earlier one: what nobody has taken must not pass for taken, the order of the
// parts included, which is no part.
func sameNews(path, base, later, mine, theirs string) bool {
	if later == base {
		return true
	}
	want, open := change.Resolve(path, base, mine, theirs, nil)
	got, left := change.Resolve(path, later, mine, theirs, nil)
	return normal(got) == normal(want) && len(left) == len(open)
}

// decide turns what somebody wished into what becomes of a part.
func decide(p change.Part, part, file Choice) change.Decision {
	if part == "" && p.Conflict {
		part = file
	}
	switch part {
	case TakeTheirs:
		return change.Decision{Choice: change.Theirs}
	case TakeMine:
		return change.Decision{Choice: change.Ours}
	case TakeBoth:
		return change.Decision{Choice: change.Both}
	}
	return change.Decision{}
}
