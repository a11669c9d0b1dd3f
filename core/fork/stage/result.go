package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memfile"
)

// Result is what became of a stage.
type Result struct {
	// Change is against the base: what others wrote since is merged when it is applied.
	Change change.Change
	// Refused are files that were left out, and what was put right.
	Refused []job.Refused
	// Findings are texts that were let through and that a person should see: those that
	// command their reader.
	Findings []Finding
}

// Finding is a finding of the guard with the file that it is about.
type Finding struct {
	Path string
	guard.Finding
}

// Result compares the stage with what it was made from. Each file that may not be as it
// is, is left out with the reason; the others count.
func (s *Stage) Result(ctx context.Context) (*Result, error) {
	t, err := s.walk(ctx)
	var bad *unusable
	if errors.As(err, &bad) {
		return &Result{Refused: []job.Refused{{What: "everything", Reason: bad.reason}}}, nil
	}
	if err != nil {
		return nil, err
	}
	r := &comparison{Stage: s, ctx: ctx, tree: t, final: map[string]bool{}, text: map[string]string{},
		moved: map[string]string{}, removed: map[string]bool{}, held: map[string]bool{}}
	if s.about.LogOnly != "" {
		r.logOnly()
	} else {
		r.compare()
	}
	r.out.Refused = shownRefusals(append(t.refused, r.out.Refused...))
	return &r.out, nil
}

// comparison is a Result in the making.
type comparison struct {
	*Stage
	ctx  context.Context
	tree *tree
	out  Result

	final   map[string]bool   // topics that there will be
	text    map[string]string // of topics that are new or stand at a new path
	moved   map[string]string // old path to new
	removed map[string]bool
	held    map[string]bool // topics whose deletion or move was refused
}

func (r *comparison) refuse(p string, reason string) {
	r.out.Refused = append(r.out.Refused, job.Refused{What: p, Reason: reason})
}

func (r *comparison) compare() {
	var gone, fresh []string
	for _, p := range r.allPaths() {
		base, known := r.base[p]
		now, exists := r.tree.files[p]
		topic := memdir.CheckTopicPath(p) == nil
		switch {
		case p == memfile.IndexName:
			continue // last, when it is known what it has to list
		case known && (exists && now == base || !exists && r.tree.keeps(p)):
			r.final[p] = true
		case known && !exists:
			if err := r.MayRemove(p); err != nil {
				r.refuse(p, "was deleted: "+err.Error())
				r.final[p], r.held[p] = true, true
				continue
			}
			gone = append(gone, p)
		case !known:
			if err := r.MayWrite(p); err != nil {
				r.refuse(p, err.Error())
				continue
			}
			fresh = append(fresh, p)
		case !topic:
			r.final[p] = true
			r.refuse(p, "was changed; only topics and the index may be")
		default:
			r.final[p] = true
			if err := r.MayWrite(p); err != nil {
				r.refuse(p, err.Error())
				continue
			}
			r.edited(p, base, now)
		}
	}
	fresh = r.tellApart(fresh)
	gone, fresh = r.renames(gone, fresh)
	for _, p := range fresh {
		r.created(p)
	}
	for _, p := range gone {
		r.removed[p] = true
		r.out.Change.Files = append(r.out.Change.Files, change.File{Path: p, Kind: change.Delete, Base: r.base[p]})
	}
	r.indexed()
	slices.SortStableFunc(r.out.Change.Files, func(a, b change.File) int { return cmp.Compare(rank(a), rank(b)) })
}

// rank orders the files of a change for people: what is new first, what goes last.
func rank(f change.File) int {
	if f.Path == memfile.IndexName {
		return 9
	}
	return slices.Index([]change.Kind{change.Create, change.Edit, change.Rename, change.Delete, change.Append}, f.Kind)
}

// allPaths gives the files of the base and those of the stage, sorted.
func (r *comparison) allPaths() []string {
	all := make([]string, 0, len(r.base)+len(r.tree.files))
	for p := range r.base {
		all = append(all, p)
	}
	for p := range r.tree.files {
		if _, known := r.base[p]; !known {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// tellApart refuses new files whose names differ only by case: not every system could
// hold both.
func (r *comparison) tellApart(fresh []string) []string {
	taken := map[string]string{}
	return slices.DeleteFunc(fresh, func(p string) bool {
		for _, x := range prefixes(p) {
			if other, ok := taken[Fold(x)]; ok && other != x {
				r.refuse(p, "differs only by case from "+memdir.ShownName(other))
				return true
			}
		}
		for _, x := range prefixes(p) {
			taken[Fold(x)] = x
		}
		return false
	})
}

// edited takes the new text of a topic.
func (r *comparison) edited(p, base, now string) {
	after, err := r.soundText(p, base, now, true)
	if err == nil && after != base {
		if f, ok := change.EditFile(p, base, change.Lines(base, after)); ok {
			r.out.Change.Files = append(r.out.Change.Files, f)
		}
	}
	if err != nil {
		r.refuse(p, err.Error())
	}
}

// created takes a new topic.
func (r *comparison) created(p string) {
	after, err := r.soundText(p, "", r.tree.files[p], false)
	if err != nil {
		r.refuse(p, err.Error())
		return
	}
	r.final[p], r.text[p] = true, after
	r.out.Change.Files = append(r.out.Change.Files, change.File{Path: p, Kind: change.Create, New: after})
}

// renames pairs what went with what came: the same body at another path.
func (r *comparison) renames(gone, fresh []string) (leftGone, leftFresh []string) {
	from := map[string][]string{}
	for _, p := range gone {
		if b := bodyOf(r.base[p]); b != "" {
			from[b] = append(from[b], p)
		}
	}
	matched := map[string]bool{}
	for _, to := range fresh {
		olds := from[bodyOf(r.tree.files[to])]
		if len(olds) == 0 {
			leftFresh = append(leftFresh, to)
			continue
		}
		old, base := olds[0], r.base[olds[0]]
		after, err := base, error(nil)
		if now := r.tree.files[to]; now != base {
			after, err = r.soundText(to, base, now, true)
		}
		if err != nil {
			r.refuse(to, err.Error()+". It stays where it was, as "+memdir.ShownName(old))
			r.final[old], r.held[old] = true, true
			matched[old] = true
			continue
		}
		from[bodyOf(base)] = olds[1:]
		matched[old], r.moved[old], r.final[to], r.text[to] = true, to, true, after
		r.out.Change.Files = append(r.out.Change.Files, change.File{Path: old, Kind: change.Rename, To: to, Base: base, Edits: change.Lines(base, after)})
	}
	for _, p := range gone {
		if !matched[p] {
			leftGone = append(leftGone, p)
		}
	}
	return leftGone, leftFresh
}

// bodyOf is what makes two topics the same one at two paths; what has next to no text
// is like many others.
func bodyOf(src string) string {
	b := strings.TrimSpace(memfile.Parse(src).BodyText())
	if len(b) < 16 {
		return ""
	}
	return b
}

// logOnly takes what was added to the one log.
func (r *comparison) logOnly() {
	for _, p := range r.allPaths() {
		base, known := r.base[p]
		now, exists := r.tree.files[p]
		switch {
		case known && (exists && now == base || !exists && r.tree.keeps(p)):
		case p != r.about.LogOnly:
			r.refuse(p, fmt.Sprintf("was changed; in this run only %s may be, at its end", r.about.LogOnly))
		case !strings.HasPrefix(now, base):
			r.refuse(p, "was changed before its end; a log only grows")
		default:
			added := now[len(base):]
			if err := r.clean(p, base, now); err != nil {
				r.refuse(p, err.Error())
				continue
			}
			if strings.TrimSpace(added) == "" {
				continue
			}
			if base != "" && !strings.HasSuffix(base, "\n") {
				added = strings.TrimPrefix(added, "\n") // the store puts it on a line of its own
			}
			if !strings.HasSuffix(added, "\n") {
				added += "\n"
			}
			r.out.Change.Files = append(r.out.Change.Files, change.File{Path: p, Kind: change.Append, New: added})
		}
	}
}
