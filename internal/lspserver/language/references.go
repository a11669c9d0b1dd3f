package language

import (
	"slices"
	"strings"

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
		to := follow(s, d, l)
		if to.File != "" {
			return []string{to.File}
		}
		return to.Paths
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
	leads := func(from string, l memfile.Link) bool {
		if !l.Wiki {
			q := diagnostics.Target(from, l)
			return q == p || strings.EqualFold(q, p) && slices.Contains(followPath(s, q).Paths, p)
		}
		return s.View.Topic(p) != nil && slices.Contains(followName(s, "", l.Target).Paths, p)
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
