package language

import (
	"fmt"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/rules"
)

// Tip is what is said of a place.
type Tip struct {
	Markdown string
	Span     text.Span // what it is about
}

// Hover says what stands at offset: of a link or [[name]], the topic that it leads
// to; of a key or the type of a topic, what it is for; of an ignore comment, the
// rule; elsewhere in the index, how full that is. It says nothing of links to
// places that are no memory.
func Hover(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) (Tip, bool) {
	offset = clamp(d, offset)
	for _, about := range []func(*diagnostics.Snapshot, *diagnostics.Doc, int) (Tip, bool){aboutIgnore, aboutLink, aboutKey, aboutIndex} {
		if tip, ok := about(s, d, offset); ok {
			return tip, tip.Markdown != ""
		}
	}
	return Tip{}, false
}

func aboutIgnore(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) (Tip, bool) {
	var tip Tip
	for _, g := range d.Ignores() { // one for each rule that a comment names
		if offset >= g.Name.Start && offset <= g.Name.End {
			return Tip{ruleWords(s, g.Rule), g.Name}, true
		}
		if offset >= g.Comment.Start && offset < g.Comment.End {
			where := "on the line below"
			if g.File {
				where = "in this file"
			}
			tip = Tip{"The rules that this comment names are silent " + where + ".", g.Comment}
		}
	}
	return tip, tip.Markdown != ""
}

func ruleWords(s *diagnostics.Snapshot, id string) string {
	for _, r := range rules.All() {
		if r.ID != id {
			continue
		}
		severity := r.Severity
		if set, ok := s.Config.Severities[id]; ok && (!r.Safety || set > severity) {
			severity = set
		}
		words := fmt.Sprintf("**%s** · %s\n\n%s", id, severity, r.Summary)
		if r.Safety {
			words += "\n\nThis rule guards safety: no comment silences it. What it found can be allowed in your own configuration, by its fingerprint."
		}
		return words
	}
	return "There is no rule " + code(id) + ", so this comment silences nothing."
}

func aboutLink(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) (Tip, bool) {
	l, ok := linkAt(d, offset)
	if !ok {
		return Tip{}, false
	}
	to := follow(s, d, l)
	if to.Missing == "" {
		return Tip{targetWords(s, d, to), l.Span}, true
	}
	words := "**Broken link:** this directory has no file " + code(to.Missing) + "."
	if l.Wiki {
		words = "**Unknown name:** no topic is called " + code(to.Missing) + "."
	}
	if paths := near(s, to.Missing); len(paths) > 0 {
		words += "\n\nNearest: " + codes(paths)
	}
	return Tip{words, l.Span}, true
}

func targetWords(s *diagnostics.Snapshot, d *diagnostics.Doc, to target) string {
	switch {
	case to.File != "":
		return code(to.File) + " is a file of this directory but no memory: agents that read this memory do not get it."
	case to.Outside:
		return "This link leads out of the memory directory. What is there is no memory, and agents that read this one do not get it."
	case len(to.Paths) > 1:
		return "**Several topics are meant:** " + codes(to.Paths) + ". Name one by its path."
	case len(to.Paths) == 1:
		return fileWords(s, d, to.Paths[0], to.Anchor)
	}
	return ""
}

// fileWords introduces a file of the memory and shows how it begins, at the heading
// that an anchor names.
func fileWords(s *diagnostics.Snapshot, d *diagnostics.Doc, p, anchor string) string {
	if p == memfile.IndexName && anchor == "" {
		return budget(s, -1)
	}
	to := d
	if p != d.Path {
		var err error
		if to, err = s.Doc(p); err != nil {
			return code(p) + " cannot be read: " + escaped(err.Error(), 300)
		}
	}
	parts := []string{headline(to)}
	if t := to.Topic; t != nil && t.Meta.Description != "" {
		parts = append(parts, escaped(t.Meta.Description, 400))
	}
	if t := to.Topic; t != nil {
		parts = append(parts, strings.Join([]string{code(p), size(t.Size), "modified " + moment(modified(t))}, " · "))
	}
	part := to.File.Body
	if anchor != "" {
		h, ok := headingAt(to, anchor)
		switch {
		case ok:
			part = text.Span{Start: h.Line.Start, End: sectionEnd(to, h)}
		case to == d:
			return "This file has no heading " + code("#"+anchor) + "."
		default:
			parts = append(parts, "It has no heading "+code("#"+anchor)+".")
		}
	}
	if shown := preview(to.File.Text.Slice(part)); shown != "" {
		parts = append(parts, shown)
	}
	return strings.Join(parts, "\n\n")
}

func headline(d *diagnostics.Doc) string {
	switch {
	case d.Topic == nil && d.Kind == diagnostics.Log:
		return "**Daily log** " + code(d.Path)
	case d.Topic == nil:
		return "**Memory index**"
	}
	words := "**" + escaped(d.Topic.Name(), 100) + "**"
	if k := d.Topic.Meta.Type; k != "" {
		words += " · " + escaped(k, 40)
	}
	return words
}

// modified gives when a topic was last written: by its own word where that is a
// time, else by the file's.
func modified(t *memdir.Topic) time.Time {
	if t.Meta.Modified == "" { // as most have it; to parse nothing takes longer than the rest
		return t.ModTime
	}
	if at, err := time.Parse(time.RFC3339, t.Meta.Modified); err == nil {
		return at
	}
	return t.ModTime
}

func aboutKey(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) (Tip, bool) {
	if d.Kind != diagnostics.Topic {
		return Tip{}, false
	}
	k := keyAt(d, offset)
	if k == nil {
		return Tip{}, false
	}
	if k.Name == "type" && within(k.Raw, offset) {
		if words, ok := typeWords[k.Value]; ok {
			return Tip{"**" + k.Value + "**\n\n" + words, k.Raw}, true
		}
		return Tip{code(k.Value) + " is no type that readers know. It is one of " + codes(memfile.Types) + ".", k.Raw}, true
	}
	span := nameOf(d, k)
	if within(k.Raw, offset) {
		span = k.Raw
	}
	if words, ok := keyWords[k.Name]; ok && (k.Parent == "" || k.Parent == memfile.MetadataKey) {
		return Tip{"**" + k.Name + "**\n\n" + words, span}, true
	}
	return Tip{"No reader that mem knows uses the key " + code(k.Path()) + ". It is kept as it is.", span}, true
}

// within reports whether a cursor stands in or at either end of a span that holds
// something.
func within(s text.Span, offset int) bool {
	return s.Len() > 0 && s.Start <= offset && offset <= s.End
}

// nameOf gives where the name of a key stands.
func nameOf(d *diagnostics.Doc, k *memfile.Key) text.Span {
	t := d.File.Text
	line := t.Line(t.LineAt(k.Span.Start))
	start := min(k.Span.Start+k.Indent, line.End)
	colon := strings.IndexByte(t.String()[start:line.End], ':')
	if colon < 0 {
		return text.Span{Start: start, End: line.End}
	}
	return text.Span{Start: start, End: start + len(strings.TrimRight(t.String()[start:start+colon], " \t"))}
}

func aboutIndex(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) (Tip, bool) {
	if d.Kind != diagnostics.Index {
		return Tip{}, false
	}
	line := lineAt(d.File.Text, offset)
	return Tip{budget(s, line), d.File.Text.Line(line)}, true
}
