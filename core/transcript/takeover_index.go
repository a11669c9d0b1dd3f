package transcript

import (
	"strings"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// index takes the entries over, behind those that are there: a cut takes what is last. Words around
// the entries come along.
func (t *takeover) index() []change.File {
	old, here := t.old.Index, t.here.Index
	if !old.Exists {
		return nil
	}
	whole := old.Text().String()
	if _, ok := t.known(memfile.IndexName, whole); ok {
		return nil
	}
	content := t.entries(old)
	if !here.Exists {
		if strings.TrimSpace(content) == "" {
			return nil
		}
		if why := t.refuse("index.md", content); why != "" {
			t.note(memfile.IndexName, "", TakenLeft, why)
			return nil
		}
		t.arrive(memfile.IndexName, memfile.IndexName, whole, TakenOver)
		return []change.File{{Path: memfile.IndexName, Kind: change.Create, New: content}}
	}
	more := withoutTitle(content)
	base := here.Text().String()
	if strings.TrimSpace(more) == "" || strings.Contains(text.WithEOL(base, "\n"), strings.TrimSpace(more)) {
		t.note(memfile.IndexName, memfile.IndexName, TakenSame, "")
		return nil
	}
	if why := t.refuse("index.md", more); why != "" {
		t.note(memfile.IndexName, "", TakenLeft, why)
		return nil
	}
	f, ok := change.EditFile(memfile.IndexName, base, appendText(base, more, !joins(base, more)))
	if !ok {
		return nil
	}
	t.arrive(memfile.IndexName, memfile.IndexName, whole, TakenMerged)
	return []change.File{f}
}

// entries is the old index without entries of what stays behind and of what the
// index here has, and with the new names.
func (t *takeover) entries(old *memfile.Index) string {
	gone := map[string]bool{}
	for _, e := range old.Entries {
		dest, here := t.to[e.Target], t.here.Index
		if dest == "" && t.old.Topic(e.Target) != nil || dest != "" && here.Exists && here.Entry(dest) != nil {
			gone[e.Target] = true
		}
	}
	var edits []text.Edit
	for _, l := range old.Links {
		edits = append(edits, t.followLink(old.Text(), l, memfile.IndexName, memfile.IndexName)...)
	}
	content, ok := text.Apply(old.Text().String(), edits)
	if !ok {
		content = old.Text().String()
	}
	for target := range gone {
		// Entries are taken out one after the other: two may share a line.
		x := memfile.ParseIndex(content)
		if dest := t.to[target]; dest != "" {
			target = dest
		}
		if s, ok := text.Apply(content, x.Remove(target)); ok {
			content = s
		}
	}
	return content
}

// withoutTitle is what an index says below its title, without frontmatter.
func withoutTitle(content string) string {
	f := memfile.Parse(content)
	body := strings.TrimPrefix(text.WithEOL(f.BodyText(), "\n"), text.BOM)
	lines := strings.SplitAfter(strings.TrimLeft(body, "\n"), "\n")
	if len(lines) > 0 && strings.HasPrefix(lines[0], "# ") {
		lines = lines[1:]
	}
	more := strings.Trim(strings.Join(lines, ""), "\n")
	if more == "" {
		return ""
	}
	return more + "\n"
}

// joins reports whether a text goes on with the list that another one ends with.
func joins(base, more string) bool {
	lines := strings.Split(strings.TrimRight(text.WithEOL(base, "\n"), "\n"), "\n")
	if strings.HasSuffix(text.WithEOL(base, "\n"), "\n\n") {
		return true // there is a blank line already
	}
	isEntry := func(s string) bool { return strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") }
	return isEntry(lines[len(lines)-1]) && isEntry(more)
}
