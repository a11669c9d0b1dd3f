package language

import (
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// References gives every link to a file of the memory, [[names]] included, in the
// order of the files: to the one that the link or entry at offset leads to, or, in
// the frontmatter of a topic, to that topic. With declaration the file itself comes
// first, by its name where it has one.
func References(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int, declaration bool) []Location {
	var all []Location
	for _, p := range subjects(s, d, clamp(d, offset)) {
		if declaration {
			all = append(all, declarationOf(s, p))
		}
		all = append(all, linksTo(s, p)...)
	}
	return all
}

// subjects gives the files that the text at offset is about.
func subjects(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) []string {
	if l, ok := linkAt(d, offset); ok {
		return follow(s, d, l).Paths
	}
	if e := entryAt(d, offset); e != nil {
		return follow(s, d, e.Link).Paths
	}
	if d.Kind == diagnostics.Topic && (offset < d.File.Body.Start || d.File.Text.LineAt(offset) == 0) {
		return []string{d.Path}
	}
	return nil
}

func declarationOf(s *diagnostics.Snapshot, p string) Location {
	d, err := s.Doc(p)
	if err != nil {
		return Location{Path: p, Text: text.New("")}
	}
	if k := d.File.Key("name"); k != nil && d.Kind == diagnostics.Topic {
		return Location{Path: p, Span: k.Raw, Text: d.File.Text}
	}
	return Location{Path: p, Span: d.FirstLine(), Text: d.File.Text}
}

// linksTo gives the links to a file. Which files have some is known from what is
// kept of them; only those are loaded, and their links taken from the text that
// the places count in.
func linksTo(s *diagnostics.Snapshot, p string) []Location {
	names := namesOf(s.View.Topic(p))
	known := map[string]bool{}
	leads := func(from string, l memfile.Link) bool {
		if !l.Wiki {
			return diagnostics.Target(from, l) == p
		}
		if !names.mayMean(l.Target) {
			return false
		}
		yes, seen := known[l.Target]
		if !seen {
			yes = slices.Contains(followName(s, "", l.Target).Paths, p)
			known[l.Target] = yes
		}
		return yes
	}
	var all []Location
	for _, from := range s.Paths() {
		if !slices.ContainsFunc(s.Links(from), func(l memfile.Link) bool { return leads(from, l) }) {
			continue
		}
		d, err := s.Doc(from)
		if err != nil {
			continue
		}
		for _, l := range d.Links() {
			if leads(from, l) {
				all = append(all, Location{Path: from, Span: l.Span, Text: d.File.Text})
			}
		}
	}
	return all
}

// names are the forms, folded, under which a topic can be named: finding out what
// a name means looks at all topics, so the names that cannot mean this one are told
// beforehand.
type names []string

func namesOf(t *memdir.Topic) names {
	if t == nil {
		return nil
	}
	return names{memdir.Fold(t.Name()), memdir.Fold(t.Path), memdir.Fold(strings.TrimSuffix(t.Path, ".md")), memdir.Fold(memdir.Stem(t.Path))}
}

// mayMean reports whether a name could be one of the topic's. It errs on the side
// of yes.
func (n names) mayMean(name string) bool {
	if len(n) == 0 {
		return false
	}
	name = strings.ReplaceAll(name, `\`, "/")
	whole := strings.TrimSuffix(memdir.Fold(name), ".md")
	part, _, _ := strings.Cut(whole, "#")
	part = strings.TrimSuffix(strings.TrimRight(part, "-"), ".md")
	for _, own := range n {
		for _, w := range []string{whole, part} {
			if strings.HasSuffix(strings.TrimSuffix(own, ".md"), last(w)) {
				return true
			}
		}
	}
	return false
}

// last gives the last element of a path: "./a/../b" is cleaned before it is looked
// up, which leaves the last element as it is.
func last(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }
