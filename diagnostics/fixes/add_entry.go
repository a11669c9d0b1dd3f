package fixes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
)

// AddEntry is the ID of the fix. Its argument is the path of a topic, or "." for
// all topics at the top of the directory that fit into the index.
const AddEntry = "add-entry"

func addEntry() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      AddEntry,
		Summary: "Adds the entry of a topic to the index.",
		Safe:    true,
		Kind:    diagnostics.QuickFix,
		Make: func(ctx context.Context, s *diagnostics.Snapshot, _ diagnostics.Finding, arg string) (change.Change, error) {
			if arg == "." {
				top := slices.DeleteFunc(slices.Clone(s.View.Topics), func(t *memdir.Topic) bool { return path.Dir(t.Path) != "." })
				var lines []string
				for _, t := range EntriesThatFit(ctx, s, top) {
					line, _ := memdir.TopicEntry(t, s.Config.Limits.EntryLength)
					lines = append(lines, line)
				}
				return insertEntries(s, lines)
			}
			t := s.View.Topic(arg)
			if t == nil {
				return change.Change{}, fmt.Errorf("%s is no topic of this memory any more", memdir.ShownName(arg))
			}
			if first := MendFirst(ctx, s, t); len(first) > 0 {
				return change.Change{}, fmt.Errorf("%s is not to be read as it is; see what %s says of it", memdir.ShownName(arg), strings.Join(first, " and "))
			}
			line, err := memdir.TopicEntry(t, s.Config.Limits.EntryLength)
			if err != nil {
				return change.Change{}, err
			}
			return insertEntries(s, []string{line})
		},
	}
}

// insertEntries gives the change that adds entries to the index, or makes one of
// them.
func insertEntries(s *diagnostics.Snapshot, lines []string) (change.Change, error) {
	if len(lines) == 0 {
		return change.Change{}, errors.New("the index has no room for another entry; shorten it first")
	}
	x := s.View.Index
	eol := x.Text().EOL()
	all := strings.Join(lines, eol)
	if !x.Exists {
		return change.Change{Files: []change.File{{Path: memfile.IndexName, Kind: change.Create, New: all + eol}}}, nil
	}
	return edit(memfile.IndexName, x.Text(), x.Insert(all)...)
}

// MendFirst gives the rules whose findings have to be mended before an entry leads
// people and agents to a topic: what it says is not known, or not meant for them.
func MendFirst(ctx context.Context, s *diagnostics.Snapshot, t *memdir.Topic) []string {
	var first []string
	for _, f := range s.Found(ctx, t.Path) {
		switch f.Rule {
		case "conflict-markers", "hidden-character", "instruction-text":
		case "body-empty":
			if t.Meta.Description != "" {
				continue // it says something
			}
		case "encoding":
			if f.Severity != diagnostics.Error {
				continue // a byte order mark
			}
		default:
			continue
		}
		if !slices.Contains(first, f.Rule) {
			first = append(first, f.Rule)
		}
	}
	return first
}

// EntriesThatFit gives those of the topics whose entries the index can take before
// readers cut it, the ones that changed last first, without those of MendFirst.
func EntriesThatFit(ctx context.Context, s *diagnostics.Snapshot, topics []*memdir.Topic) []*memdir.Topic {
	newest := slices.Clone(topics)
	slices.SortStableFunc(newest, func(a, b *memdir.Topic) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(a.Path, b.Path))
	})
	tx := s.View.Index.Text()
	lines, size := s.Config.Limits.IndexLines-tx.Lines(), s.Config.Limits.IndexSize-tx.Len()
	if len(s.View.Index.Entries) == 0 && tx.Lines() > 0 {
		lines -= 2 // the blank lines around a first list
	}
	var fit []*memdir.Topic
	for _, t := range newest {
		if lines < 1 {
			break
		}
		if len(MendFirst(ctx, s, t)) > 0 {
			continue
		}
		line, err := memdir.TopicEntry(t, s.Config.Limits.EntryLength)
		if err != nil {
			continue // no link leads to a file of this name
		}
		if size -= len(line) + len(tx.EOL()); size < 0 {
			break
		}
		lines--
		fit = append(fit, t)
	}
	return fit
}
