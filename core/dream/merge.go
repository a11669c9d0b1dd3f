package dream

import (
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// block is a part of a body that is taken over as a whole: a paragraph, a list item with
// what is indented below it, a fence of code. One without text is the heading itself, which
// says something even where nothing stands below it.
type block struct {
	heading string // that it stands below, its whole line; "" before the first
	text    string // without the line ending at its end
	item    bool
}

// blocks cuts a body.
func blocks(body string) []block {
	t := text.New(body)
	o := memfile.OutlineOf(t, text.Span{End: t.Len()})
	heads := map[int]memfile.Heading{}
	for _, h := range o.Headings {
		heads[t.LineAt(h.Line.Start)] = h
	}
	var out []block
	var now []string
	heading, item := "", false
	end := func() {
		if len(now) > 0 {
			out = append(out, block{heading, strings.TrimRight(strings.Join(now, "\n"), " \t\n"), item})
		}
		now, item = nil, false
	}
	for i := 0; i < t.Lines(); i++ {
		line := strings.TrimRight(t.Slice(t.Line(i)), "\r")
		if h, ok := heads[i]; ok {
			end()
			last := t.LineAt(max(h.Line.End-1, h.Line.Start))
			heading = strings.TrimRight(t.Slice(text.Span{Start: h.Line.Start, End: h.Line.End}), "\r\n")
			out = append(out, block{heading: heading})
			i = last
			continue
		}
		inCode := memfile.In(o.Code, t.Line(i).Start) && i > 0 && memfile.In(o.Code, t.Line(i).Start-1)
		switch {
		case inCode:
		case strings.TrimSpace(line) == "":
			end()
			continue
		case listItem(line):
			end()
			item = true
		}
		now = append(now, line)
	}
	end()
	return out
}

// listItem reports whether a line begins an item of a list at the left margin.
func listItem(line string) bool {
	if len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && line[1] == ' ' {
		return true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return digits > 0 && digits < 10 && len(line) > digits+1 && (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' '
}

// merged is one topic with what another says that it does not.
type merged struct {
	text  string
	added []string // the blocks that came in
}

// mergeTopics gives the text of keep, as it is now, with what drop says besides. What a
// topic says of itself stays keep's; keys that it lacks come from drop.
func mergeTopics(keepPath, keep, dropPath, drop string) (merged, error) {
	k, d := memfile.Parse(keep), memfile.Parse(drop)
	if k.Front != nil && !k.Front.Closed || d.Front != nil && !d.Front.Closed {
		return merged{}, fmt.Errorf(`one of them has frontmatter without a closing "---" line`)
	}
	body := relinked(d.BodyText(), dropPath, keepPath)
	known := folded(k.BodyText()) + "\n" + folded(k.Value("description"))
	all := blocks(body)
	if said := d.Value("description"); (k.Value("description") != "" || k.Front == nil) && !says(folded(body), folded(said)) {
		all = append([]block{{text: folded(said)}}, all...)
	}
	var out merged
	eol := k.Text.EOL()
	now := keep
	var headings []string // words of those that keep lacks
	for _, b := range all {
		words := folded(b.text)
		if words == "" {
			if title := folded(headingText(b.heading)); !says(known, title) {
				headings = append(headings, title)
			}
			continue
		}
		if says(known, words) || b.item && says(known, folded(strings.TrimLeft(b.text, "-*+ "))) {
			continue
		}
		now = insertBlock(now, b, eol)
		known += "\n" + words + "\n" + folded(headingText(b.heading))
		out.added = append(out.added, b.text)
	}
	for _, title := range headings { // those that came with no block
		if !says(known, title) {
			now = insertBlock(now, block{text: title}, eol)
			known += "\n" + title
			out.added = append(out.added, title)
		}
	}
	now, rest, err := mergeKeys(now, d)
	if err != nil {
		return merged{}, err
	}
	if rest != "" {
		now = insertBlock(now, block{text: rest}, eol)
		out.added = append(out.added, rest)
	}
	out.text = now
	return out, nil
}

// insertBlock puts a block at the end of the section that has its heading, or makes one.
func insertBlock(src string, b block, eol string) string {
	f := memfile.Parse(src)
	heads := f.Outline().Headings
	at, found := f.Body.End, b.heading == ""
	if found && len(heads) > 0 {
		at = heads[0].Line.Start
	}
	for i, h := range heads {
		if b.heading == "" || headingWords(f.Text.Slice(h.Line)) != headingWords(b.heading) {
			continue
		}
		found = true
		if at = f.Body.End; i+1 < len(heads) {
			at = heads[i+1].Line.Start
		}
		break
	}
	put := text.WithEOL(b.text, eol)
	if !found {
		put = text.WithEOL(b.heading, eol) + eol + eol + put
	}
	head, tail := src[:at], src[at:]
	content := strings.TrimRight(head, " \t\r\n")
	final := strings.HasSuffix(src, "\n") || strings.TrimSpace(f.BodyText()) == ""
	switch last := content[strings.LastIndexByte(content, '\n')+1:]; {
	case strings.TrimSpace(head[f.Body.Start:]) == "":
		if content = head; !strings.HasSuffix(content, "\n") && content != "" {
			content += eol
		}
		if !strings.HasSuffix(content, eol+eol) && content != "" {
			content += eol
		}
	case found && b.item && (listItem(last) || strings.HasPrefix(last, "  ")):
		content += eol
	default:
		content += eol + eol
	}
	if tail != "" {
		return content + put + eol + eol + tail
	}
	if final {
		put += eol
	}
	return content + put
}

// headingText is what a heading says, without its marks.
func headingText(line string) string {
	lines := strings.Split(strings.TrimSpace(line), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); len(lines) > 1 && strings.Trim(last, last[:1]) == "" {
		lines = lines[:len(lines)-1] // of "=" or "-", under one or more lines
	}
	return strings.TrimSpace(strings.Trim(folded(strings.Join(lines, "\n")), "# \t\r"))
}

// headingWords compares headings as people do.
func headingWords(line string) string { return strings.ToLower(headingText(line)) }

// follow gives a text of the file at from with its links to one topic leading to another;
// links from that other one to itself become words.
func follow(from, src string, l *library, drop, keep *topic) (string, bool) {
	f := memfile.Parse(src)
	var edits []text.Edit
	for _, k := range memfile.Links(f.Text, f.Body, f.Outline()) {
		if l.means(from, k) != drop {
			continue
		}
		switch {
		case from == keep.Path:
			edits = append(edits, text.Edit{Span: k.Span, New: f.Text.Slice(k.Text)})
		case k.Wiki:
			edits = append(edits, text.Edit{Span: k.Dest, New: keep.Name()})
		default:
			edits = append(edits, memdir.Retarget(f.Text, k, from, keep.Path))
		}
	}
	after, ok := text.Apply(src, edits)
	return after, ok && after != src
}

// unlink gives a text of the file at from with its links to a path as words.
func unlink(from, src, target string) (string, bool) {
	f := memfile.Parse(src)
	var edits []text.Edit
	for _, k := range memfile.Links(f.Text, f.Body, f.Outline()) {
		if targetOf(from, k) == target {
			edits = append(edits, text.Edit{Span: k.Span, New: f.Text.Slice(k.Text)})
		}
	}
	after, ok := text.Apply(src, edits)
	return after, ok && after != src
}
