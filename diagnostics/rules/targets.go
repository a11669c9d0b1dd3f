package rules

import (
	"net/url"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// targets tells what links lead to, for rules that look at all links of a memory.
type targets struct {
	p     *diagnostics.Pass
	known map[string]bool // of paths that are no files of the memory
	*spellings
	index    *indexEntries
	near     map[string][]*memdir.Topic // what was searched for: one name is often linked from many places
	searches int
}

// spellings are the paths of topics as people and systems write them, made for the
// first link that leads to none letter for letter.
type spellings struct {
	spelled, folded map[string]string
	composed        map[string][]*memdir.Topic // by names that are not ASCII, accents composed
}

func newTargets(p *diagnostics.Pass) *targets {
	return &targets{p: p, known: map[string]bool{}, near: map[string][]*memdir.Topic{}}
}

// exists reports whether a link to a path in the directory leads somewhere.
// Percent escapes and how accents are composed make no difference: macOS and
// editors change both unasked.
func (x *targets) exists(target string) bool {
	if x.p.View.Topic(target) != nil {
		return true
	}
	ok, seen := x.known[target]
	if !seen {
		ok = x.p.View.Exists(target)
		if plain, _, query := strings.Cut(target, "?"); !ok && query && plain != "" {
			ok = x.p.View.Exists(plain) // "x.md?plain=1"
		}
		if !ok {
			x.spell()
			ok = x.spelled[spelled(target)] != ""
		}
		x.known[target] = ok
	}
	return ok
}

// topic gives the topic that a link to a path means, also where only its case, its
// dashes or a missing ".md" are wrong; nil when there is none.
func (x *targets) topic(target string) *memdir.Topic {
	if t := x.p.View.Topic(target); t != nil {
		return t
	}
	x.spell()
	s := spelled(target)
	if p := x.spelled[s]; p != "" {
		return x.p.View.Topic(p)
	}
	s = memdir.Fold(s)
	for _, p := range []string{s, s + ".md"} {
		if t := x.p.View.Topic(x.folded[p]); t != nil {
			return t
		}
	}
	return nil
}

// below gives the topics in a folder and its folders.
func (x *targets) below(dir string) []*memdir.Topic {
	all := x.p.View.Topics // by path
	if dir == "." {
		return all
	}
	from := sort.Search(len(all), func(i int) bool { return all[i].Path >= dir+"/" })
	to := sort.Search(len(all), func(i int) bool { return all[i].Path >= dir+"0" }) // "0" stands behind "/"
	return all[from:to]
}

type spellingsKey struct{}

func (x *targets) spell() {
	if x.spellings == nil {
		x.spellings = x.p.View.Memo(spellingsKey{}, func(topics []*memdir.Topic) any { return spellingsOf(topics) }).(*spellings)
	}
}

func spellingsOf(topics []*memdir.Topic) *spellings {
	n := len(topics)
	x := &spellings{make(map[string]string, n), make(map[string]string, n), map[string][]*memdir.Topic{}}
	for _, t := range topics {
		s := spelled(t.Path)
		x.spelled[s] = t.Path
		x.folded[memdir.Fold(s)] = t.Path
		stem, name := memdir.Stem(t.Path), t.Name()
		if !ascii(name) {
			key := memdir.Fold(norm.NFC.String(name))
			x.composed[key] = append(x.composed[key], t)
		}
		if !ascii(stem) && stem != name {
			key := memdir.Fold(norm.NFC.String(stem))
			x.composed[key] = append(x.composed[key], t)
		}
	}
	return x
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spelled writes a path so that two spellings of one name are equal.
func spelled(p string) string {
	if strings.Contains(p, "%") {
		if plain, err := url.PathUnescape(p); err == nil {
			p = plain
		}
	}
	return norm.NFC.String(p)
}

// maxNear is how many near names are offered.
const maxNear = 3

// maxSearches bounds how many names a check compares with each other: in a partial
// copy of a large memory nearly every link is broken, and nobody chooses among
// thousands of guesses.
const maxSearches = 2_000_000

// nearest gives a few topics that a name or path may have meant, more than are
// offered: some of them will not do.
func (x *targets) nearest(ref string) []*memdir.Topic {
	found, seen := x.near[ref]
	if !seen && x.searches < maxSearches {
		x.searches += len(x.p.View.Topics)
		found = x.p.View.Nearest(ref, 2*maxNear)
		x.near[ref] = found
	}
	return found
}

// named gives the topics that a [[name]] link means in the file at from.
func (x *targets) named(from, name string) []*memdir.Topic {
	if found := x.p.View.Lookup(name); len(found) > 0 {
		return found
	}
	if strings.Contains(name, "/") && strings.Contains(from, "/") { // "[[../style]]"
		return x.p.View.Lookup(path.Join(path.Dir(from), name))
	}
	if ascii(name) {
		return nil
	}
	x.spell()
	return x.composed[memdir.Fold(norm.NFC.String(name))]
}

// wikiName gives what a [[name]] link names, and where that stands in the file:
// what is before "#", and before the "|" that memfile cuts at.
func wikiName(l memfile.Link) (string, text.Span) {
	name, at := l.Target, l.Dest
	if i := strings.IndexByte(name, '#'); i >= 0 {
		name = strings.TrimRight(name[:i], " \t")
		at.End = at.Start + len(name)
	}
	return name, at
}

// shownName is a name for a message, short enough for a list of many.
func shownName(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return memdir.ShownName(s)
}
