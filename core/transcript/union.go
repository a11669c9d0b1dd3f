package transcript

import (
	"context"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/store"
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
