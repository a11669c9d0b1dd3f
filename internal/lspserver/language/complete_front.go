package language

import (
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// front completes the frontmatter of a topic: the type behind "type:", elsewhere the
// keys that are missing.
func (w *writing) front() ([]Item, bool) {
	if w.d.Kind != diagnostics.Topic {
		return nil, false
	}
	block, ok := w.block()
	if !ok {
		return nil, false
	}
	name, indent, colon := keyOn(w.before + w.after)
	switch {
	case colon >= 0 && colon < len(w.before):
		if name != "type" {
			return nil, true
		}
		return w.types(colon + 1), true
	case colon >= 0:
		return nil, true
	}
	typed := w.before[min(indent, len(w.before)):]
	tail := strings.TrimLeft(w.after, keyLetters)
	if strings.Trim(typed, keyLetters) != "" || strings.TrimSpace(tail) != "" || indent > len(w.before) {
		return nil, true
	}
	span := w.from(indent)
	span.End += len(w.after) - len(tail)
	return w.keys(block, w.before[:indent], typed, span), true
}

const keyLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// types gives the four types in place of what stands behind the colon of "type:";
// the one that the file's name starts with comes first.
func (w *writing) types(colon int) []Item {
	typed := strings.TrimLeft(w.before[colon:], " \t")
	if strings.ContainsAny(typed, " \t#") {
		return nil
	}
	span := w.from(len(w.before) - len(typed))
	if i := strings.IndexAny(w.after, " \t#"); i >= 0 {
		span.End += i
	} else {
		span.End = w.line.End
	}
	space := ""
	if len(w.before) == colon {
		space = " "
	}
	bare := strings.TrimLeft(typed, `"'`)
	quotes := typed[:len(typed)-len(bare)]
	typed = strings.Trim(typed, `"'`)
	all := slices.Clone(memfile.Types)
	for i, k := range all {
		if rank(k, memdir.Stem(w.d.Path)) == 0 {
			all = slices.Insert(slices.Delete(all, i, i+1), 0, k)
			break
		}
	}
	var items []Item
	for _, k := range all {
		if rank(typed, k) == 0 {
			items = append(items, Item{Label: k, Documentation: typeWords[k], Insert: space + k, Filter: quotes + k, Replace: span, Kind: TypeValue})
		}
	}
	return items
}

// keys gives the keys that the frontmatter lacks, in the form of the file or, where
// it has none yet, of its folder.
func (w *writing) keys(b block, indent, typed string, span text.Span) []Item {
	var items []Item
	add := func(label, insert, detail string) {
		if rank(typed, label) == 0 {
			items = append(items, Item{Label: label, Detail: detail, Documentation: strings.ReplaceAll(keyWords[label], "`", ""),
				Insert: insert, Filter: label, Replace: span, Kind: KeyName})
		}
	}
	if indent != "" {
		if b.below && !b.has["type"] {
			add("type", "type: ", "")
		}
		return items
	}
	for _, name := range []string{"name", "description"} {
		if !b.has[name] {
			add(name, name+": ", "")
		}
	}
	if b.has["type"] {
		return items
	}
	flat := b.has["originSessionId"] || !b.has[memfile.MetadataKey] && w.s.View.Form() == memfile.FormFlat
	switch {
	case !b.has[memfile.MetadataKey] && !flat:
		add("type", memfile.MetadataKey+":"+w.t.EOL()+"  type: ", "below "+memfile.MetadataKey)
	case !b.has[memfile.MetadataKey] || b.inline:
		add("type", "type: ", "")
	case b.below:
		add("type", b.indent+"type: ", "below "+memfile.MetadataKey)
	}
	return items
}

// block is the frontmatter around a place, read line by line: while it is being
// written, no parser takes it for frontmatter.
type block struct {
	has    map[string]bool // its keys, those below metadata included, but for the line of the place
	below  bool            // the place is where keys below metadata stand
	inline bool            // metadata has a value on its own line
	indent string          // of the keys below metadata
}

// inFront reports whether the place lies in the frontmatter.
func (w *writing) inFront() bool {
	_, ok := w.block()
	return ok
}

// block gives the frontmatter around the place: from the opening fence up to the
// place there are nothing but keys, comments and what continues them.
func (w *writing) block() (block, bool) {
	b := block{has: map[string]bool{}, indent: "  "}
	here := lineAt(w.t, w.offset)
	at := func(i int) string {
		l := w.t.Slice(w.t.Line(i))
		if i == 0 {
			l = strings.TrimPrefix(l, text.BOM)
		}
		return l
	}
	first := 0
	for first < here && strings.TrimSpace(at(first)) == "" {
		first++
	}
	if first >= here || !fence(at(first)) || fence(at(here)) {
		return b, false
	}
	parent, blank := "", false // blank: a line is empty above the place
	for i := first + 1; i < max(w.t.Lines(), here+1); i++ {
		l := at(i)
		if i == here {
			b.below = parent == memfile.MetadataKey
			continue
		}
		if fence(l) {
			return b, i > here
		}
		name, indent, colon := keyOn(l)
		trimmed := strings.TrimSpace(l)
		switch {
		case trimmed == "":
			blank = blank || i < here
		case strings.HasPrefix(trimmed, "#"):
		case colon < 0 && indent == 0 && !strings.HasPrefix(l, "- "):
			return b, i > here && !blank // not closed, and here the body begins
		case colon >= 0 && indent == 0:
			parent = name
			b.has[name] = true
			b.inline = b.inline || name == memfile.MetadataKey && strings.TrimSpace(l[colon+1:]) != ""
		case colon >= 0 && parent == memfile.MetadataKey:
			b.has[name] = true
			b.indent = l[:indent]
		}
	}
	return b, !blank
}

func fence(l string) bool { return strings.TrimRight(l, " \t") == "---" }

// keyOn gives the key on a line, its indent, and the offset of its colon, -1 where
// the line holds none.
func keyOn(l string) (name string, indent, colon int) {
	indent = len(l) - len(strings.TrimLeft(l, " \t"))
	rest := l[indent:]
	i := strings.IndexByte(rest, ':')
	if i <= 0 || i+1 < len(rest) && rest[i+1] != ' ' && rest[i+1] != '\t' || strings.ContainsRune("#-?,[]{}&*!|>%@`", rune(rest[0])) ||
		len(strings.Fields(rest[:i])) > 3 {
		return "", indent, -1
	}
	return strings.Trim(strings.TrimSpace(rest[:i]), `"'`), indent, indent + i
}
