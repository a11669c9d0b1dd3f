package diagnostics

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
)

// Snapshot is what rules and fixes read: a View, what surrounds it, and what is
// kept of its files. It is immutable; checks of several Snapshots of one
// directory share a Cache.
type Snapshot struct {
	View   *memdir.View
	Config *Config
	// Guide is what the project's own instructions say; nil where there are none.
	Guide *Guide
	// Stamp is who mends and when; topics that a fix creates carry it.
	Stamp memdir.Stamp
	// Beside is another memory of the same agent, nearer the root of the project, as a path
	// from there; "" where this one is no agent's or there is none.
	Beside string
	// Team is the other side where this memory is shared through a snapshot, or is one; nil
	// where it is not.
	Team *Team

	cache *Cache
	docs  *docs // nil keeps none
}

// docs keeps the files that were asked for last, so that what makes thousands of
// fixes in one file reads it once.
type docs struct {
	mu   sync.Mutex
	last []*Doc // the newest first
}

// maxDocs bounds them: a fix reads the file of its finding and a few around it.
const maxDocs = 8

// keepingDocs gives the same Snapshot, which keeps what is read of it.
func (s *Snapshot) keepingDocs() *Snapshot {
	same := *s
	same.docs = &docs{}
	return &same
}

// get gives a file that is kept, or what read gives.
func (k *docs) get(p string, read func(string) (*Doc, error)) (*Doc, error) {
	if k == nil {
		return read(p)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.last, func(d *Doc) bool { return d.Path == p })
	if i < 0 {
		d, err := read(p)
		if err != nil {
			return nil, err
		}
		k.last = slices.Insert(k.last, 0, d)
		k.last = k.last[:min(len(k.last), maxDocs)]
		return d, nil
	}
	d := k.last[i]
	copy(k.last[1:i+1], k.last[:i])
	k.last[0] = d
	return d, nil
}

// NewSnapshot makes a Snapshot. cache may be nil; config nil means the defaults.
func NewSnapshot(v *memdir.View, config *Config, guide *Guide, stamp memdir.Stamp, cache *Cache) *Snapshot {
	if config == nil {
		config = DefaultConfig()
	}
	if cache == nil {
		cache = NewCache()
	}
	return &Snapshot{View: v, Config: config, Guide: guide, Stamp: stamp, cache: cache}
}

// Now is the time of the check.
func (s *Snapshot) Now() time.Time { return s.Stamp.Now }

// Cache keeps what was found in files that did not change, across Snapshots of
// one directory. It is safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	entries map[string]*entry
	engine  *Engine // that checked last
}

func (c *Cache) servedBy(e *Engine) {
	c.mu.Lock()
	c.engine = e
	c.mu.Unlock()
}

// NewCache makes an empty cache.
func NewCache() *Cache { return &Cache{entries: map[string]*entry{}} }

// entry is what is kept of one file. The strings in it are copies, so that it does
// not hold the file's text, unless something was found there.
type entry struct {
	of      identity
	checked identityOfCheck
	links   []memfile.Link
	refs    []memfile.Reference
	ignores []Ignore
	found   []Finding
	failed  []Failure
}

// identity tells whether a file is the one that was looked at. A View gives the
// same Topic and the same Index again while a file is the same.
type identity struct {
	topic *memdir.Topic
	index *memfile.Index
	log   memdir.DailyLog
}

type identityOfCheck struct {
	config     *Config
	guide      *Guide
	late       bool
	linkedOnly bool
}

// covers reports whether what was found serves a check that wants to know less.
func (c identityOfCheck) covers(want identityOfCheck) bool {
	want.late = want.late || c.late
	return c == want
}

func (s *Snapshot) identity(p string) (identity, Kind, bool) {
	if p == memfile.IndexName {
		return identity{index: s.View.Index}, Index, s.View.Index.Exists
	}
	if t := s.View.Topic(p); t != nil {
		return identity{topic: t}, Topic, true
	}
	if strings.HasPrefix(p, memdir.LogsDir+"/") {
		logs := s.View.Logs // newest first
		date := memdir.Stem(p)
		i := sort.Search(len(logs), func(i int) bool { return logs[i].Date <= date })
		if i < len(logs) && logs[i].Path == p {
			return identity{log: logs[i]}, Log, true
		}
	}
	return identity{}, 0, false
}

// Paths gives every file of the memory: the index, topics, logs.
func (s *Snapshot) Paths() []string {
	all := make([]string, 0, 1+len(s.View.Topics)+len(s.View.Logs))
	if s.View.Index.Exists {
		all = append(all, memfile.IndexName)
	}
	for _, t := range s.View.Topics {
		all = append(all, t.Path)
	}
	for _, l := range s.View.Logs {
		all = append(all, l.Path)
	}
	return all
}

// Kind tells what a file is to the memory, false where it is none of its files.
func (s *Snapshot) Kind(p string) (Kind, bool) {
	_, kind, ok := s.identity(p)
	return kind, ok
}

// Doc gives one file of the memory.
func (s *Snapshot) Doc(p string) (*Doc, error) { return s.docs.get(p, s.read) }

func (s *Snapshot) read(p string) (*Doc, error) {
	id, kind, ok := s.identity(p)
	if !ok {
		return nil, fmt.Errorf("%s is no file of this memory", memdir.ShownName(p))
	}
	if kind == Index {
		d := newDoc(p, kind, time.Time{}, id.index.File)
		d.Index = id.index
		return d, nil
	}
	b, err := s.View.LoadPath(p)
	if err != nil {
		return nil, err
	}
	if kind == Log {
		return newDoc(p, kind, id.log.ModTime, b.File), nil
	}
	d := newDoc(p, kind, id.topic.ModTime, b.File)
	d.Topic = id.topic
	return d, nil
}

func (s *Snapshot) docFor(d *Doc, p string) (*Doc, error) {
	if d != nil && d.Path == p {
		return d, nil
	}
	return s.Doc(p)
}

// Links gives the links of a file, from what is kept where it did not change. A
// file that cannot be read has none.
func (s *Snapshot) Links(p string) []memfile.Link {
	id, _, ok := s.identity(p)
	if !ok {
		return nil
	}
	if id.index != nil {
		return id.index.Links
	}
	if e := s.facts(p, id); e != nil {
		return e.links
	}
	return nil
}

// References gives what else in a file leads somewhere, kept as Links is.
func (s *Snapshot) References(p string) []memfile.Reference {
	id, _, ok := s.identity(p)
	if !ok {
		return nil
	}
	if e := s.facts(p, id); e != nil {
		return e.refs
	}
	return nil
}

// facts gives what is kept of a file, nil where it cannot be read.
func (s *Snapshot) facts(p string, id identity) *entry {
	s.cache.mu.Lock()
	e := s.cache.entries[p]
	s.cache.mu.Unlock()
	if e != nil && e.of == id {
		return e
	}
	d, err := s.Doc(p)
	if err != nil {
		return nil
	}
	e = factsOf(id, d)
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if now := s.cache.entries[p]; now != nil && now.of == id {
		return now // of a check that was done meanwhile
	}
	s.cache.entries[p] = e
	return e
}

// wanted tells what a check wants to know of each file.
func (s *Snapshot) wanted(late bool) identityOfCheck {
	return identityOfCheck{s.Config, s.Guide, late, s.View.LinkedOnly}
}

// kept gives what an earlier check found in a file, nil where it was another file or
// the check wanted to know less.
func (s *Snapshot) kept(p string, id identity, want identityOfCheck) *entry {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if e := s.cache.entries[p]; e != nil && e.of == id && e.checked.covers(want) {
		return e
	}
	return nil
}

func factsOf(id identity, d *Doc) *entry {
	var links []memfile.Link // of the index, see Links
	if d.Index == nil {
		links = slices.Clone(d.Links()) // the entry outlives the text
	}
	for i := range links {
		links[i] = links[i].Clone()
	}
	refs := slices.Clone(d.References())
	for i := range refs {
		refs[i] = refs[i].Clone()
	}
	return &entry{of: id, links: links, refs: refs, ignores: d.ignores()}
}

// Target gives the path in the memory directory that a Markdown link in the file
// at from leads to, "" where it leads to no relative file. A path that starts
// with "../" leads out of the directory.
func Target(from string, l memfile.Link) string {
	if l.Wiki || l.Path() == "" {
		return ""
	}
	if !strings.Contains(from, "/") {
		return l.Path()
	}
	return path.Join(path.Dir(from), l.Path())
}

// prune forgets files that are gone.
func (c *Cache) prune(s *Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) <= 2*(len(s.View.Topics)+len(s.View.Logs))+1000 {
		return
	}
	for p := range c.entries {
		if _, _, ok := s.identity(p); !ok {
			delete(c.entries, p)
		}
	}
}

// withContext is the part of a Pass that all rules share.
func (s *Snapshot) pass(ctx context.Context, r *Rule, d *Doc) *Pass {
	return &Pass{Snapshot: s, Context: ctx, Doc: d, rule: r}
}
