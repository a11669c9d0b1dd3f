package dream

import (
	"context"
	"maps"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/job"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/proposal"
)

// By gives what a policy lets happen now, and what waits for a person in any case. What
// waits stands on what the first list leaves.
//
// Where deletions are applied, copies go in one unit with everything else that is applied,
// so that one undo takes back all of it.
func (o *Outcome) By(policy proposal.Policy) (now, wait []proposal.Unit) {
	if policy != proposal.Apply || len(o.Copies) == 0 {
		return o.Apply, slices.Concat(o.Copies, o.Propose)
	}
	if whole, ok := together(slices.Concat(o.Apply, o.Copies)); ok {
		return []proposal.Unit{whole}, o.Propose
	}
	return o.Apply, slices.Concat(o.Copies, o.Propose)
}

// together makes one unit of several that are made one after the other; ok is false where
// they do not go together.
func together(units []proposal.Unit) (whole proposal.Unit, ok bool) {
	base, now := map[string]string{}, map[string]string{}
	gone, made := map[string]bool{}, map[string]bool{}
	var reasons, sources []string
	for _, u := range units {
		reasons = append(reasons, u.Reason)
		sources = append(sources, u.Sources...)
		for _, f := range u.Change.Files {
			after, exists, err := f.After()
			if err != nil || f.Kind == change.Rename || f.Kind == change.Append {
				return whole, false
			}
			cur, seen := now[f.Path]
			switch {
			case f.Kind == change.Create:
				made[f.Path] = true
			case !seen:
				base[f.Path], cur = f.Base, f.Base
			}
			switch {
			case !exists:
				gone[f.Path] = true
				continue
			case f.Kind == change.Edit && cur != f.Base:
				var conflicts []change.Conflict
				if after, conflicts = change.Merge(f.Path, f.Base, after, cur); len(conflicts) > 0 {
					return whole, false
				}
			}
			now[f.Path] = after
		}
	}
	whole = proposal.Unit{ID: "1", Title: "Everything that loses no word", Reason: strings.Join(reasons, " "), Sources: compact(sources), State: proposal.Open}
	whole.Change = change.Change{Op: "dream", Title: whole.Title}
	var last []change.File
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if gone[path] {
			continue
		}
		f := change.File{Path: path, Kind: change.Create, New: now[path]}
		if !made[path] {
			var differs bool
			if f, differs = change.EditFile(path, base[path], change.Lines(base[path], now[path])); !differs {
				continue
			}
		}
		if path == memfile.IndexName {
			last = append(last, f)
		} else {
			whole.Change.Files = append(whole.Change.Files, f)
		}
	}
	whole.Change.Files = append(whole.Change.Files, last...)
	for _, path := range slices.Sorted(maps.Keys(gone)) {
		if !made[path] {
			whole.Change.Files = append(whole.Change.Files, change.File{Path: path, Kind: change.Delete, Base: base[path]})
		}
	}
	whole.Deletes = proposal.Deletes(whole.Change)
	return whole, true
}

// told gives the policy by which a report tells what became of units: a run that removes
// much waits as a whole, as Settle has it.
func told(ctx context.Context, m *memory.Memory, policy proposal.Policy, units []proposal.Unit) (proposal.Policy, error) {
	if policy == proposal.Review {
		return policy, nil
	}
	why, err := proposal.Of(m).Large(ctx, units)
	if why != "" {
		policy = proposal.Review
	}
	return policy, err
}

// takenBack gives why units wait whatever the policy: an earlier dream did the same to the
// same text, and somebody undid that. What is done to the index then waits with them, since
// it may have moved from there what they have.
func takenBack(ctx context.Context, m *memory.Memory, units []proposal.Unit) (func(proposal.Unit) string, error) {
	undone, err := proposal.Of(m).Undone(ctx, job.Dream)
	if err != nil {
		return nil, err
	}
	some := slices.ContainsFunc(units, undone.Has)
	return func(u proposal.Unit) string {
		switch {
		case undone.Has(u):
			return "an earlier dream changed this very text, and somebody undid that: it waits for review"
		case some && slices.ContainsFunc(u.Change.Files, func(f change.File) bool { return f.Path == memfile.IndexName }):
			return "it changes the index together with parts that wait, since somebody undid what an earlier dream did there"
		}
		return ""
	}, nil
}
