package change

import (
	"strconv"
	"strings"

	"mem/core/memfile"
	"mem/core/text"
)

// kind of a unit: how it is recognised in another version of the file.
type unitKind byte

const (
	keyed unitKind = iota // by its key alone, wherever it stands
	plain                 // a line of text, by content and place
	stamp                 // by its key; two writers never conflict over it
)

// unit is a part of a file that is merged as a whole.
type unit struct {
	kind unitKind
	key  string // identity; for plain units what is compared
	part string // how the part is called in a conflict
	text string // the bytes
}

// split cuts a memory file into its units; joined they are the file again.
func split(path, src string) []unit {
	if path == memfile.IndexName {
		return splitIndex(src)
	}
	return splitTopic(src)
}

// splitTopic cuts a topic into frontmatter keys and sections.
func splitTopic(src string) []unit {
	f := memfile.Parse(src)
	var us []unit
	if head := src[:headStart(f)]; head != "" {
		us = append(us, unit{keyed, "head", "the start of the file", head})
	}
	if f.Front != nil {
		us = append(us, splitFrontmatter(f)...)
	}
	sections := f.Outline().Headings
	first := f.Body.End
	if len(sections) > 0 {
		first = sections[0].Section.Start
	}
	if lead := src[f.Body.Start:first]; lead != "" {
		us = append(us, unit{keyed, "s:", "the text before the first heading", lead})
	}
	for _, h := range sections {
		us = append(us, unit{keyed, "s:" + strconv.Itoa(h.Level) + " " + h.Text,
			"the section " + strconv.Quote(h.Text), src[h.Section.Start:h.Section.End]})
	}
	return unique(us)
}

func headStart(f *memfile.File) int {
	if f.Front != nil {
		return f.Front.Span.Start
	}
	return f.Body.Start
}

func splitFrontmatter(f *memfile.File) []unit {
	fm, src := f.Front, f.Text.String()
	us := []unit{{keyed, "f:open", "the frontmatter", src[fm.Span.Start:fm.YAML.Start]}}
	at := fm.YAML.Start
	gap := func(to int) {
		for at < to {
			end := f.Text.FullLine(f.Text.LineAt(at)).End
			end = min(end, to)
			us = append(us, unit{plain, src[at:end], "a line of the frontmatter", src[at:end]})
			at = end
		}
	}
	for i, k := range fm.Keys {
		gap(k.Span.Start)
		end := k.Span.End
		// A mapping's own line is a unit; the keys below it are units of their own.
		if k.Parent == "" && i+1 < len(fm.Keys) && fm.Keys[i+1].Parent == k.Name {
			end = f.Text.FullLine(f.Text.LineAt(k.Span.Start)).End
		}
		kind := keyed
		for _, s := range memfile.Stamps {
			if k.Name == s {
				kind = stamp
			}
		}
		us = append(us, unit{kind, "f:key:" + k.Path(), "the frontmatter key " + k.Path(), src[k.Span.Start:end]})
		at = end
	}
	gap(fm.YAML.End)
	if fm.Closed {
		us = append(us, unit{keyed, "f:close", "the frontmatter", src[fm.YAML.End:fm.Span.End]})
	}
	return us
}

// splitIndex cuts an index into entries, headings and single lines of text.
func splitIndex(src string) []unit {
	x := memfile.ParseIndex(src)
	t := x.Text()
	entries := map[int]memfile.Entry{}
	for _, e := range x.Entries {
		if e.List {
			entries[e.Line] = e
		}
	}
	headings := map[int]memfile.Heading{}
	for _, h := range x.Outline().Headings {
		headings[t.LineAt(h.Line.Start)] = h
	}
	var us []unit
	for i := 0; i < t.Lines(); {
		span := t.FullLine(i)
		u := unit{plain, t.Slice(span), "the line " + strconv.Quote(strings.TrimSpace(t.Slice(t.Line(i)))), t.Slice(span)}
		if e, ok := entries[i]; ok {
			span = text.Span{Start: span.Start, End: e.Span.End}
			u = unit{keyed, "e:" + e.Target, "the entry of " + e.Target, t.Slice(span)}
		} else if h, ok := headings[i]; ok {
			span = text.Span{Start: span.Start, End: h.Line.End}
			u = unit{keyed, "h:" + strconv.Itoa(h.Level) + " " + h.Text, "the heading " + strconv.Quote(h.Text), t.Slice(span)}
		}
		us = append(us, u)
		for i < t.Lines() && t.FullLine(i).Start < span.End {
			i++
		}
	}
	return unique(us)
}

// unique numbers the keys of keyed units that repeat.
func unique(us []unit) []unit {
	seen := map[string]int{}
	for i := range us {
		if us[i].kind == plain {
			continue
		}
		seen[us[i].key]++
		if n := seen[us[i].key]; n > 1 {
			us[i].key += "\x00" + strconv.Itoa(n)
		}
	}
	return us
}
