package language

import (
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// Definition gives what the text at offset leads to, and the part of the text that
// does, empty where that is not told: from a link, a [[name]] or the line of an entry to the topic, at the heading
// that an anchor names, else to its start; from the name of a topic to its entries.
// It gives several places where a [[name]] means several topics, and none where a
// link is broken or leads out of the memory.
func Definition(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) (to []Location, from text.Span) {
	offset = clamp(d, offset)
	if l, ok := linkAt(d, offset); ok {
		return openAll(s, d, l), l.Span
	}
	if e := entryAt(d, offset); e != nil {
		return openAll(s, d, e.Link), text.Span{}
	}
	if k := keyAt(d, offset); k != nil && d.Kind == diagnostics.Topic && k == d.File.Key("name") {
		x := s.View.Index
		for i := range x.Entries {
			if e := &x.Entries[i]; e.Target == d.Path {
				to = append(to, Location{Path: memfile.IndexName, Span: e.Link.Span, Text: x.Text()})
			}
		}
		if within(k.Raw, offset) {
			from = k.Raw
		}
	}
	return to, from
}

func openAll(s *diagnostics.Snapshot, d *diagnostics.Doc, l memfile.Link) []Location {
	goal := follow(s, d, l)
	var to []Location
	if goal.File != "" {
		to = append(to, Location{Path: goal.File, Text: text.New("")})
	}
	for _, p := range goal.Paths {
		to = append(to, open(s, d, p, goal.Anchor))
	}
	return to
}

// open gives the place in a file where reading it begins. A file that cannot be
// read, and one without that heading, is opened at its start.
func open(s *diagnostics.Snapshot, d *diagnostics.Doc, p, anchor string) Location {
	start := Location{Path: p, Text: text.New("")}
	if anchor == "" {
		return start
	}
	if p != d.Path {
		var err error
		if d, err = s.Doc(p); err != nil {
			return start
		}
	}
	h, ok := headingAt(d, anchor)
	if !ok {
		return start
	}
	return Location{Path: p, Span: lineOf(d, h), Text: d.File.Text}
}

// lineOf gives the first line of a heading with its marks, without its ending.
func lineOf(d *diagnostics.Doc, h memfile.Heading) text.Span {
	t := d.File.Text
	return text.Span{Start: h.Line.Start, End: max(h.Line.Start, t.Line(t.LineAt(h.Line.Start)).End)}
}

// keyAt gives the key of the frontmatter on whose line offset stands: that of a
// value with several lines on each of them, that of a mapping on its own.
func keyAt(d *diagnostics.Doc, offset int) *memfile.Key {
	fm := d.File.Front
	if fm == nil || offset > fm.YAML.End {
		return nil
	}
	t := d.File.Text
	var found *memfile.Key
	for i := range fm.Keys { // a nested key stands behind its parent and wins
		k := &fm.Keys[i]
		last := t.Line(t.LineAt(max(k.Span.End-1, k.Span.Start)))
		if k.Span.Start <= offset && offset <= last.End {
			found = k
		}
	}
	if found != nil && found.Name == memfile.MetadataKey && found.Parent == "" && found.Raw.Len() == 0 &&
		t.LineAt(offset) != t.LineAt(found.Span.Start) {
		return nil
	}
	return found
}
