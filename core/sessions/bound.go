package sessions

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/text"
	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// What sessions say has no bounds, a result has: lengths are weights, as in
// core/memory, which count characters once escaped as JSON.
const (
	maxPage    = 20_000 // of the main part of a result, which a tool gives twice
	maxTokens  = 10_000 // of the same
	maxSkipped = 20
	maxNotes   = 10
	maxNote    = 600
	maxLine    = 300 // of a title or a prompt
	maxName    = 200 // of a branch, a model
	maxPath    = 1_000
)

// page gives as many of the items as fit, at least one, and how many these are where
// that is not all, else 0.
func page[T any](items []T, limit int) (kept []T, next int) {
	room, tokens := maxPage, 4*maxTokens
	for i, it := range items[:min(len(items), limit)] {
		b, err := json.Marshal(it)
		if err != nil {
			continue // what cannot be encoded is an error elsewhere
		}
		c, q := text.Weight(string(b))
		room, tokens = room-c, tokens-q
		if (room < 0 || tokens < 0) && i > 0 {
			return items[:i:i], i
		}
	}
	if limit < len(items) {
		return items[:limit:limit], limit
	}
	return items, 0
}

// fewSkipped bounds what was skipped, with word of the rest.
func (s *Sessions) fewSkipped(all []transcript.Skipped) (some []transcript.Skipped, more int) {
	for _, x := range all[:min(len(all), maxSkipped)] {
		some = append(some, transcript.Skipped{Path: s.place(x.Path, maxPath), Reason: memdir.Shown(s.words(x.Reason), maxNote)})
	}
	return some, len(all) - len(some)
}

// fewNotes bounds notes, each on one line.
func (s *Sessions) fewNotes(all []string) []string {
	var out []string
	for _, n := range all {
		if n == "" {
			continue
		}
		if len(out) == maxNotes {
			return append(out, fmt.Sprintf("More notes are left out here: %d.", len(all)-maxNotes))
		}
		out = append(out, memdir.Shown(s.words(n), maxNote))
	}
	return out
}

// said is a text of a transcript within a result: bounded, and with what nobody would see
// spelled out, since a model reads what a person does not.
func said(s string, limit int) string { return memory.Fit(shown.Plain(s), limit) }

// fact is what records say of a session, without secrets unless they are asked for: directories,
// branches and models are named by whoever works there.
func (s *Sessions) fact(v string, limit int) string {
	return said(shown.NewRedactor(s.scanner()).Text(v), limit)
}

// places removes secrets from paths and from what names them. The client's folder is named after
// the directory of its sessions, so it knows the directories that were met. It is safe for concurrent use.
type places struct {
	mu   sync.Mutex
	red  *shown.Redactor
	seen map[string]string // directories, as they are shown
	own  []string          // those of the project, which is met first
}

// maxPlaces bounds the directories that are remembered.
const maxPlaces = 10_000

// directory gives a directory without secrets, and remembers those.
func (p *places) directory(dir string) string {
	p.lock()
	defer p.mu.Unlock()
	return p.meet(dir)
}

// lock begins what knows the directories of the project.
func (p *places) lock() {
	p.mu.Lock()
	for _, dir := range p.own {
		p.meet(dir)
	}
	p.own = nil
}

func (p *places) meet(dir string) string {
	if v, ok := p.seen[dir]; ok {
		return v
	}
	v := p.red.Directory(dir)
	if len(p.seen) < maxPlaces {
		p.seen[dir] = v
	}
	return v
}

// met remembers the directories of sessions before the first path is shown.
func (p *places) met(list []*transcript.Session) {
	for _, x := range list {
		p.directory(x.Cwd)
		p.directory(x.From)
	}
}

// words gives words of ours without secrets.
func (s *Sessions) words(v string) string {
	s.places.lock()
	defer s.places.mu.Unlock()
	return s.places.red.Text(v)
}

// place gives the path of a file without secrets. A file's name is that of a session,
// which is told beside it.
func (s *Sessions) place(path string, limit int) string {
	if path == "" {
		return ""
	}
	folder, name := filepath.Split(path)
	return said(s.places.directory(folder)+s.places.again(name), limit)
}

func (p *places) again(name string) string {
	p.lock()
	defer p.mu.Unlock()
	return p.red.Again(name)
}

// cleanError is an error with words that hold no secret.
type cleanError struct {
	error
	words string
}

func (e *cleanError) Error() string { return e.words }
func (e *cleanError) Unwrap() error { return e.error }

// clean takes secrets out of the words of an error; what kind of error it is stays.
func (s *Sessions) clean(err *error) {
	if *err == nil {
		return
	}
	if words := s.words((*err).Error()); words != (*err).Error() {
		*err = &cleanError{*err, words}
	}
}

// stamp is a time as results give it, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
