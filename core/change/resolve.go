package change

import (
	"strings"

	"mem/core/memfile"
)

// Part is a part of a file that one side or both changed, as a Resolve asks about it.
type Part struct {
	Path string
	// Key tells the part from the others of its file; Resolve and Advance give one part the
	// same key as long as base is the same.
	Key  string
	Name string // in words, as in a Conflict
	// Target is the topic that it links, where it is an entry of the index.
	Target string
	// The texts, "" where a side has no such part.
	Base, Ours, Theirs string
	// Conflict says that both changed it differently.
	Conflict bool
}

// Choice is what becomes of a part.
type Choice string

// The choices.
const (
	// Merged takes what one side changed; of a conflict ours stays and the conflict is open.
	Merged Choice = ""
	Ours   Choice = "ours"
	Theirs Choice = "theirs"
	// Both keeps ours with theirs after it. A frontmatter key or an entry, of which a file
	// has one, stays ours.
	Both Choice = "both"
	// Instead takes the Text of the decision.
	Instead Choice = "instead"
)

// Decision is a choice with the text that it may need.
type Decision struct {
	Choice Choice
	Text   string
}

// Resolve merges as Merge does, but asks about every part that is not the same on both
// sides. Conflicts that were not decided keep our text and are given back as open. A
// section of ours that holds the whole of what they wrote is no conflict: somebody took
// it already.
func Resolve(path, base, ours, theirs string, choose func(Part) Decision) (merged string, open []Conflict) {
	if ours == theirs {
		return ours, nil
	}
	b, o, t := split(path, base), split(path, ours), split(path, theirs)
	ids := identify(b)
	if choose == nil {
		choose = func(Part) Decision { return Decision{} }
	}
	m := merger{path: path, base: byID(ids), choose: choose}
	merged, _ = m.merge(ids, align(b, o), align(b, t))
	return merged, m.open
}

// Advance gives base with those changes of a later text that take admits: what both sides
// have in common once part of a change was taken.
func Advance(path, base, to string, take func(Part) bool) string {
	out, _ := Resolve(path, base, base, to, func(p Part) Decision {
		if take(p) {
			return Decision{Choice: Theirs}
		}
		return Decision{Choice: Ours}
	})
	return out
}

// decided asks about a unit; ok is false where the rules of the merge decide.
func (m *merger) decided(b identified, inB bool, o identified, inO bool, t identified, inT bool) (u identified, keep, ok bool) {
	p := Part{Path: m.path, Base: b.text, Ours: o.text, Theirs: t.text, Conflict: true}
	for _, u := range []identified{b, o, t} {
		if u.key != "" || u.text != "" {
			p.Key, p.Name = u.key, u.part
			if u.kind == plain {
				p.Key = "l:" + u.text
			}
			break
		}
	}
	if target, isEntry := strings.CutPrefix(p.Key, "e:"); isEntry && m.path == memfile.IndexName {
		p.Target, _, _ = strings.Cut(target, "\x00")
	}
	_, _, p.Conflict = m.byRule(b, inB, o, inO, t, inT)
	if p.Conflict && takenAlready(p, o) {
		return o, inO, true
	}
	d := m.choose(p)
	switch d.Choice {
	case Ours:
		return o, inO, true
	case Theirs:
		return t, inT, true
	case Both:
		return both(o, inO, t, inT)
	case Instead:
		if !inO {
			o = t
		}
		o.text = d.Text
		return o, d.Text != "", true
	}
	if p.Conflict {
		m.open = append(m.open, Conflict{Path: p.Path, Part: p.Name, Base: p.Base, Ours: p.Ours, Theirs: p.Theirs})
		return o, inO, true
	}
	return u, false, false
}

// both puts their text of a section below ours.
func both(o identified, inO bool, t identified, inT bool) (identified, bool, bool) {
	switch {
	case !inT:
		return o, inO, true
	case !inO:
		return t, true, true
	case !strings.HasPrefix(o.key, "s:"):
		return o, true, true
	}
	extra := sectionBody(t)
	if extra == "" || strings.Contains(lf(o.text), extra) {
		return o, true, true
	}
	eol := "\n"
	if strings.Contains(o.text, "\r\n") {
		eol = "\r\n"
	}
	end := o.text[len(trimEnd(o.text)):]
	if end == "" {
		end = eol
	}
	o.text = trimEnd(o.text) + eol + eol + strings.ReplaceAll(extra, "\n", eol) + end
	return o, true, true
}

// takenAlready reports whether our section holds all that stands in theirs, and that is
// more than the base held.
func takenAlready(p Part, o identified) bool {
	if !strings.HasPrefix(p.Key, "s:") || p.Ours == "" || p.Theirs == "" {
		return false
	}
	theirs := sectionBody(identified{unit: unit{key: p.Key, text: p.Theirs}})
	return theirs != "" && !strings.Contains(lf(p.Base), theirs) && strings.Contains(lf(o.text), theirs)
}

// sectionBody gives a section without its heading and the blank lines around.
func sectionBody(u identified) string {
	s := lf(u.text)
	if u.key != "s:" && !strings.HasPrefix(u.key, "s:\x00") {
		_, s, _ = strings.Cut(s, "\n")
	}
	return strings.Trim(s, "\n")
}

func lf(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
