package memdir

import (
	"fmt"
	"strings"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// EditOf is one edit of a memory file: exactly one of its three forms.
type EditOf struct {
	Old, New   string // replace Old, which must occur once, by New
	Key, Value string // set a frontmatter key
	Section    string // replace what stands below this heading by Content
	Content    string
}

// Edit gives the change that edits a topic or the index. base is the text the
// writer started from; form is where new keys go in a file that has no form of
// its own. Line endings are the file's own.
func Edit(path, base string, e EditOf, form memfile.Form, st Stamp) (change.Change, error) {
	f := memfile.Parse(base)
	if path == memfile.IndexName && e.Key != "" {
		return change.Change{}, fmt.Errorf("%s is the index and has no frontmatter: readers would drop it; edit its text instead", path)
	}
	edits, err := editsOf(f, e, form)
	if err != nil {
		return change.Change{}, fmt.Errorf("%s: %w", path, err)
	}
	if path != memfile.IndexName {
		if edits, err = withStamps(f, edits, e, form, st); err != nil {
			return change.Change{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	file, ok := change.EditFile(path, base, edits)
	if !ok {
		return change.Change{}, nil
	}
	if after, _, err := file.After(); err != nil {
		return change.Change{}, err
	} else if err := sound(path, f, memfile.Parse(after)); err != nil {
		return change.Change{}, err
	}
	return change.Change{Op: "edit", Title: "edit " + path, Files: []change.File{file}}, nil
}

// withStamps adds the stamps to the edits of a topic. One without frontmatter
// gets it only when a key is set: an edit of its text leaves it as it is.
func withStamps(f *memfile.File, edits []text.Edit, e EditOf, form memfile.Form, st Stamp) ([]text.Edit, error) {
	if len(edits) == 0 || e.Key == "" && (f.Front == nil || !f.Front.Closed) {
		return edits, nil
	}
	if e.Key == "modified" || e.Key == "originSessionId" {
		return edits, nil
	}
	if e.Key != "" {
		return stamped(f, []memfile.KeyValue{{Name: e.Key, Value: e.Value}}, form, st)
	}
	stamps, err := stamped(f, nil, form, st)
	if err != nil {
		return nil, err
	}
	joined := append(stamps, edits...)
	if _, ok := text.Apply(f.Text.String(), joined); !ok {
		return edits, nil // the edit rewrites the stamps themselves
	}
	return joined, nil
}

func editsOf(f *memfile.File, e EditOf, form memfile.Form) ([]text.Edit, error) {
	switch {
	case e.Key != "":
		if (e.Key == "name" || e.Key == "description") && memfile.OneLine(e.Value) == "" {
			return nil, fmt.Errorf("the value of %s is empty; every memory has one", e.Key)
		}
		if e.Key == "type" && !memfile.KnownType(e.Value) {
			return nil, fmt.Errorf("type %q is unknown; it is one of %s", e.Value, strings.Join(memfile.Types, ", "))
		}
		if strings.ContainsAny(e.Key, ":\n\r#\"' {}[]") {
			return nil, fmt.Errorf("%q is no frontmatter key; give a plain name such as description", e.Key)
		}
		return f.SetKey(e.Key, e.Value, form)
	case e.Section != "":
		return replaceSection(f, e.Section, e.Content)
	}
	return replaceOnce(f, e.Old, e.New)
}

func replaceOnce(f *memfile.File, old, new string) ([]text.Edit, error) {
	if old == "" {
		return nil, fmt.Errorf("old is empty; give the text to replace, as it stands in the file")
	}
	src := f.Text.String()
	for _, eol := range []string{"", "\r\n", "\n"} { // as it came, then in either line ending
		if found := inLines(old, eol); strings.Contains(src, found) {
			old = found
			break
		}
	}
	switch n := strings.Count(src, old); n {
	case 1:
		at := strings.Index(src, old)
		eol := text.EOL(f.Text.Slice(f.Text.FullLine(f.Text.LineAt(at)))) // of the place, where endings are mixed
		if f.Text.LineAt(at) == f.Text.Lines()-1 {
			eol = f.Text.EOL()
		}
		return []text.Edit{{Span: text.Span{Start: at, End: at + len(old)}, New: text.WithEOL(new, eol)}}, nil
	case 0:
		return nil, fmt.Errorf("old does not occur in the file; read it and copy the text exactly")
	default:
		return nil, fmt.Errorf("old occurs %d times; give more of the text around the one you mean", n)
	}
}

func inLines(s, eol string) string {
	if eol == "" {
		return s
	}
	return text.WithEOL(s, eol)
}

// replaceSection replaces what stands between a heading and the next one of the
// same or a higher level.
func replaceSection(f *memfile.File, name, content string) ([]text.Edit, error) {
	heads := f.Outline().Headings
	want := strings.TrimSpace(strings.TrimLeft(name, "# "))
	found := -1
	for i, h := range heads {
		if h.Text != want {
			continue
		}
		if found >= 0 {
			return nil, fmt.Errorf("the heading %q occurs more than once; replace text by old and new instead", want)
		}
		found = i
	}
	if found < 0 {
		return nil, fmt.Errorf("there is no section %q; the sections are: %s", cutMark(want, MaxShown), strings.Join(quoteAll(Sections(f)), ", "))
	}
	h := heads[found]
	end := f.Body.End
	for _, next := range heads[found+1:] {
		if next.Level <= h.Level {
			end = next.Line.Start
			break
		}
	}
	eol := f.Text.EOL()
	old := f.Text.String()[h.Line.End:end]
	content = text.WithEOL(strings.Trim(content, "\r\n"), eol)
	tail := old[len(strings.TrimRight(old, " \t\r\n")):]
	new := eol + content + tail
	switch {
	case content == "":
		new = eol
	case strings.TrimSpace(old) == "" || tail == "" && end < f.Body.End:
		new = eol + content + eol
		if end < f.Body.End {
			new += eol
		}
	}
	if !strings.HasSuffix(f.Text.Slice(h.Line), "\n") {
		new = eol + new
	}
	return []text.Edit{{Span: text.Span{Start: h.Line.End, End: end}, New: new}}, nil
}

func quoteAll(names []string) []string {
	if len(names) == 0 {
		return []string{"none"}
	}
	const most = 20
	var out []string
	for i, n := range names {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(names)-most))
		}
		out = append(out, fmt.Sprintf("%q", cutMark(n, MaxShown)))
	}
	return out
}

// sound refuses an edit that breaks the frontmatter which the file had.
func sound(path string, before, after *memfile.File) error {
	if path == memfile.IndexName || before.Front == nil {
		return nil
	}
	if after.Front == nil || (before.Front.Closed && !after.Front.Closed) {
		return fmt.Errorf("%s: this edit would break the frontmatter; set its keys one by one instead", path)
	}
	had := map[memfile.ProblemCode]bool{}
	for _, p := range before.Problems {
		had[p.Code] = true
	}
	for _, p := range after.Problems {
		if !had[p.Code] {
			return fmt.Errorf("%s: this edit would break the file: %s", path, p.Message)
		}
	}
	return nil
}
