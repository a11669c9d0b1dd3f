package transcript

import (
	"context"
	"path"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/store"
	"mem/core/text"
)

// UnionOptions says what memory is brought into which.
type UnionOptions struct {
	From, Into *memdir.View
	// Name tells where the memory came from, in the second name of a topic whose own one
	// another text has.
	Name  string
	Guard store.Scanner // what it finds stays behind, unless AllowSecrets
	// AllowSecrets lets secrets come along.
	AllowSecrets bool
}

// Union gives the change that brings one memory into another as Adopt does: topics
// by name, a second name where another text is there, entries behind those of the
// index, daily logs behind each other. Nothing that is there changes but the index and
// the logs, which get longer. It tells what becomes of each file. A union of what came
// before changes nothing.
func Union(ctx context.Context, o UnionOptions) ([]change.File, []Taken, error) {
	out := &Adopted{Files: []Taken{}}
	t := takeover{old: o.From, here: o.Into, name: o.Name, guard: o.Guard, allow: o.AllowSecrets,
		to: map[string]string{}, taken: map[string]bool{}, before: map[string]Arrived{}, came: map[string]Arrived{}, out: out, anyName: true}
	files, err := t.files(ctx)
	return files, out.Files, err
}

// arrivedBefore leaves out topics that came with an earlier union: their links followed
// topics that got a second name, so that they no longer are what they were. Topics may
// link each other in a circle, so all that may have come are taken to have, and then
// those are dropped of which that cannot be.
func (t *takeover) arrivedBefore(arrivals []arrival) []arrival {
	may := map[string][]string{} // old path → paths here that say the same but for links
	planned := map[string]string{}
	for _, a := range arrivals {
		if !a.renamed {
			continue
		}
		p := a.topic.Path
		stem, old := strings.TrimSuffix(p, path.Ext(p)), unlinked(a.body.File)
		for _, here := range t.here.Topics {
			if here.Path != p && !strings.HasPrefix(here.Path, stem+"-from-") {
				continue
			}
			if b, err := t.here.Load(here); err == nil && unlinked(b.File) == old {
				may[p] = append(may[p], here.Path)
			}
		}
		if len(may[p]) > 0 {
			planned[p], t.to[p] = t.to[p], may[p][0]
		}
	}
	for again := true; again; {
		again = false
		for _, a := range arrivals {
			p := a.topic.Path
			if len(may[p]) == 0 {
				continue
			}
			to := may[p][0]
			content := t.follow(a.body.File, p, to)
			if to != p {
				content = t.rename(content, a.topic, to)
			}
			if t.same(to, content) {
				continue
			}
			again, may[p], t.to[p] = true, may[p][1:], planned[p]
			if len(may[p]) > 0 {
				t.to[p] = may[p][0]
			}
		}
	}
	return slices.DeleteFunc(arrivals, func(a arrival) bool {
		p := a.topic.Path
		if len(may[p]) == 0 {
			return false
		}
		t.note(p, may[p][0], TakenSame, "")
		return true
	})
}

// unlinked is what a topic says but for its name, where its links lead, and what clients
// stamp.
func unlinked(f *memfile.File) string {
	var edits []text.Edit
	for _, l := range memfile.Links(f.Text, f.Body, f.Outline()) {
		edits = append(edits, text.Edit{Span: l.Dest})
	}
	if f.Front != nil {
		for _, k := range f.Front.Keys {
			if k.Name == "name" {
				edits = append(edits, text.Edit{Span: k.Span})
			}
		}
	}
	s, ok := text.Apply(f.Text.String(), edits)
	if !ok {
		s = f.Text.String()
	}
	return unstamped(memfile.Parse(s))
}
