package dream

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/text"
)

// roomFor says how an index that is applied gets short enough although merges wait that would
// make it so: details below entries move into topics, at once. Entries stay.
type roomFor struct {
	rule memdir.Rule
	// text gives a topic that the run did not change; ok is false where it may not be.
	text func(path string) (src string, ok bool)
	// order puts an index in order as it will be when a change was made; nil leaves it.
	order func(index string, now change.Change) string
}

// roomPercent is how much of what readers load an index takes at most when room was made,
// so that the next entry does not fill it again (see diagnostics/fixes).
const roomPercent = 95

// unitsFor makes the units for a policy. Where what deletes waits and the index is too long
// until it is decided, details of it move into topics at once.
func (s Setting) unitsFor(ctx context.Context, m *memory.Memory, r *result, policy proposal.Policy, units []proposal.Unit) ([]proposal.Unit, error) {
	if policy != proposal.HoldDeletions || r.without == nil || memdir.FillOf(r.without, s.rule()).Warning == "" {
		return units, nil
	}
	v, _, err := m.View(ctx)
	if err != nil {
		return nil, err
	}
	lib, err := gather(ctx, v, v.Exists)
	if err != nil {
		return nil, err
	}
	r.took, r.room = nil, &roomFor{rule: s.rule(),
		text: func(path string) (string, bool) {
			t := lib.by[path]
			if t == nil || t.pinned {
				return "", false
			}
			return t.base, true
		},
		order: func(index string, now change.Change) string {
			after, e := s.orderedFor(ctx, lib, index, now)
			err = errors.Join(err, e)
			return after
		}}
	units = r.units() // which may fail to put the index in order
	return units, err
}

// orderedFor gives an index with the most useful entries first, as the topics are when a
// change was made.
func (s Setting) orderedFor(ctx context.Context, lib *library, index string, now change.Change) (string, error) {
	p := &plan{texts: map[string]string{}, times: map[string]time.Time{}}
	for path, t := range lib.by {
		p.texts[path], p.times[path] = t.base, t.ModTime
	}
	at := s.Env.Time()
	for _, f := range now.Files {
		if after, stays, err := f.After(); err == nil && stays {
			delete(p.texts, f.Path)
			p.texts[f.Target()], p.times[f.Target()] = after, at
		}
	}
	p.texts[memfile.IndexName] = index
	if memdir.FillOf(memfile.ParseIndex(index), s.rule()).Percent < orderPercent {
		return index, nil
	}
	v, err := p.look(ctx)
	if err != nil {
		return index, err
	}
	will, err := gather(ctx, v, v.Exists)
	if err != nil {
		return index, err
	}
	return ordered(index, func(target string) int { return usefulness(will.by[target], at) }), nil
}

// Order in which topics take details of the index.
const (
	takesFree  = iota // nothing of it waits
	takesKept         // it waits with what it takes in
	takesGoing        // it goes if a person agrees; then another one has its details
)

// taker is a topic that may take the details below its entries.
type taker struct {
	path string
	how  int
	gain int // lines or bytes of the index, whichever it has too many of
}

// makeRoom moves details of an index, which is applied, into topics, until readers load all
// of it: each into the topic that it stands below. It gives the index. The files that take
// details have them afterwards, and those that wait stand on that.
func (r *result) makeRoom(without string, waits [][]*touchedFile, now *change.Change) string {
	x := memfile.ParseIndex(without)
	groups := map[string][]*touchedFile{}
	for _, g := range waits {
		for _, f := range g {
			groups[f.Path] = g
		}
	}
	for _, c := range r.takers(x, groups) {
		fill := memdir.FillOf(x, r.room.rule)
		if fill.Percent <= roomPercent || c.how == takesGoing && fill.Warning == "" {
			break
		}
		var parts []string
		var edits []text.Edit
		for _, e := range listed(x, c.path) {
			at := detailsOf(x, e)
			if at.Len() == 0 {
				continue
			}
			parts = append(parts, x.Text().Slice(at))
			edits = append(edits, text.Edit{Span: at})
		}
		after, ok := text.Apply(x.Text().String(), edits)
		if !ok || !r.take(c, parts, groups[c.path], now) {
			continue
		}
		x = memfile.ParseIndex(after)
	}
	if r.room.order == nil {
		return x.Text().String()
	}
	// Topics that took details are touched, which the next dream would order anew.
	return r.room.order(x.Text().String(), *now)
}

// takers gives the topics that may take details, best first.
func (r *result) takers(x *memfile.Index, groups map[string][]*touchedFile) (out []taker) {
	fill := memdir.FillOf(x, r.room.rule)
	gain := map[string]int{}
	var order []string
	for _, e := range x.Entries {
		details := x.Text().Slice(detailsOf(x, e))
		if !e.List || details == "" {
			continue
		}
		if gain[e.Target] == 0 {
			order = append(order, e.Target)
		}
		if fill.Lines > fill.MaxLines {
			gain[e.Target] += strings.Count(ended(details, "\n"), "\n") + 1
		} else {
			gain[e.Target] += len(details)
		}
	}
	for _, path := range order {
		if memdir.CheckTopicPath(path) != nil {
			continue
		}
		c := taker{path: path, gain: gain[path]}
		f := r.by[path]
		switch {
		case f == nil:
			if _, ok := r.room.text(path); !ok {
				continue
			}
		case memfile.Parse(f.before).Pinned() || f.Kind != change.Edit && f.Kind != change.Delete:
			continue
		case groups[f.Path] == nil:
		case f.stays:
			c.how = takesKept
		case keptOf(groups[f.Path]) == nil:
			continue
		default:
			c.how = takesGoing
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b taker) int {
		return cmp.Or(cmp.Compare(a.how, b.how), cmp.Compare(b.gain, a.gain))
	})
	return out
}

// keptOf gives the topic of a group that takes in those that go, nil where none does.
func keptOf(g []*touchedFile) *touchedFile {
	for _, f := range g {
		if f.stays && f.Kind == change.Edit {
			return f
		}
	}
	return nil
}

// take gives a topic details of the index, false where it cannot have them.
func (r *result) take(c taker, parts []string, g []*touchedFile, now *change.Change) bool {
	f := r.by[c.path]
	if f == nil {
		base, ok := r.room.text(c.path)
		if !ok {
			return false
		}
		after, ok := withDetails(base, c.path, parts)
		if !ok {
			return false
		}
		if file, differs := change.EditFile(c.path, base, change.Lines(base, after)); differs {
			now.Files = append(now.Files, file)
			r.tookDetails(c.path)
		}
		return true
	}
	if c.how == takesFree {
		after, ok := withDetails(f.after, c.path, parts)
		if !ok {
			return false
		}
		for i := range now.Files {
			if file, differs := change.EditFile(c.path, f.before, change.Lines(f.before, after)); differs && now.Files[i].Path == c.path {
				now.Files[i] = file
				r.tookDetails(c.path)
				return true
			}
		}
		return false
	}
	first, ok := withDetails(f.before, c.path, parts)
	if !ok {
		return false
	}
	keep := f
	if c.how == takesGoing {
		keep = keptOf(g)
	}
	if keep.later == "" {
		keep.later = keep.after
	}
	later, ok := withDetails(keep.later, keep.Path, parts)
	if !ok {
		return false
	}
	f.first, keep.later = first, later
	if file, differs := change.EditFile(c.path, f.before, change.Lines(f.before, first)); differs {
		now.Files = append(now.Files, file)
		r.tookDetails(c.path)
	}
	return true
}

// tookDetails says why a topic changed.
func (r *result) tookDetails(path string) {
	r.took = append(r.took, claim{Did: "corrected", Files: []string{path}, Why: whyDetails})
}

const whyDetails = "takes details that stood in the index"

// waitingFile gives the change of a file that waits: on the details that it took at once.
func (f *touchedFile) waitingFile() change.File {
	base := cmp.Or(f.first, f.before)
	switch {
	case f.first == "" && f.later == "":
		return f.File
	case !f.stays:
		return change.File{Path: f.Path, Kind: change.Delete, Base: base}
	}
	out, _ := change.EditFile(f.Path, base, change.Lines(base, cmp.Or(f.later, f.after)))
	return out
}

// withDetails gives a topic with lines that stood below its entry in the index; what it says
// already is not said twice. ok is false where it would not say all of them.
func withDetails(src, path string, parts []string) (string, bool) {
	if f := memfile.Parse(src); f.Front != nil && !f.Front.Closed {
		return "", false
	}
	known := func(words string) bool {
		f := memfile.Parse(src)
		return says(folded(f.BodyText())+"\n"+folded(f.Value("description")), words)
	}
	var all []string
	for _, part := range parts {
		part = relinked(dedented(part), memfile.IndexName, path)
		list := blocks(part)
		if slices.ContainsFunc(list, func(b block) bool { return b.heading != "" }) {
			list = []block{{text: strings.TrimRight(part, " \t\r\n")}}
		}
		for _, b := range list {
			said := folded(b.text)
			all = append(all, said)
			if known(said) || b.item && known(folded(strings.TrimLeft(b.text, "-*+ "))) {
				all[len(all)-1] = folded(strings.TrimLeft(b.text, "-*+ "))
				if !known(all[len(all)-1]) {
					all[len(all)-1] = said
				}
				continue
			}
			b.heading = "## " + detailsHeading
			src = insertBlock(src, b, memfile.Parse(src).Text.EOL())
		}
	}
	for _, words := range all {
		if !known(words) {
			return "", false
		}
	}
	return src, true
}

// dedented takes away what all lines of a text are indented by.
func dedented(s string) string {
	least := -1
	for l := range strings.Lines(s) {
		if n := len(l) - len(strings.TrimLeft(l, " \t")); strings.TrimSpace(l) != "" && (least < 0 || n < least) {
			least = n
		}
	}
	var b strings.Builder
	for l := range strings.Lines(s) {
		if len(l) > least && least > 0 && strings.TrimSpace(l) != "" {
			l = l[least:]
		}
		b.WriteString(strings.TrimRight(l, "\r\n") + "\n")
	}
	return b.String()
}
