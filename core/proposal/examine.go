package proposal

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// verdict is how a unit stands to the memory as it is.
type verdict struct {
	done      bool // every file is as the unit wants it
	conflicts []change.Conflict
	refused   string // it may not be made at all
}

func (v verdict) fits() bool { return len(v.conflicts) == 0 && v.refused == "" }

// note says why a unit waits, with both texts where there are two.
func (v verdict) note() string {
	if v.refused != "" {
		return v.refused
	}
	var b strings.Builder
	for i, c := range v.conflicts {
		if i == 3 {
			fmt.Fprintf(&b, "\n… and %d more conflicts", len(v.conflicts)-i)
			break
		}
		fmt.Fprintf(&b, "conflict in %s, %s: somebody else changed it meanwhile.\n--- proposed\n%s\n--- there now\n%s\n",
			memdir.ShownName(c.Path), memdir.Shown(c.Part, memdir.MaxShown), part(c.Ours), part(c.Theirs))
	}
	return strings.TrimSpace(b.String())
}

// part bounds one text of a conflict.
func part(s string) string {
	const most = 800
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// examine compares a unit with the memory as it is.
func (p *Proposals) examine(u Unit) verdict {
	v := verdict{done: true}
	for _, f := range u.Change.Files {
		p.examineFile(f, &v)
	}
	return v
}

func (p *Proposals) examineFile(f change.File, v *verdict) {
	refuse := func(err error) {
		v.done = false
		if v.refused == "" {
			v.refused = err.Error()
		}
	}
	for _, path := range []string{f.Path, f.Target()} {
		if err := memdir.CheckPath(path); err != nil {
			refuse(err)
			return
		}
	}
	after, stays, err := f.After()
	if err != nil {
		refuse(err)
		return
	}
	now, exists, err := p.m.Current(f.Path)
	if err != nil {
		refuse(err)
		return
	}
	if exists && f.Path != memfile.IndexName && f.Kind != change.Create && memfile.Parse(now).Pinned() {
		refuse(fmt.Errorf("%s is pinned: a person wants it to stay as it is", memdir.ShownName(f.Path)))
		return
	}
	if f.Kind == change.Append {
		v.done = false // whether it was made, only the history can tell
		return
	}
	clash := func(part, theirs string) {
		v.done = false
		v.conflicts = append(v.conflicts, change.Conflict{Path: f.Path, Part: part, Base: f.Base, Ours: after, Theirs: theirs})
	}
	switch {
	case f.Kind == change.Create:
		if exists && now != after {
			clash("the whole file, which exists already", now)
		}
		v.done = v.done && exists
	case f.Kind == change.Rename:
		p.examineRename(f, after, now, exists, v, clash)
	case !stays:
		if exists && now != f.Base {
			clash("the whole file, which the proposal deletes", now)
		}
		v.done = v.done && !exists
	case !exists && (f.Path != memfile.IndexName || f.Base != ""):
		clash("the whole file, which is gone", "")
	default:
		merged, cs := change.Merge(f.Path, f.Base, after, now)
		v.conflicts = append(v.conflicts, cs...)
		v.done = v.done && len(cs) == 0 && merged == now
		if f.Path == memfile.IndexName {
			p.examineEntries(f.Base, after, refuse)
		}
	}
}

func (p *Proposals) examineRename(f change.File, after, now string, exists bool, v *verdict, clash func(part, theirs string)) {
	there, taken, err := p.m.Current(f.To)
	if err != nil {
		v.done, v.refused = false, err.Error()
		return
	}
	if !exists && taken && there == after {
		return // done
	}
	v.done = false
	switch {
	case taken && !strings.EqualFold(f.Path, f.To):
		clash("the new path, where a file exists already", there)
	case !exists:
		clash("the whole file, which is gone", "")
	default:
		_, cs := change.Merge(f.Path, f.Base, after, now)
		v.conflicts = append(v.conflicts, cs...)
	}
}

// examineEntries refuses to take the entries of pinned topics out of the index.
func (p *Proposals) examineEntries(base, after string, refuse func(error)) {
	for _, target := range lostEntries(base, after, nil) {
		if memdir.CheckTopicPath(target) != nil {
			continue
		}
		if now, exists, err := p.m.Current(target); err == nil && exists && memfile.Parse(now).Pinned() {
			refuse(fmt.Errorf("it takes the entry of %s out of the index, which is pinned", memdir.ShownName(target)))
		}
	}
}

// joined is what several units make of files together.
type joined struct {
	order []string
	files map[string]change.File
}

// join makes one change of units, which all are against the same base. A unit that does
// not go with those before it is left out, with the reason in clashes.
func join(units []*Unit) (c change.Change, taken []*Unit, clashes map[*Unit]verdict) {
	j := joined{files: map[string]change.File{}}
	clashes = map[*Unit]verdict{}
	units = slices.Clone(units)
	// What is about the index alone comes first: Split cuts it so that entries that are put
	// at the same place stand behind it.
	slices.SortStableFunc(units, func(a, b *Unit) int {
		switch x, y := a.is(memfile.IndexName), b.is(memfile.IndexName); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	for _, u := range units {
		next := map[string]change.File{}
		var v verdict
		for _, f := range u.Change.Files {
			before, there := j.files[f.Path]
			if !there {
				next[f.Path] = f
				continue
			}
			both, why := joinFiles(before, f)
			if why != "" {
				v.refused = fmt.Sprintf("it does not go with the other parts: %s %s. Apply it after them", memdir.ShownName(f.Path), why)
				break
			}
			next[f.Path] = both
		}
		if !v.fits() {
			clashes[u] = v
			continue
		}
		for _, f := range u.Change.Files {
			if _, there := j.files[f.Path]; !there {
				j.order = append(j.order, f.Path)
			}
			j.files[f.Path] = next[f.Path]
		}
		taken = append(taken, u)
	}
	for _, path := range j.order {
		c.Files = append(c.Files, j.files[path])
	}
	return c, taken, clashes
}

// joinFiles makes one of two changes of one file.
func joinFiles(a, b change.File) (out change.File, why string) {
	if a.Kind == change.Append && b.Kind == change.Append {
		a.New += b.New
		return a, ""
	}
	edits := []change.Kind{change.Edit, change.Rename}
	x, _, errA := a.After()
	y, _, errB := b.After()
	switch {
	case errA != nil || errB != nil:
		return a, "cannot be changed so"
	case a.Kind == b.Kind && !slices.Contains(edits, a.Kind) && x == y && a.Base == b.Base:
		return a, "" // the same twice
	case !slices.Contains(edits, a.Kind) || !slices.Contains(edits, b.Kind), a.Kind == change.Rename && b.Kind == change.Rename && a.To != b.To:
		return a, "is changed by two of them in ways that exclude each other"
	case a.Base != b.Base:
		return a, "is changed by two of them that began with different texts"
	}
	merged, fits := text.Apply(a.Base, append(slices.Clone(a.Edits), b.Edits...))
	var cs []change.Conflict
	if !fits || x == y {
		merged, cs = change.Merge(a.Path, a.Base, y, x)
	}
	if len(cs) > 0 {
		return a, "is changed by two of them in the same part, " + memdir.Shown(cs[0].Part, memdir.MaxShown)
	}
	out = change.File{Path: a.Path, Kind: change.Edit, Base: a.Base, Edits: append(slices.Clone(a.Edits), b.Edits...)}
	if !fits || x == y {
		out.Edits = change.Lines(a.Base, merged)
	}
	for _, f := range []change.File{a, b} {
		if f.Kind == change.Rename {
			out.Kind, out.To = change.Rename, f.To
		}
	}
	return out, ""
}
