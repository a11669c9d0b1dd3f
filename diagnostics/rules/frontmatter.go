package rules

import (
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// topics is what the rules of the frontmatter look at.
var topics = []diagnostics.Kind{diagnostics.Topic}

// client is who the frontmatter was observed on.
const client = "Claude Code 2.1.332"

// observed is the day on which the evidence for these rules was last checked.
const observed = "2026-11-30"

// closedFront gives the file of a pass whose frontmatter has both fences, else nil:
// what a missing block or fence hides is that one finding and no others.
func closedFront(p *diagnostics.Pass) *memfile.File {
	if fm := p.Doc.File.Front; fm == nil || !fm.Closed {
		return nil
	}
	return p.Doc.File
}

// memoryFront is closedFront for what only memories have to have. Where the index
// stands at the root of a repository, files that it links may be the repository's
// own, such as docs/setup.md: those count whose frontmatter is that of a memory.
func memoryFront(p *diagnostics.Pass) *memfile.File {
	f := closedFront(p)
	if f == nil || p.View.LinkedOnly && f.Form() != memfile.FormNested && (f.Value("name") == "" || f.Value("type") == "") {
		return nil
	}
	return f
}

// repositoryOwn reports whether a file may be one of the repository's own documents
// that the index at its root links, rather than a memory.
func repositoryOwn(p *diagnostics.Pass) bool { return p.View.LinkedOnly && p.Doc.File.Front == nil }

// openingFence gives the line on which frontmatter starts, for what is missing in it.
func openingFence(f *memfile.File) text.Span {
	at := f.Front.Span.Start
	return text.Span{Start: at, End: f.Text.Line(f.Text.LineAt(at)).End}
}

// keyLine gives the place of a key whose value is missing: its own line, or the
// opening fence where there is no such key.
func keyLine(f *memfile.File, name string) text.Span {
	k := f.Key(name)
	if k == nil {
		return openingFence(f)
	}
	at := k.Span.Start + k.Indent
	return text.Span{Start: at, End: f.Text.Line(f.Text.LineAt(at)).End}
}

// valueOf gives the place of a key's value; for a value that has no key of its own,
// as inside braces, that of the mapping that holds it.
func valueOf(f *memfile.File, name string) text.Span {
	for _, n := range []string{name, memfile.MetadataKey} {
		if k := f.Key(n); k != nil && k.Raw.Len() > 0 {
			return k.Raw
		}
	}
	return openingFence(f)
}

// An offer to remove a key takes parsing the frontmatter again. offersChecked bounds
// how many findings of one file get one: past this, mending goes on after the first
// are mended. Frontmatter of more keys than keysChecked, fifty times what was ever
// seen, is left to its author.
const (
	offersChecked = 20
	keysChecked   = 1000
)

// valueOrName gives the line of a key whose value is empty and would stand at an
// offset, for an empty place shows nothing.
func valueOrName(f *memfile.File, at int) text.Span {
	s := f.Text.Line(f.Text.LineAt(at))
	for s.Start < s.End && (f.Text.String()[s.Start] == ' ' || f.Text.String()[s.Start] == '\t') {
		s.Start++
	}
	return s
}

// keysByPath gives the first and the last key of each path.
func keysByPath(f *memfile.File) (first, last map[string]*memfile.Key) {
	first, last = map[string]*memfile.Key{}, map[string]*memfile.Key{}
	for i := range f.Front.Keys {
		k := &f.Front.Keys[i]
		if first[k.Path()] == nil {
			first[k.Path()] = k
		}
		last[k.Path()] = k
	}
	return first, last
}
