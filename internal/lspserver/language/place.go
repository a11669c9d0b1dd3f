// Package language owns what can be said about a place in a memory file: what
// stands there, where it leads, what could be written there. It speaks in byte
// offsets and spans; the language server turns them into what an editor counts.
//
// Every function takes any offset, also one outside the text or inside a
// character, and any text, also a half-typed one. Of the topics it reads the heads
// that a View holds; it loads a body only where that body is shown or searched.
package language

import (
	"errors"
	"html"
	"net/url"
	"path"
	"sort"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// Location is a place in a file of the memory.
type Location struct {
	Path string    // slash-separated, in the memory directory
	Span text.Span // in Text
	Text *text.Text
}

// clamp gives the nearest offset that the text has.
func clamp(d *diagnostics.Doc, offset int) int {
	return min(max(offset, 0), d.File.Text.Len())
}

// lineAt gives the line on which a cursor at offset stands: behind a final newline
// that is one more than the line table has.
func lineAt(t *text.Text, offset int) int {
	if offset == t.Len() && strings.HasSuffix(t.String(), "\n") {
		return t.Lines()
	}
	return t.LineAt(offset)
}

// linkAt gives the link at offset. A cursor directly behind a link is on it, unless
// another one starts there.
func linkAt(d *diagnostics.Doc, offset int) (memfile.Link, bool) {
	links := d.Links()
	i := sort.Search(len(links), func(i int) bool { return links[i].Span.End >= offset })
	if i+1 < len(links) && links[i+1].Span.Start == offset {
		i++
	}
	if i == len(links) || offset < links[i].Span.Start {
		return memfile.Link{}, false
	}
	return links[i], true
}

// entryAt gives the entry on whose lines offset stands.
func entryAt(d *diagnostics.Doc, offset int) *memfile.Entry {
	if d.Index == nil {
		return nil
	}
	es := d.Index.Entries
	i := sort.Search(len(es), func(i int) bool { return es[i].Span.End > offset })
	if i == len(es) && i > 0 && es[i-1].Span.End == offset && !strings.HasSuffix(d.Source(), "\n") {
		i-- // at the end of a last line without a newline
	}
	if i == len(es) || offset < es[i].Span.Start {
		return nil
	}
	return &es[i]
}

// target is what a link leads to. A destination that is none of these things, such
// as a folder or an absolute path, has the empty one.
type target struct {
	// Paths are files of this memory; several where a [[name]] means several topics.
	Paths   []string
	Anchor  string // of a heading, decoded, without "#"
	File    string // another file of the directory, which is no memory
	Missing string // the path or name of which there is no file or topic
	Outside bool   // it leads out of the memory directory
	URL     string // for the web and mail
}

// follow gives what a link in a file leads to.
func follow(s *diagnostics.Snapshot, d *diagnostics.Doc, l memfile.Link) target {
	if l.Wiki {
		return followName(s, d.Path, l.Target)
	}
	raw := d.File.Text.Slice(l.Dest)
	_, anchor := memfile.SplitDest(raw)
	if at := strings.IndexByte(anchor, '#'); at >= 0 { // behind a query
		anchor = anchor[at+1:]
	} else if plain := html.UnescapeString(anchor); strings.HasPrefix(plain, "#") { // "&num;"
		anchor = plain[1:]
	} else {
		anchor = ""
	}
	if a, err := url.PathUnescape(anchor); err == nil {
		anchor = a
	}
	p := diagnostics.Target(d.Path, l)
	switch {
	case p == "" && strings.HasPrefix(raw, "#"):
		return target{Paths: []string{d.Path}, Anchor: anchor}
	case p == "" && isURL(raw):
		return target{URL: raw}
	case p == "" || p == ".":
		return target{}
	case p == ".." || strings.HasPrefix(p, "../"):
		return target{Outside: true}
	}
	to := followPath(s, p)
	to.Anchor = anchor
	return to
}

// followPath gives what a path in the memory directory leads to.
func followPath(s *diagnostics.Snapshot, p string) target {
	if _, ok := s.Kind(p); ok {
		return target{Paths: []string{p}}
	}
	if !s.View.Exists(p) {
		return target{Missing: p}
	}
	for _, t := range s.View.Lookup(p) { // where the file system knows no case
		if strings.EqualFold(t.Path, p) {
			return target{Paths: []string{t.Path}}
		}
	}
	if path.Ext(p) == "" {
		return target{} // most likely a folder, which no editor opens
	}
	return target{File: p}
}

// followName gives the topics that a [[name]] means. "[[name#heading]]" names a
// heading, "[[#heading]]" one of the same file.
func followName(s *diagnostics.Snapshot, from, name string) target {
	if p := lookup(s, name); p != nil {
		return target{Paths: p}
	}
	name, anchor, has := strings.Cut(name, "#")
	if has && strings.TrimSpace(name) == "" {
		return target{Paths: []string{from}, Anchor: anchor}
	}
	if p := lookup(s, name); p != nil {
		return target{Paths: p, Anchor: anchor}
	}
	return target{Missing: strings.TrimSpace(name)}
}

// lookup gives the paths of the topics that a name means.
func lookup(s *diagnostics.Snapshot, name string) []string {
	var paths []string
	for _, t := range s.View.Lookup(name) {
		paths = append(paths, t.Path)
	}
	return paths
}

// near gives paths of topics that a path or name which leads nowhere may mean.
func near(s *diagnostics.Snapshot, ref string) []string {
	_, err := s.View.Resolve(ref)
	var none *memdir.NotFoundError
	if errors.As(err, &none) {
		return none.Near
	}
	return lookup(s, ref)
}

// isURL reports whether a destination is one that an editor may open: scripts,
// commands and files elsewhere are not.
func isURL(dest string) bool {
	u, err := url.Parse(dest)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

// stem gives a topic's path as a [[name]] that finds it.
func stem(p string) string {
	if ext := path.Ext(p); ext == ".md" {
		return strings.TrimSuffix(p, ext)
	}
	return p
}
