package agentmem

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/memfile"
)

// How far back a common version is looked for in git.
const (
	maxCommits  = 2_000
	maxVersions = 50    // of the folder of the snapshot, read whole
	maxLineage  = 1_000 // of it, of which single files are read
	maxLookBack = 2 * time.Second
)

// treeEntry is one entry of a tree object.
type treeEntry struct {
	mode, name, id string
}

func (o *objects) tree(id string) ([]treeEntry, error) {
	kind, data, err := o.read(id)
	if err != nil {
		return nil, err
	}
	if kind != "tree" {
		return nil, fmt.Errorf("git object %s is no tree", id)
	}
	var out []treeEntry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < o.name {
			return nil, fmt.Errorf("git tree %s is damaged", id)
		}
		out = append(out, treeEntry{mode, name, hex.EncodeToString(rest[:o.name])})
		data = rest[o.name:]
	}
	return out, nil
}

// below gives the object at a path below a tree, "" where there is none.
func (o *objects) below(tree, rel string) (string, error) {
	for _, el := range strings.Split(rel, "/") {
		if el == "" || el == "." {
			continue
		}
		list, err := o.tree(tree)
		if err != nil {
			return "", err
		}
		tree = ""
		for _, e := range list {
			if e.name == el && (e.mode == "40000" || e.mode == "040000") {
				tree = e.id
			}
		}
		if tree == "" {
			return "", nil
		}
	}
	return tree, nil
}

// commit gives the tree and the parents of a commit.
func (o *objects) commit(id string) (tree string, parents []string, err error) {
	kind, data, err := o.read(id)
	if err != nil {
		return "", nil, err
	}
	if kind != "commit" {
		return "", nil, fmt.Errorf("git object %s is no commit", id)
	}
	head, _, _ := strings.Cut(string(data), "\n\n")
	for _, line := range strings.Split(head, "\n") {
		if v, ok := strings.CutPrefix(line, "tree "); ok {
			tree = v
		} else if v, ok := strings.CutPrefix(line, "parent "); ok {
			parents = append(parents, v)
		}
	}
	return tree, parents, nil
}

// version is the folder of a snapshot as a commit has it.
type version struct {
	commit string
	files  map[string]string // path -> normalised text
}

// versions gives the versions of a folder, newest first, as far back as is looked.
func versions(ctx context.Context, o *objects, head, rel string, each func(version) (more bool)) error {
	_, err := folders(ctx, o, head, rel, maxVersions, func(commit, folder string) (bool, error) {
		v := version{commit: commit, files: map[string]string{}}
		if err := o.files(folder, v.files); err != nil {
			return false, err
		}
		return each(v), nil
	})
	return err
}

// folders gives the tree of a folder in each commit that changed it, newest first, as far
// back as is looked. It reports whether that is the whole history.
func folders(ctx context.Context, o *objects, head, rel string, most int, each func(commit, folder string) (more bool, err error)) (whole bool, err error) {
	queue, seen, last := []string{head}, map[string]bool{head: true}, ""
	known := map[string]bool{}
	whole = true
	for n := 0; len(queue) > 0; n++ {
		if n >= maxCommits || len(known) >= most {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		id := queue[0]
		queue = queue[1:]
		tree, parents, err := o.commit(id)
		if errors.Is(err, errNoObject) {
			whole = false // a shallow clone ends here
			continue
		}
		if errors.Is(err, errTooMuch) {
			return false, nil // what was found so far counts
		}
		if err != nil {
			return false, err
		}
		for _, p := range parents {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
		folder, err := o.below(tree, rel)
		if errors.Is(err, errTooMuch) {
			return false, nil
		}
		if err != nil && !errors.Is(err, errNoObject) {
			return false, err
		}
		whole = whole && err == nil
		if folder == "" || folder == last || known[folder] {
			continue
		}
		last, known[folder] = folder, true
		more, err := each(id, folder)
		switch {
		case errors.Is(err, errNoObject):
			whole = false
		case errors.Is(err, errTooMuch):
			return false, nil
		case err != nil:
			return false, err
		case !more:
			return false, nil
		}
	}
	return whole, nil
}

// paths gives the objects of the topics of a folder of a commit; what no snapshot holds is
// left out.
func (o *objects) paths(tree, prefix string, depth int, each func(path, id string) error) error {
	list, err := o.tree(tree)
	if err != nil {
		return err
	}
	for _, e := range list {
		p := prefix + e.name
		switch {
		case e.mode == "40000" && depth < 8 && !strings.HasPrefix(e.name, "."):
			err = o.paths(e.id, p+"/", depth+1, each)
		case strings.HasPrefix(e.mode, "100") && checkFile(p) == nil:
			err = each(p, e.id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text gives the normalised text of an object; ok tells whether it is one that a snapshot
// may hold.
func (o *objects) text(id string) (s string, ok bool, err error) {
	_, data, err := o.read(id)
	if err != nil {
		return "", false, err
	}
	if o.size += int64(len(data)); o.size > maxVersions*MaxSnapshot/10 {
		return "", false, errTooMuch
	}
	return normal(string(data)), len(data) <= MaxFile && utf8.Valid(data), nil
}

// files reads the topics of a folder of a commit.
func (o *objects) files(tree string, into map[string]string) error {
	return o.paths(tree, "", 0, func(p, id string) error {
		if len(into) >= MaxFiles {
			return nil
		}
		s, ok, err := o.text(id)
		if ok {
			into[p] = s
		}
		return err
	})
}

// baseFromGit finds what this memory and the snapshot had in common in the history of the
// snapshot: the version that has most files in common with the memory here.
func (a *analysis) baseFromGit(ctx context.Context) error {
	o, head, rel, err := a.history()
	if o == nil || err != nil {
		return err
	}
	defer o.close()
	var best version
	most := 0
	err = versions(ctx, o, head, rel, func(v version) bool {
		same, topics := 0, 0
		for p, s := range v.files {
			if a.mine.sum(p) == sumOf(s) {
				same++
				if p != memfile.IndexName {
					topics++
				}
			}
		}
		// Of equal ones the oldest: with a base that is too new, news of the team would pass for
		// what was undone here; with one that is too old, both sides have made the same change.
		if topics > 0 && same >= most {
			best, most = v, same
		}
		return same < len(v.files) || len(v.files) == 0
	})
	if err != nil || most == 0 {
		return err
	}
	for p, s := range best.files {
		sum := a.keep(s, true)
		a.st.Files[p] = fileState{Base: sum, Shared: sum}
	}
	a.st.known, a.st.origin, a.st.commit = true, "git", best.commit
	return nil
}
