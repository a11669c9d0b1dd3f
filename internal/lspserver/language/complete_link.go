package language

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
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
	label := func(t *memdir.Topic) (string, bool) {
		name := t.Name()
		if names[name] > 1 || !w.means(name, t) {
			name = stem(t.Path)
		}
		return name, nameable(name)
	}
	item := func(name string) Item {
		return Item{Label: name, Insert: name + end, Filter: name, Replace: span, Kind: TopicName}
	}
	return w.topics(typed, nil, label, item), true
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
		_, anchor = memfile.SplitDest(w.t.Slice(l.Dest))
	} else if strings.HasPrefix(w.after, ")") {
		end = ""
	}
	typed := strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(raw, " \t"), "<"), "./")
	marks := raw[:len(raw)-len(typed)]
	typed = unescaped(typed)
	linked := map[string]bool{}
	if w.d.Index != nil {
		for _, l := range w.d.Index.Links {
			if p := l.Path(); p != "" && (w.offset < l.Span.Start || w.offset > l.Span.End) {
				linked[p] = true
			}
		}
	}
	dir := path.Dir(w.d.Path)
	label := func(t *memdir.Topic) (string, bool) { return memdir.Relative(dir, t.Path), true }
	item := func(rel string) Item {
		return Item{Label: rel, Insert: memfile.EncodeTarget(rel, anchor) + end, Filter: marks + rel, Replace: span, Kind: LinkTarget}
	}
	return w.topics(typed, linked, label, item), true
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
// typed: those of the paths in late after all others, the newest first. The file
// itself is none of them. An item is made of each label that comes to be offered.
func (w *writing) topics(typed string, late map[string]bool, label func(*memdir.Topic) (string, bool), item func(label string) Item) []Item {
	type candidate struct {
		topic *memdir.Topic
		label string
		order int // late ones behind the others, then by rank
		at    int64
	}
	all := make([]candidate, 0, len(w.s.View.Topics))
	for _, t := range w.s.View.Topics {
		if t.Path == w.d.Path {
			continue
		}
		l, ok := label(t)
		order := rank(typed, l, t.Path, t.Name())
		if !ok || order < 0 {
			continue
		}
		if late[t.Path] {
			order += 2
		}
		all = append(all, candidate{t, l, order, modified(t).UnixMicro()})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		switch {
		case a.order != b.order:
			return a.order - b.order
		case a.at != b.at:
			return cmp.Compare(b.at, a.at)
		}
		return strings.Compare(a.topic.Path, b.topic.Path)
	})
	n := min(len(all), maxItems+1) // one more tells that there are
	items := make([]Item, 0, n)
	for _, c := range all[:n] {
		it := item(c.label)
		it.Detail = memdir.Shown(c.topic.Meta.Type, 40)
		it.Documentation = saidOf(c.topic)
		items = append(items, it)
	}
	return items
}

func saidOf(t *memdir.Topic) string { return memdir.Shown(t.Meta.Description, memdir.MaxShown) }

// SaidOf gives the Documentation of an Item that Complete offered in a file, by its
// kind and label, "" where no topic of that label is left.
func SaidOf(s *diagnostics.Snapshot, d *diagnostics.Doc, kind ItemKind, label string) string {
	switch kind {
	case LinkTarget:
		if t := s.View.Topic(path.Join(path.Dir(d.Path), label)); t != nil {
			return saidOf(t)
		}
	case TopicName:
		if all := s.View.Lookup(label); len(all) == 1 {
			return saidOf(all[0])
		}
	}
	return ""
}

// unescaped takes percent escapes out of what was typed of a destination.
func unescaped(typed string) string {
	if s, err := url.PathUnescape(typed); err == nil {
		return s
	}
	return typed
}
