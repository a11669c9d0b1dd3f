package memdir

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// Memory is what a writer gives for one topic.
type Memory struct {
	Name        string
	Description string
	Type        string
	Body        string
	Summary     string // of the entry; the description where it is empty
	Path        string // from the name where it is empty
}

// Stamp is who writes and when; what we write carries both.
type Stamp struct {
	Origin string // session id
	Now    time.Time
}

// modified gives the time as the client writes it.
func (s Stamp) modified() string { return s.Now.UTC().Format("2006-01-02T15:04:05.000Z") }

func (m *Memory) check() error {
	m.Name, m.Description = memfile.OneLine(m.Name), memfile.OneLine(m.Description)
	switch {
	case m.Name == "":
		return fmt.Errorf("name is empty; give a short name such as %q", "api-style")
	case m.Description == "":
		return fmt.Errorf("description is empty; give one line that tells when this memory matters")
	case !memfile.KnownType(m.Type):
		return fmt.Errorf("type %q is unknown; it is one of %s", m.Type, strings.Join(memfile.Types, ", "))
	case len(m.Body) > DefaultTopicBytes/2:
		return fmt.Errorf("the body has %d bytes; a memory may have %d. Keep what matters, or split it", len(m.Body), DefaultTopicBytes/2)
	}
	for field, s := range map[string]string{"name": m.Name, "description": m.Description, "body": m.Body, "summary": m.Summary} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("the %s is not valid UTF-8; send it as UTF-8", field)
		}
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("the %s holds a NUL character, which no text has; leave it out", field)
		}
	}
	return nil
}

// Place gives the path a memory will have, and the topic that stands there or
// bears its name.
func (v *View) Place(m Memory) (path string, existing *Topic, err error) {
	if err := m.check(); err != nil {
		return "", nil, err
	}
	if m.Path != "" {
		if err := CheckTopicPath(m.Path); err != nil {
			return "", nil, err
		}
		return m.Path, v.Topic(m.Path), nil
	}
	for _, t := range v.Topics {
		if t.Meta.Name == m.Name {
			return t.Path, t, nil
		}
	}
	slug := Slug(m.Name)
	if slug == "" {
		return "", nil, fmt.Errorf("the name %q has no letter or digit to make a file name of; give a path", m.Name)
	}
	path = slug + ".md"
	if err := CheckTopicPath(path); err != nil {
		return "", nil, fmt.Errorf("the name %q gives no usable file name (%w); give a path", m.Name, err)
	}
	return path, v.Topic(path), nil
}

// Create gives the change that adds a topic and its entry.
func (v *View) Create(path string, m Memory, st Stamp) (change.Change, error) {
	c, err := v.CreateAlone(path, m, st)
	if err != nil {
		return c, err
	}
	m.Name, m.Description = memfile.OneLine(m.Name), memfile.OneLine(m.Description)
	return v.withEntry(c, path, m), nil
}

// CreateAlone gives the change that adds a topic without an entry.
func (v *View) CreateAlone(path string, m Memory, st Stamp) (change.Change, error) {
	if err := m.check(); err != nil {
		return change.Change{}, err
	}
	c := change.Change{Op: "write", Title: "write " + path}
	meta := memfile.Meta{Name: m.Name, Description: m.Description, Type: m.Type, OriginSessionID: st.Origin, Modified: st.modified()}
	c.Files = append(c.Files, change.File{Path: path, Kind: change.Create, New: memfile.New(v.Form(), meta, m.Body)})
	return c, nil
}

// Replace gives the change that gives a topic a new text, and its entry the new
// title and summary. base is the text the writer started from; keys it does not
// set and everything outside of body and keys stay as they are.
func (v *View) Replace(path, base string, m Memory, st Stamp) (change.Change, error) {
	if err := m.check(); err != nil {
		return change.Change{}, err
	}
	f := memfile.Parse(base)
	edits, err := stamped(f, []memfile.KeyValue{{Name: "name", Value: m.Name}, {Name: "description", Value: m.Description}, {Name: "type", Value: m.Type}}, v.Form(), st)
	if err != nil {
		return change.Change{}, fmt.Errorf("%s: %w", path, err)
	}
	c := change.Change{Op: "write", Title: "rewrite " + path}
	if file, ok := change.EditFile(path, base, append(edits, f.ReplaceBody(m.Body)...)); ok {
		c.Files = append(c.Files, file)
	}
	return v.withEntry(c, path, m), nil
}

// stamped gives the edits that set keys and the stamps with them: modified
// always, originSessionId where the file has none.
func stamped(f *memfile.File, kvs []memfile.KeyValue, form memfile.Form, st Stamp) ([]text.Edit, error) {
	if f.Value("originSessionId") == "" && st.Origin != "" {
		kvs = append(kvs, memfile.KeyValue{Name: "originSessionId", Value: st.Origin})
	}
	kvs = append(kvs, memfile.KeyValue{Name: "modified", Value: st.modified()})
	return f.SetKeys(kvs, form)
}

// withEntry adds the edit of the index that gives a topic its entry.
func (v *View) withEntry(c change.Change, path string, m Memory) change.Change {
	summary := m.Summary
	if summary == "" {
		summary = summaryOf(m.Description, m.Name, path, v.limits.entryLength())
	}
	x := v.Index
	var edits []text.Edit
	if e := x.Entry(path); e != nil {
		if !e.List {
			return c // a table or a heading is somebody's own layout
		}
		edits = x.Rewrite(*e, m.Name, summary)
	} else {
		edits = x.Insert(memfile.EntryLine(m.Name, path, summary))
	}
	if file, ok := change.EditFile(memfile.IndexName, x.Text().String(), edits); ok {
		c.Files = append(c.Files, file)
	}
	return c
}

// TopicEntry gives the text of the entry, without line ending, that a topic gets:
// its name, and as much of its description as keeps the line within length
// characters, without what does not show in either. It fails where no link can lead to the
// path, so that another entry would be missing still, and where the path itself has
// characters that do not show.
func TopicEntry(t *Topic, length int) (string, error) {
	if strings.ContainsFunc(t.Path, hiddenRune) {
		return "", &FileError{Path: t.Path, Reason: "has characters in its name that do not show", Hint: "rename the file"}
	}
	name := visible(t.Name())
	line := memfile.EntryLine(name, t.Path, summaryOf(memfile.OneLine(visible(t.Meta.Description)), name, t.Path, length))
	if memfile.ParseIndex(line).Entry(t.Path) == nil {
		return "", &FileError{Path: t.Path, Reason: "has a name that no link leads to", Hint: "rename the file"}
	}
	return line, nil
}

// visible gives words without characters that do not show, which may have come out of an
// escape; those that part words part them still.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case hiddenRune(r):
			return -1
		}
		return r
	}, s)
}

// summaryOf cuts a description so that the entry has at most length characters.
func summaryOf(description, name, path string, length int) string {
	return Shortened(description, length-utf8.RuneCountInString(memfile.EntryLine(name, path, "x"))+1)
}

// Retitle gives the change with the entry of a topic brought up to a new name or
// description, where the entry says what the old one said. Other entries are
// somebody's own words and stay.
func Retitle(c change.Change, x *memfile.Index, path string, before, after memfile.Meta, limits Limits) change.Change {
	e := x.Entry(path)
	if e == nil || !e.List {
		return c
	}
	title, summary := e.Title, e.Summary
	if title == before.Name {
		title = after.Name
	}
	if old := memfile.OneLine(before.Description); summary == old || summary == summaryOf(old, before.Name, path, limits.entryLength()) {
		summary = summaryOf(memfile.OneLine(after.Description), title, path, limits.entryLength())
	}
	if file, ok := change.EditFile(memfile.IndexName, x.Text().String(), x.Rewrite(*e, title, summary)); ok {
		c.Files = append(c.Files, file)
	}
	return c
}

// Shortened cuts s to n characters, at least 20, at a word, with a mark.
func Shortened(s string, n int) string {
	n = max(n, 20)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	cut := string([]rune(s)[:n-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

// Log gives the change that appends a note to the daily log of the stamp's day.
func Log(n LogNote, st Stamp) change.Change {
	n.Origin = st.Origin
	title := n.Name
	if title == "" {
		title = "note"
	}
	return change.Change{Op: "log", Title: "log: " + memfile.OneLine(title), Files: []change.File{
		{Path: LogPath(st.Now), Kind: change.Append, New: LogEntry(st.Now, n)},
	}}
}

// Delete gives the change that removes a topic and its entries.
func (v *View) Delete(path, base string) change.Change {
	c := change.Change{Op: "delete", Title: "delete " + path}
	c.Files = append(c.Files, change.File{Path: path, Kind: change.Delete, Base: base})
	if file, ok := change.EditFile(memfile.IndexName, v.Index.Text().String(), v.Index.Remove(path)); ok {
		c.Files = append(c.Files, file)
	}
	return c
}

// Sections names the headings of a file, for messages.
func Sections(f *memfile.File) []string {
	var names []string
	for _, h := range f.Outline().Headings {
		names = append(names, h.Text)
	}
	return slices.Clip(names)
}
