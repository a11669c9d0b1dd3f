package memdir

import (
	"path"
	"slices"
	"strings"
	"sync"

	"mem/core/memfile"
)

// Resolve finds the topic that ref means: its path, its path without ".md", its
// name, or either of them written with other case, dashes or underscores.
func (v *View) Resolve(ref string) (*Topic, error) {
	ref = cleanRef(ref)
	found := v.Lookup(ref)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &NotFoundError{Ref: ref, Near: v.near(ref)}
	}
	err := &AmbiguousError{Ref: ref}
	for _, t := range found {
		err.Paths = append(err.Paths, t.Path)
	}
	return nil, err
}

// Lookup gives every topic that ref means in the sense of Resolve, by path: none
// where nothing has that name, several where they share it. Its cost does not
// grow with the directory.
func (v *View) Lookup(ref string) []*Topic {
	ref = cleanRef(ref)
	for _, p := range []string{ref, ref + ".md"} {
		if t := v.byPath[path.Clean(p)]; t != nil {
			return []*Topic{t}
		}
	}
	n := v.named()
	folded := Fold(strings.TrimSuffix(ref, ".md"))
	for _, found := range [][]*Topic{n.exact[ref], n.name[folded], n.path[folded], n.stem[folded]} {
		if len(found) > 0 {
			return found
		}
	}
	return n.behindType(folded)
}

func cleanRef(ref string) string { return strings.TrimSpace(strings.ReplaceAll(ref, `\`, "/")) }

// names is what topics are called, made when it is first asked for, and what else is
// made of their heads alone. Views of the same topics share it.
type names struct {
	of                      []*Topic
	once                    sync.Once
	exact, name, path, stem map[string][]*Topic // all but exact by Fold

	spell     sync.Once
	spellings []spelling

	mu   sync.Mutex
	near map[nearKey][]*Topic // what Nearest found; one typed line leaves the other broken links as they are
	memo map[any]any
}

// namesOf gives the names of topics, those that there are already where the last View
// had the same topics.
func (c *Cache) namesOf(topics []*Topic) *names {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names == nil || !slices.Equal(c.names.of, topics) {
		c.names = &names{of: slices.Clone(topics)}
	}
	return c.names
}

// Memo gives what make makes of the heads of topics and of nothing else: for a key, made
// once for as long as these stay the same. make is given the topics as v.Topics has them.
// What it gives is shared and must not be changed. make may not ask a View of these topics.
func (v *View) Memo(key any, make func(topics []*Topic) any) any {
	n := v.names()
	n.mu.Lock()
	defer n.mu.Unlock()
	made, ok := n.memo[key]
	if !ok {
		if n.memo == nil {
			n.memo = map[any]any{}
		}
		made = make(n.of)
		n.memo[key] = made
	}
	return made
}

func (v *View) named() *names {
	n := v.names()
	n.once.Do(func() {
		n.exact, n.name = make(map[string][]*Topic, len(n.of)), make(map[string][]*Topic, len(n.of))
		n.path, n.stem = make(map[string][]*Topic, len(n.of)), make(map[string][]*Topic, len(n.of))
		add := func(to map[string][]*Topic, key string, t *Topic) { to[key] = append(to[key], t) }
		for _, t := range n.of {
			add(n.exact, t.Name(), t)
			add(n.name, Fold(t.Name()), t)
			add(n.path, Fold(strings.TrimSuffix(t.Path, path.Ext(t.Path))), t)
			add(n.stem, Fold(Stem(t.Path)), t)
		}
	})
	return n
}

// behindType gives the topics whose name is the folded ref behind a type: links
// often leave the prefix out ("role" for user-role).
func (n *names) behindType(folded string) []*Topic {
	var found []*Topic
	for _, typ := range memfile.Types {
		found = append(found, n.name[typ+"-"+folded]...)
		found = append(found, n.stem[typ+"-"+folded]...)
	}
	return byPath(found)
}

// byPath sorts topics by path, each once.
func byPath(topics []*Topic) []*Topic {
	slices.SortFunc(topics, func(a, b *Topic) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(topics)
}

// near gives up to three paths that ref may have meant: those spelled nearly like
// it, then those that share a word with it.
func (v *View) near(ref string) []string {
	const most = 3
	var out []string
	for _, t := range v.Nearest(ref, most) {
		out = append(out, t.Path)
	}
	words := strings.Split(Fold(strings.TrimSuffix(ref, ".md")), "-")
	for _, t := range v.Topics {
		if len(out) == most {
			break
		}
		hay := Fold(t.Path + " " + t.Name())
		if slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(hay, w) }) && !slices.Contains(out, t.Path) {
			out = append(out, t.Path)
		}
	}
	return out
}
