package language

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/memfile"
)

// link completes what stands between the brackets or parentheses of a link.
func (w *writing) link() ([]Item, bool) {
	wiki, dest := strings.LastIndex(w.before, "[["), strings.LastIndex(w.before, "](")
	switch {
	case wiki > dest:
		return w.wiki(wiki)
	case dest >= 0:
		return w.destination(dest)
	}
	return nil, false
}

// wiki completes the name behind the "[[" at an offset in w.before.
func (w *writing) wiki(at int) ([]Item, bool) {
	typed := strings.TrimLeft(w.before[at+2:], " \t")
	if strings.ContainsAny(typed, "]|#") || w.inCode(at) {
		return nil, false
	}
	span := w.from(len(w.before) - len(typed))
	rest, end := closedName(w.after)
	span.End += rest
	names := map[string]int{}
	for _, t := range w.s.View.Topics {
		names[t.Name()]++
	}
	return w.topics(typed, func(t *memdir.Topic) (Item, bool) {
		name := t.Name()
		if names[name] > 1 || !w.means(name, t) {
			name = stem(t.Path)
		}
		return Item{Label: name, Insert: name + end, Replace: span, Kind: TopicName}, nameable(name)
	}), true
}

// closedName tells how much of what follows a place in a [[name]] belongs to the
// name, and what has to be written behind it.
func closedName(after string) (rest int, end string) {
	i := strings.IndexAny(after, "[]|#")
	switch {
	case i < 0:
	case strings.HasPrefix(after[i:], "]]"), (after[i] == '|' || after[i] == '#') && strings.Contains(after[i:], "]]"):
		return i, ""
	case strings.HasPrefix(after, "]"): // an editor closed one of the two
		return 1, "]]"
	}
	return 0, "]]"
}

// means reports whether a name that one topic has leads to that topic, not to
// another one whose path it is.
func (w *writing) means(name string, t *memdir.Topic) bool {
	for _, p := range []string{name, name + ".md"} {
		if other := w.s.View.Topic(p); other != nil && other != t {
			return false
		}
	}
	return nameable(name)
}

// nameable reports whether a name can stand between "[[" and "]]".
func nameable(name string) bool {
	return name != "" && name == strings.TrimSpace(name) && utf8.ValidString(name) && !strings.ContainsAny(name, "[]|#\\\n\r")
}

// destination completes the path behind the "](" at an offset in w.before.
func (w *writing) destination(at int) ([]Item, bool) {
	raw := w.before[at+2:]
	if !openDestination(raw) || w.inCode(at) {
		return nil, false
	}
	span, anchor, end := w.from(at+2), "", ")"
	if l, ok := linkAt(w.d, w.offset); ok && !l.Wiki && l.Text.End == w.line.Start+at {
		if l.Dest.Len() > 0 && w.offset > l.Dest.End {
			return nil, false // behind it, where a title stands
		}
		span.End, end = max(l.Dest.End, w.offset), ""
		if w.t.String()[l.Dest.Start-1] == '<' {
			span.End++
		}
		if i := strings.IndexByte(w.t.Slice(l.Dest), '#'); i >= 0 {
			anchor = w.t.Slice(l.Dest)[i:]
		}
	} else if strings.HasPrefix(w.after, ")") {
		end = ""
	}
	typed := strings.TrimPrefix(strings.TrimLeft(raw, " \t"), "<")
	typed = strings.TrimPrefix(memfile.OneLine(unescaped(typed)), "./")
	linked := map[string]bool{}
	if w.d.Index != nil {
		for _, l := range w.d.Index.Links {
			if p := l.Path(); p != "" && (w.offset < l.Span.Start || w.offset > l.Span.End) {
				linked[p] = true
			}
		}
	}
	dir := path.Dir(w.d.Path)
	items := w.topics(typed, func(t *memdir.Topic) (Item, bool) {
		rel := memdir.Relative(dir, t.Path)
		return Item{Label: rel, Insert: memfile.EncodeTarget(rel, anchor) + end, Replace: span, Kind: LinkTarget}, true
	})
	if len(linked) > 0 {
		slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(number(linked[a.Label]), number(linked[b.Label])) })
	}
	return items, true
}

// openDestination reports whether what was typed behind "](" is still the
// destination: not closed, no anchor, no title.
func openDestination(raw string) bool {
	raw = strings.TrimLeft(raw, " \t")
	if strings.HasPrefix(raw, "<") {
		return !strings.ContainsAny(raw, ">#")
	}
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		case '#':
			return false
		case '"', '\'':
			if i > 0 && raw[i-1] == ' ' {
				return false
			}
		}
	}
	return true
}

// topics gives the items of the topics whose label, path or name has what was
// typed, the newest first. The file itself is none of them.
func (w *writing) topics(typed string, item func(*memdir.Topic) (Item, bool)) []Item {
	type candidate struct {
		Item
		topic *memdir.Topic
		rank  int
		at    time.Time
	}
	var all []candidate
	for _, t := range w.s.View.Topics {
		if t.Path == w.d.Path {
			continue
		}
		it, ok := item(t)
		r := rank(typed, it.Label, t.Path, t.Name())
		if !ok || r < 0 {
			continue
		}
		all = append(all, candidate{it, t, r, modified(t)})
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), b.at.Compare(a.at), cmp.Compare(a.topic.Path, b.topic.Path))
	})
	items := make([]Item, 0, len(all))
	for _, c := range all {
		c.Detail = memdir.Shown(c.topic.Meta.Type, 40)
		c.Documentation = memdir.Shown(c.topic.Meta.Description, memdir.MaxShown)
		items = append(items, c.Item)
	}
	return items
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unescaped takes percent escapes out of what was typed of a destination.
func unescaped(typed string) string {
	if s, err := url.PathUnescape(typed); err == nil {
		return s
	}
	return typed
}
