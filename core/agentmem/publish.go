package agentmem

import (
	"context"
	"fmt"
	"maps"
	"sort"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
)

// published is what becomes of one file of the snapshot.
type published struct {
	it     *item
	path   string // in the snapshot, "" where it is gone
	text   string
	same   bool // nothing changes in the snapshot
	action string
	state  fileState
	set    bool // the state changes
}

// Publish brings what is new in this memory into the snapshot, merged with news that the
// snapshot has and this memory does not. It never takes those back. snapshot.json is
// written last; until then readers see a snapshot that is not what it says.
func (s *Shared) Publish(ctx context.Context, opt PublishOptions) (*Published, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	a, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	var shape []Problem
	for _, p := range a.problems {
		if p.Kind == ProblemShape {
			shape = append(shape, p)
		}
	}
	if len(shape) > 0 {
		return nil, &InvalidError{Agent: s.Agent, Snapshot: s.Snapshot, Problems: shape}
	}
	if err := a.wholeStore(); err != nil {
		return nil, err
	}
	if len(a.mine.files) == 0 {
		return nil, a.emptyStore(ctx)
	}
	p := &publishing{analysis: a, opt: opt, hold: map[string]bool{}, allowed: map[string]bool{}}
	if err := p.checkNote(); err != nil {
		return nil, err
	}
	if err := p.plan(); err != nil {
		return nil, err
	}
	return p.finish(ctx)
}

// emptyStore says why an empty memory is not published, and what there is to do.
func (a *analysis) emptyStore(ctx context.Context) error {
	if a.theirs.exists {
		return fmt.Errorf("the memory of %s in %s is empty: there is nothing to publish, and publishing would empty the snapshot; pull first: mem-mcp snapshot pull %s", a.Agent, a.Store, a.Agent)
	}
	return fmt.Errorf("the memory of %s in %s is empty and there is no snapshot of it: there is nothing to publish. Write a memory first: mem-mcp --store agent/%s/project write. %s", a.Agent, a.Store, a.Agent, whoIsThere(ctx, a.m.Location.Project))
}

type publishing struct {
	*analysis
	opt     PublishOptions
	hold    map[string]bool // topics that stay as they are in the snapshot
	allowed map[string]bool
	held    []Held
	let     []Held // through
	all     []*published
}

// plan decides about all files. Holding a topic back changes what the index says, so what
// is held is found first.
func (p *publishing) plan() error {
	for _, item := range p.opt.Allow {
		p.allowed[item] = true
	}
	only := map[string]bool{}
	for _, n := range p.opt.Only {
		only[n] = true
	}
	known := map[string]bool{memfile.IndexName: true}
	for _, it := range p.items {
		for _, n := range it.names() {
			known[n] = true
		}
		if len(only) > 0 && !meant(only, it) || p.unread(it) {
			p.holdItem(it)
		}
	}
	for n := range only {
		if !known[n] {
			return fmt.Errorf("there is no topic %s here or in the snapshot", memdir.ShownName(n))
		}
	}
	for path := range p.private {
		h := Held{Item: path + ":user-topic", Path: path, Kind: "user-topic", Reason: "it is a memory about a person (type user)"}
		if p.hold[path] {
			continue
		}
		if p.allowed[h.Item] || p.allowed[path] {
			p.let = append(p.let, h)
			continue
		}
		p.held, p.hold[path] = append(p.held, h), true
	}
	p.holdCollisions()
	var conflicts []Conflict
	for _, it := range p.items {
		o, open, err := p.topic(it)
		if err != nil {
			return err
		}
		conflicts = append(conflicts, open...)
		if o != nil && !o.same && o.path != "" && p.check(o) {
			p.holdItem(it)
			o = nil
		}
		if o == nil {
			if o, err = p.asItIs(it); err != nil {
				return err
			}
		}
		p.all = append(p.all, o)
	}
	x, open, err := p.index()
	if err != nil {
		return err
	}
	if conflicts = append(conflicts, open...); len(conflicts) > 0 {
		return &PullFirstError{Agent: p.Agent, Conflicts: conflicts}
	}
	if !x.same && p.check(x) {
		return fmt.Errorf("the index would publish what has to be held back: line %d, %s. Nothing was published. Change that line", p.held[len(p.held)-1].Line, p.held[len(p.held)-1].Reason)
	}
	p.all = append(p.all, x)
	return nil
}

func meant(only map[string]bool, it *item) bool {
	for _, n := range it.names() {
		if only[n] {
			return true
		}
	}
	return false
}

// leave keeps a topic as it is in the snapshot, and tells why.
func (p *publishing) leave(it *item, why string) {
	p.holdItem(it)
	p.notes = append(p.notes, fmt.Sprintf("%s stays as it is in the snapshot: %s. To publish the text here, decide first: mem-mcp snapshot pull %s --take both:%s (or theirs).", memdir.ShownName(it.path()), why, p.Agent, memdir.ShownName(it.path())))
}

func (p *publishing) holdItem(it *item) {
	for _, n := range it.names() {
		p.hold[n] = true
	}
}

// asItIs leaves a topic of the snapshot alone.
func (p *publishing) asItIs(it *item) (*published, error) {
	o := &published{it: it, path: it.theirs, same: true}
	if p.theirs.files[it.theirs] == nil {
		o.path = ""
	}
	return o, nil
}

// topic decides about one topic.
func (p *publishing) topic(it *item) (*published, []Conflict, error) {
	f := fileState{}
	if it.base != "" {
		f = p.st.Files[it.base]
	}
	mineSum, theirSum := p.mine.sum(it.mine), p.theirs.sum(it.theirs)
	if p.hold[it.mine] && it.mine != "" || p.hold[it.base] && it.base != "" || p.hold[it.theirs] && it.theirs != "" {
		return nil, nil, nil
	}
	switch {
	case mineSum == theirSum && it.mine == it.theirs:
		o, err := p.asItIs(it)
		o.state, o.set = fileState{Base: mineSum}, true
		return o, nil, err
	case mineSum == f.Base && (it.mine == it.base || mineSum == none):
		return nil, nil, nil
	}
	mine, here, err := p.side(p.mine, it.mine)
	if err != nil {
		return nil, nil, err
	}
	theirs, there, err := p.side(p.theirs, it.theirs)
	if err != nil {
		return nil, nil, err
	}
	o := &published{it: it, set: true}
	whole := func(words string) []Conflict {
		return []Conflict{{Conflict: change.Conflict{Path: it.path(), Part: words, Base: p.known(f.Base), Ours: mine, Theirs: theirs}, Whole: true}}
	}
	skipped := f.Seen != nil && theirSum == *f.Seen
	switch {
	case !here && theirSum == f.Base && it.theirs == it.base:
		o.action = "removed"
		return o, nil, nil
	case skipped && (!here || !there && f.Base != none):
		p.leave(it, "what the team did to it was skipped")
		return nil, nil, nil
	case !here:
		return o, whole("the topic was removed here, and the team changed it"), nil
	case !there && f.Base != none:
		return o, whole("the team removed the topic, and it was changed here"), nil
	case !there:
		o.path, o.text, o.action, o.state = it.mine, mine, "added", fileState{Base: p.keep(mine, true)}
		return o, nil, nil
	}
	merged, open := change.Resolve(it.path(), p.known(f.Base), mine, theirs, nil)
	if len(open) > 0 && skipped {
		p.leave(it, "the team's text of it was skipped, and it conflicts with the text here")
		return nil, nil, nil
	}
	if len(open) > 0 {
		var all []Conflict
		for _, c := range open {
			all = append(all, Conflict{Conflict: c})
		}
		return o, all, nil
	}
	o.path, o.text, o.action = it.theirs, normal(merged), "changed"
	if it.mine != it.base && it.base != "" {
		o.path, o.action = it.mine, "renamed"
	}
	if o.path == it.theirs {
		o.same, o.action = o.text == theirs, "changed"
	}
	// What is here is an ancestor of both sides now: the next pull brings what is only there.
	o.state = fileState{Base: p.keep(mine, true)}
	if f.Seen != nil && theirSum == *f.Seen {
		sum := p.keep(o.text, true)
		o.state.Seen = &sum
	}
	return o, nil, nil
}

// finish shows what would be written, or writes it.
func (p *publishing) finish(ctx context.Context) (*Published, error) {
	out := &Published{Agent: p.Agent, Snapshot: p.Snapshot, DryRun: !p.opt.Confirm, Files: []PublishedFile{}, Held: []Held{}}
	repair := false
	for _, q := range p.problems {
		repair = repair || q.Kind == ProblemManifest
		p.notes = append(p.notes, "The snapshot as it is: "+q.String()+".")
	}
	c := change.Change{Title: "Publish"}
	for _, o := range p.all {
		if o.same {
			continue
		}
		f := PublishedFile{Path: o.path, Action: o.action}
		before, _, err := p.side(p.theirs, o.it.theirs)
		if err != nil {
			return nil, err
		}
		switch {
		case o.path == "":
			f.Path = o.it.theirs
			c.Files = append(c.Files, change.File{Path: f.Path, Kind: change.Delete, Base: before})
		case o.it.theirs == "" || p.theirs.files[o.it.theirs] == nil:
			c.Files = append(c.Files, change.File{Path: o.path, Kind: change.Create, New: o.text})
		default:
			if o.path != o.it.theirs {
				f.From = o.it.theirs
			}
			c.Files = append(c.Files, change.File{Path: o.path, Kind: change.Edit, Base: before, Edits: diff(before, o.text)})
		}
		out.Files = append(out.Files, f)
	}
	sort.Slice(out.Files, func(i, j int) bool { return out.Files[i].Path < out.Files[j].Path })
	sort.Slice(p.held, func(i, j int) bool { return p.held[i].Item < p.held[j].Item })
	out.Held = append(out.Held, p.held...)
	if n := len(out.Held); n > maxFiles {
		out.MoreHeld, out.Held = n-maxFiles, out.Held[:maxFiles]
	}
	write := len(out.Files) > 0 || repair
	if n := len(out.Files); n > maxFiles {
		out.MoreFiles, out.Files = n-maxFiles, out.Files[:maxFiles]
	}
	out.Notes = append(out.Notes, few(p.notes)...)
	out.Allowed = p.let
	if write {
		out.Plan = p.planOf()
	}
	if p.opt.Plan != "" && p.opt.Plan != out.Plan {
		return nil, &PlanError{Agent: p.Agent}
	}
	if !p.opt.Confirm {
		out.Diff = p.m.Diff(c)
		return out, nil
	}
	if write {
		at, err := p.write(ctx)
		if err != nil {
			return nil, err
		}
		out.UpdatedAt = at.Format(time.RFC3339)
	}
	if err := p.settle(); err != nil {
		if !write {
			return nil, fmt.Errorf("there was nothing to publish, and what this memory and the snapshot have in common could not be noted: %w", err)
		}
		return nil, fmt.Errorf("the snapshot was published, but that could not be noted here, so it may be offered again: %w", err)
	}
	return out, nil
}

// planOf names what would be written: the paths and texts of all files, and the note.
func (p *publishing) planOf() string {
	var parts []string
	for _, o := range p.all {
		if !o.same {
			parts = append(parts, o.it.theirs+"\x00"+o.path+"\x00"+sumOf(o.text))
		}
	}
	sort.Strings(parts)
	return sumOf(strings.Join(parts, "\n") + "\n" + p.opt.Note)
}

func few(notes []string) []string {
	var out []string
	for _, n := range notes {
		if len(out) == maxNotes {
			return append(out, "and more")
		}
		out = append(out, memdir.Shown(n, 500))
	}
	return out
}

// settle notes what both sides have in common now.
func (p *publishing) settle() error {
	st := &settling{analysis: p.analysis, files: maps.Clone(p.st.stored)}
	defer st.close()
	for _, o := range p.all {
		if !o.set {
			continue
		}
		delete(st.files, o.it.base)
		key := o.path
		if key == "" || o.state.Base == none && o.state.Seen == nil {
			continue
		}
		shared := sumOf(o.text)
		if o.same {
			text, ok, err := p.side(p.theirs, o.it.theirs)
			if err != nil {
				return err
			}
			if ok {
				p.keep(text, true)
			}
			shared = p.theirs.sum(o.it.theirs)
		}
		st.files[key] = st.now(o.it, o.state, shared, o.same && o.it.mine == o.it.theirs)
	}
	p.st.Files = st.files
	p.st.Last = nil // what was pulled went to the team, or did not differ
	return p.saveState(true)
}
