package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// putBack gives the file changes that restore what a record of OpVanished says is
// gone, as things are now: a topic may have been moved or deleted since, and its
// entry follows it or stays away, so that no restored entry leads nowhere.
func (s *Store) putBack(ctx context.Context, r *Record, steps []step) (files []change.File, notes []string, err error) {
	root, err := s.openRoot(false)
	if errors.Is(err, fs.ErrNotExist) {
		return inverse(steps, r, s.opt.Now()), nil, nil // all of it is gone, and comes back
	}
	if err != nil {
		return nil, nil, err
	}
	p := putting{store: s, root: root, since: r.ID, lost: map[string]string{}, made: map[string]bool{}}
	for _, st := range steps {
		if st.Path != memfile.IndexName && !st.stays {
			p.lost[st.Path] = st.before
		}
	}
	for _, st := range steps {
		if st.Path != memfile.IndexName {
			continue
		}
		restored, err := p.index(ctx, st)
		if err != nil {
			return nil, nil, err
		}
		if f, ok := change.EditFile(st.Path, st.after, text.Diff(st.after, restored)); ok {
			files = append(files, f)
		}
	}
	return append(p.topics, files...), p.notes, nil
}

// putting is a restoration that is being put together.
type putting struct {
	store  *Store
	root   *os.Root
	since  string            // id of the change that noted the loss
	lost   map[string]string // texts of the topics that were gone as well
	made   map[string]bool   // topics that the restoration creates
	topics []change.File
	notes  []string
	view   *memdir.View // read where a topic has to be looked for
}

// index gives the text that the index should have: with the entries that vanished,
// each leading to where its topic is now.
func (p *putting) index(ctx context.Context, st step) (string, error) {
	x, left := memfile.ParseIndex(st.before), memfile.ParseIndex(st.after)
	now, err := p.read(memfile.IndexName)
	if err != nil {
		return "", err
	}
	current := memfile.ParseIndex(now)
	var edits []text.Edit
	seen := map[string]bool{} // an index may have several entries of one topic
	for _, e := range x.Entries {
		if left.Entry(e.Target) != nil || seen[e.Target] {
			continue
		}
		seen[e.Target] = true
		to, err := p.place(ctx, e.Target)
		if err != nil {
			return "", err
		}
		switch {
		case to == e.Target:
		case to == "", current.Entry(to) != nil, left.Entry(to) != nil, x.Entry(to) != nil:
			edits = append(edits, x.Remove(e.Target)...)
		default:
			p.note("%s is now %s: its entry leads there.", e.Target, to)
			for _, other := range x.Entries {
				if other.Target == e.Target {
					edits = append(edits, memdir.Retarget(x.Text(), other.Link, memfile.IndexName, to))
				}
			}
		}
	}
	slices.SortFunc(edits, func(a, b text.Edit) int { return a.Start - b.Start })
	restored, ok := text.Apply(st.before, edits)
	if !ok {
		return "", fmt.Errorf("the entries that vanished from %s cannot be put back: their lines overlap. history with the id %s shows them", memfile.IndexName, p.since)
	}
	return restored, nil
}

// place gives where the topic of an entry that vanished is, or will be once the
// restoration is made; "" where it was deleted.
func (p *putting) place(ctx context.Context, target string) (string, error) {
	now, deleted := p.follow(target)
	if there, err := p.exists(now); err != nil || there {
		return now, err
	}
	content, known := p.lost[target]
	if deleted != "" {
		p.note("%s was deleted since, by the change %s: its entry is not put back.", now, deleted)
		return "", nil
	}
	if !known || now != target {
		if content, known = p.lastText(now); !known {
			return now, nil // not ours: what led nowhere before the loss may do so again
		}
	}
	moved, err := p.find(ctx, content)
	if err != nil || moved != "" {
		return moved, err
	}
	if !p.made[now] {
		p.made[now] = true
		p.topics = append(p.topics, change.File{Path: now, Kind: change.Create, New: content})
	}
	if _, ok := p.lost[target]; !ok {
		p.note("%s was removed by another program since: it is put back with its entry.", now)
	}
	return now, nil
}

// follow gives where changes of mem that came after the loss took a topic, and the
// id of the one that deleted it, "" where none did.
func (p *putting) follow(target string) (now, deleted string) {
	now = target
	for _, r := range p.store.journal.all() {
		if r.ID <= p.since || r.aborted || r.Op == OpDisplaced || r.Op == OpVanished {
			continue
		}
		for _, f := range r.Files {
			switch {
			case f.From == now && f.From != "":
				now, deleted = f.Path, ""
			case f.Path != now:
			case f.After == "":
				deleted = r.ID
			default:
				deleted = ""
			}
		}
	}
	return now, deleted
}

func (p *putting) exists(path string) (bool, error) {
	_, err := p.root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// lastText gives the last text that mem wrote to a path.
func (p *putting) lastText(path string) (string, bool) {
	r, f := p.store.journal.lastOf(path)
	if r == nil || f.After == "" || f.Kind == string(change.Append) {
		return "", false
	}
	content, err := p.store.afterOf(r, path)
	return content, err == nil
}

// find gives the topic that has a text, "" where none has: another program gave the
// file another name.
func (p *putting) find(ctx context.Context, content string) (string, error) {
	if p.view == nil {
		v, err := memdir.Read(ctx, memdir.Disk(p.root), p.store.cache, p.store.opt.Limits)
		if err != nil {
			return "", err
		}
		p.view = v
	}
	hash := text.Hash(content)
	for _, t := range p.view.Topics {
		if t.Size != int64(len(content)) {
			continue
		}
		if b, err := p.view.Load(t); err == nil && b.Hash == hash {
			return t.Path, nil
		}
	}
	return "", nil
}

// read gives the text of a file that stands at the top.
func (p *putting) read(path string) (string, error) {
	d := p.store.folders(p.root)
	defer d.close()
	f, err := d.of(path, false)
	if err != nil {
		return "", err
	}
	content, _, _, err := f.read(path)
	return content, err
}

func (p *putting) note(format string, args ...any) {
	for i, a := range args {
		args[i] = memdir.ShownName(fmt.Sprint(a))
	}
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}
