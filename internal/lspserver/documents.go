package lspserver

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/uri"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// document is one open file as it was at one time. It is never changed, so that
// two pointers to it being equal says that nothing has changed.
type document struct {
	uri     uri.URI // as the client wrote it
	path    string
	version int32
	text    *text.Text
	modTime time.Time // when the text last changed
	// lost is set where an edit could not be understood: what the editor has is
	// unknown until it sends the whole text.
	lost bool
	// idle is set for an index that makes no memory directory of its folder.
	idle bool

	dir string // the memory directory that it lies in; "" where it is none of ours
	rel string // its path in there, with slashes
}

// buffer is the document for a View.
func (d *document) buffer() memdir.Buffer {
	return memdir.Buffer{Text: d.text.String(), Version: d.version, ModTime: d.modTime}
}

// documents are the files that are open, as they were at one time. It is never
// changed.
type documents struct{ byPath map[string]*document }

func (d *documents) at(path string) *document {
	if d == nil {
		return nil
	}
	return d.byPath[path]
}

// of gives the document of a file of a memory directory.
func (d *documents) of(dir, rel string) *document {
	if doc := d.at(filepath.Join(dir, filepath.FromSlash(rel))); doc != nil && doc.rel == rel {
		return doc
	}
	for _, doc := range d.byPath { // one that the client spells in another way
		if doc.dir == dir && doc.rel == rel {
			return doc
		}
	}
	return nil
}

// find gives the document that a URI of the client means.
func (d *documents) find(u uri.URI) *document {
	path, ok := pathOf(string(u))
	if !ok {
		return nil
	}
	return d.at(path)
}

// in gives the documents of a memory directory, by path.
func (d *documents) in(dir string) []*document {
	var out []*document
	for _, doc := range d.byPath {
		if doc.dir == dir {
			out = append(out, doc)
		}
	}
	slices.SortFunc(out, func(a, b *document) int { return strings.Compare(a.rel, b.rel) })
	return out
}

func (d *documents) with(docs ...*document) *documents {
	all := maps.Clone(d.byPath)
	if all == nil {
		all = map[string]*document{}
	}
	for _, doc := range docs {
		all[doc.path] = doc
	}
	return &documents{all}
}

func (d *documents) without(path string) *documents {
	all := maps.Clone(d.byPath)
	delete(all, path)
	return &documents{all}
}

// documents gives what is open now.
func (s *server) documents() *documents {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs
}

// isOurs reports whether a file can be one of a memory, by its name.
func isOurs(path string) bool {
	name := filepath.Base(path)
	return name == diagnostics.ConfigName || strings.EqualFold(filepath.Ext(name), ".md")
}

// placed gives the document with the memory directory that it lies in. An index
// that is open and not saved makes a directory too.
func (d *documents) placed(doc document) *document {
	doc.dir, doc.rel = "", ""
	if !isOurs(doc.path) {
		return &doc
	}
	dir, _ := memdir.Containing(doc.path)
	for up := filepath.Dir(doc.path); len(up) > len(dir); up = filepath.Dir(up) {
		if index := d.at(filepath.Join(up, memfile.IndexName)); index != nil && !index.idle {
			dir = up
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	if doc.idle {
		if _, err := os.Lstat(doc.path); err == nil { // saved meanwhile
			doc.idle = false
		} else if dir == filepath.Dir(doc.path) {
			dir = ""
		}
	}
	if dir == "" {
		return &doc
	}
	rel, err := filepath.Rel(dir, doc.path)
	if err != nil || !filepath.IsLocal(rel) {
		return &doc
	}
	doc.dir, doc.rel = dir, filepath.ToSlash(rel)
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		doc.rel = spelled(dir, doc.rel)
	}
	return &doc
}

// spelled gives the path of a file as its folders spell it, where the system takes
// one spelling for another: a View compares names byte by byte.
func spelled(dir, rel string) string {
	names := strings.Split(rel, "/")
	for i, name := range names {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.Join(names[:i]...)))
		if err != nil {
			break
		}
		other := ""
		for _, e := range entries {
			if e.Name() == name {
				other = ""
				break
			}
			if strings.EqualFold(e.Name(), name) {
				other = e.Name()
			}
		}
		if other != "" {
			names[i] = other
		}
	}
	return strings.Join(names, "/")
}

// placeAgain looks anew where all documents lie, after an index came or went. It
// gives the directories that are affected.
func (s *server) placeAgain() (changed []string) {
	var left []*document
	defer func() {
		for _, doc := range left {
			s.clear(doc)
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range s.docs.byPath {
		again := s.docs.placed(*doc)
		if again.dir != doc.dir {
			left = append(left, doc)
			s.docs = s.docs.with(again)
			changed = append(changed, doc.dir, again.dir)
		}
	}
	return changed
}

// now is the time for modification times, which have no monotonic part.
func (s *server) now() time.Time { return s.o.Env.Time().Round(0) }
