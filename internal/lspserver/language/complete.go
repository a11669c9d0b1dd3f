package language

import (
	"slices"
	"strings"

	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/rules"
)

// Item is one thing that could be written at a place.
type Item struct {
	Label         string
	Detail        string // beside the label, short
	Documentation string // plain text
	Insert        string // in place of Replace
	// Filter is what the text between the start of Replace and the cursor is compared
	// with, by an editor that goes on filtering: the label, behind the marks that
	// stand in that text, such as "<" or a quotation mark.
	Filter  string
	Replace text.Span
	Kind    ItemKind
}

// ItemKind is what an Item is.
type ItemKind int

// The kinds of items.
const (
	TypeValue   ItemKind = iota // one of the four types
	KeyName                     // a key of the frontmatter
	LinkTarget                  // a path as a link destination
	TopicName                   // a [[name]]
	RuleID                      // in an ignore comment or in the configuration
	ConfigKey                   // a key of the configuration
	ConfigValue                 // a value in the configuration
)

// maxItems bounds what is offered at a time; nobody reads longer lists.
const maxItems = 200

// Complete gives what could be written at offset, best first: types and keys that
// are missing in the frontmatter of a topic, topics in a link destination or
// behind "[[", rules in an ignore comment. What was typed of it so far has to occur
// in the label, without regard to case; items that start with it come first.
// incomplete is set where there are more: ask again when more was typed.
func Complete(s *diagnostics.Snapshot, d *diagnostics.Doc, offset int) (items []Item, incomplete bool) {
	w := writingAt(d.File.Text, clamp(d, offset))
	w.s, w.d = s, d
	for _, complete := range []func(*writing) ([]Item, bool){(*writing).ignore, (*writing).front, (*writing).link} {
		if items, ok := complete(w); ok {
			return cut(items)
		}
	}
	return nil, false
}

func cut(items []Item) ([]Item, bool) {
	if len(items) > maxItems {
		return items[:maxItems], true
	}
	return items, false
}

// writing is the place at which something is being written.
type writing struct {
	s             *diagnostics.Snapshot
	d             *diagnostics.Doc
	t             *text.Text
	offset        int
	line          text.Span // without line ending and byte order mark
	before, after string    // the line up to offset, and the rest of it
}

// writingAt gives the place at an offset of a text, without what surrounds the text.
func writingAt(t *text.Text, offset int) *writing {
	w := &writing{t: t, line: t.Line(lineAt(t, offset))}
	if w.line.Start == 0 && t.HasBOM() {
		w.line.Start = len(text.BOM)
	}
	w.offset = max(min(offset, w.line.End), w.line.Start)
	w.before, w.after = t.Slice(text.Span{Start: w.line.Start, End: w.offset}), t.Slice(text.Span{Start: w.offset, End: w.line.End})
	return w
}

// from gives the span from an offset in w.before to the place.
func (w *writing) from(at int) text.Span {
	return text.Span{Start: w.line.Start + at, End: w.offset}
}

// rank tells how well something fits what was typed: 0 where it starts with it, 1
// where it has it elsewhere, -1 where it has it not.
func rank(typed string, in ...string) int {
	if typed == "" {
		return 0
	}
	typed = strings.ToLower(typed)
	best := -1
	for _, s := range in {
		switch i := strings.Index(strings.ToLower(s), typed); {
		case i == 0:
			return 0
		case i > 0:
			best = 1
		}
	}
	return best
}

// ignore completes the rules that an ignore comment names.
func (w *writing) ignore() ([]Item, bool) {
	head := strings.LastIndex(w.before, "mem-ignore-")
	if head < 0 {
		return nil, false
	}
	names := w.before[head+len("mem-ignore-"):]
	scope, names, ok := strings.Cut(names, " ")
	opening := strings.TrimRight(w.before[:head], " \t")
	yaml := strings.TrimLeft(opening, " \t") == "#" && w.inFront()
	html := strings.HasSuffix(opening, "<!--") && !strings.Contains(names, "-->") && !w.inCode(len(opening)-len("<!--"))
	if !ok || scope != "next-line" && scope != "file" || !yaml && !html {
		return nil, false
	}
	at := len(w.before) - len(names) + strings.LastIndexAny(names, " \t,") + 1
	typed := w.before[at:]
	span := w.from(at)
	span.End += len(w.after) - len(strings.TrimLeft(w.after, "abcdefghijklmnopqrstuvwxyz-"))
	if i := strings.Index(w.after, "-->"); i >= 0 {
		span.End = min(span.End, w.offset+i)
	}
	named := strings.FieldsFunc(names[:len(names)-len(typed)]+" "+w.t.Slice(text.Span{Start: span.End, End: w.line.End}),
		func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	var first, rest []Item
	for _, r := range rules.All() {
		// Nothing silences the safety rules and those about comments.
		if r.Safety || r.Ignores != nil || r.ID == "configuration" || slices.Contains(named, r.ID) ||
			r.File != nil && !slices.Contains(r.Kinds, w.d.Kind) {
			continue
		}
		item := Item{Label: r.ID, Documentation: r.Summary, Insert: r.ID, Filter: r.ID, Replace: span, Kind: RuleID}
		switch rank(typed, r.ID) {
		case 0:
			first = append(first, item)
		case 1:
			rest = append(rest, item)
		}
	}
	return append(first, rest...), true
}

// inCode reports whether nothing at an offset in w.before is a link or a comment.
func (w *writing) inCode(at int) bool {
	at += w.line.Start
	return at < w.d.File.Body.Start || memfile.In(w.d.Outline().Code, at)
}
