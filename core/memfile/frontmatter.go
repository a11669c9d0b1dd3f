package memfile

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/text"
)

// MetadataKey is the mapping below which the client keeps type and its stamps.
const MetadataKey = "metadata"

// Stamps are the keys that the client writes on its own; two writers never
// conflict over them.
var Stamps = []string{"node_type", "originSessionId", "modified"}

// Frontmatter is the YAML block at the head of a file.
type Frontmatter struct {
	Span   text.Span // from the opening fence to the end of the closing fence's line
	YAML   text.Span // what stands between the fences
	Closed bool      // false when the closing fence is missing
	Keys   []Key     // in file order, nested ones after their parent

	inline map[string]string // values without lines of their own: metadata: {type: user}
	indent int               // bytes of white space before the keys at the top level
	// odd is set where a YAML parser finds other keys, or finds them on other
	// lines, than the reading line by line did.
	odd bool
}

// Key is one key of the frontmatter with the lines it takes.
type Key struct {
	Name   string    // as a YAML parser reads it
	Parent string    // MetadataKey for the keys below it, "" at the top level
	Span   text.Span // its whole lines, continuation lines and line endings included
	Raw    text.Span // the value as written, without the comment behind it
	Value  string    // the value as a reader understands it; "" for a mapping
	Indent int       // bytes of white space before the key
}

// Path names the key with its parent: "metadata.type".
func (k Key) Path() string {
	if k.Parent == "" {
		return k.Name
	}
	return k.Parent + "." + k.Name
}

// maxFrontmatter bounds what is handed to the YAML parser, in bytes. The
// largest real frontmatter seen is under 4 KB; past this the lenient reading
// still serves, and a problem says so.
const maxFrontmatter = 64 << 10

// knownKeys are the keys that memory files have. Text between two rules in which
// none of them stands and which holds more than keys is taken for Markdown.
var knownKeys = []string{"name", "description", "type", MetadataKey, "node_type", "originSessionId", "modified"}

// parseFrontmatter finds the fences and the keys between them. A byte order
// mark and blank lines may stand before the opening fence. A body that merely
// opens with a rule ("---") is not frontmatter: the first line with text after
// the fence has to look like a key, and without a closing fence, or with prose
// before it, one of the known keys has to be there.
func (f *File) parseFrontmatter() {
	t := f.Text
	f.Body = text.Span{Start: 0, End: t.Len()}
	if t.HasBOM() {
		f.Body.Start = len(text.BOM)
	}
	open, first := headLines(t)
	if first >= t.Lines() {
		return
	}
	base := indentOf(lineText(t, first))
	fence := isFence(lineText(t, first))
	if !fence && !looksLikeKey(lineText(t, first)[base:]) {
		return
	}
	closing := first
	for closing < t.Lines() && !isFence(lineText(t, closing)) {
		closing++
	}
	fm := &Frontmatter{Closed: closing < t.Lines(), indent: base}
	fm.YAML.Start = t.FullLine(open).End
	fm.Span.Start = t.FullLine(open).Start
	if open == 0 && t.HasBOM() {
		fm.Span.Start = len(text.BOM)
	}
	if fm.Closed {
		fm.YAML.End = t.FullLine(closing).Start
		fm.Span.End = t.FullLine(closing).End
	} else {
		closing = unclosedEnd(t, first)
		fm.YAML.End = t.FullLine(closing).Start
		fm.Span.End = fm.YAML.End
	}
	if !fence && (base > 0 || !fm.Closed || proseLine(t, first, closing) >= 0) && !hasKnownKey(t, first, closing, base) {
		return
	}
	f.Front = fm
	f.Body.Start = fm.Span.End
	if !fm.Closed {
		f.Problems = append(f.Problems, Problem{
			Code:    Unclosed,
			Message: `the frontmatter that starts here has no closing "---" line, so readers take the whole file as its body. Add a line "---" after the last key.`,
			Span:    t.Line(open),
		})
	}
	if !f.scanKeys() || hasOddBreaks(t.Slice(fm.YAML)) {
		f.decodeStrictly()
	}
	f.findDuplicates()
	f.findConflicts()
}

// headLines gives the line of the opening fence and the first line with text
// after it; first is past the end where either is missing.
func headLines(t *text.Text) (open, first int) {
	for open < t.Lines() && blank(lineText(t, open)) {
		open++
	}
	if open == t.Lines() || !isFence(lineText(t, open)) {
		return open, t.Lines()
	}
	first = open + 1
	for first < t.Lines() && (blank(lineText(t, first)) || isComment(lineText(t, first))) {
		first++
	}
	return open, first
}

// FrontmatterOpen reports whether the text ends before its frontmatter does, so
// that one who read only the start of a file has to read on.
func (f *File) FrontmatterOpen() bool {
	t := f.Text
	open, first := headLines(t)
	if open == t.Lines() || !isFence(lineText(t, open)) {
		return false
	}
	if first < t.Lines() {
		l := lineText(t, first)
		if !looksLikeKey(l[indentOf(l):]) {
			return false
		}
	}
	for i := first; i < t.Lines(); i++ {
		if isFence(lineText(t, i)) {
			return false
		}
	}
	return true
}

// hasOddBreaks reports whether the text holds a character that ends no line here
// but may end one, or be a fault, for a YAML parser.
func hasOddBreaks(s string) bool {
	for i, r := range s {
		switch {
		case r >= ' ' && r < 0x7f, r == '\n', r == '\t':
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				return true
			}
		case unsafeInYAML(r):
			return true
		}
	}
	return false
}

// proseLine gives the first line that is neither a key nor continues one, or -1.
func proseLine(t *text.Text, from, to int) int {
	for i := from; i < to; i++ {
		l := lineText(t, i)
		if !blank(l) && !isComment(l) && indentOf(l) == 0 && !looksLikeKey(l) && !isItem(l) {
			return i
		}
	}
	return -1
}

func hasKnownKey(t *text.Text, from, to, base int) bool {
	for i := from; i < to; i++ {
		l := lineText(t, i)
		if indentOf(l) != base || !looksLikeKey(l[base:]) {
			continue
		}
		l = l[base:]
		if slices.Contains(knownKeys, unquoteKey(strings.TrimRight(l[:keyColon(l)], " \t"))) {
			return true
		}
	}
	return false
}

// unclosedEnd guesses where frontmatter without a closing fence stops: at the
// first line that is neither a key nor indented. It gives that line.
func unclosedEnd(t *text.Text, from int) int {
	i := from
	for i < t.Lines() {
		l := lineText(t, i)
		if blank(l) || (!looksLikeKey(l) && !isComment(l) && indentOf(l) == 0 && !isItem(l)) {
			break
		}
		i++
	}
	return i
}

// scanKeys reads the keys line by line. It reports whether the block is so
// plain that this reading is certainly what a YAML parser would give.
func (f *File) scanKeys() (simple bool) {
	t, fm := f.Text, f.Front
	if fm.YAML.Len() == 0 {
		return true
	}
	simple = fm.indent == 0
	last := t.LineAt(fm.YAML.End - 1)
	for i := t.LineAt(fm.YAML.Start); i <= last; {
		l := lineText(t, i)
		if blank(l) || isComment(l) {
			i++
			continue
		}
		if in := indentOf(l); in != fm.indent || !looksLikeKey(l[in:]) {
			simple = false
			i++
			continue
		}
		next := f.keyEnd(i, last, fm.indent)
		plain := f.addKey(i, next, "", fm.indent)
		k := fm.Keys[len(fm.Keys)-1]
		switch {
		case k.Name == MetadataKey && k.Raw.Len() == 0 && next > i+1:
			if !f.scanNested(i+1, next) {
				simple = false
			}
		case !plain || next > i+1:
			simple = false
		}
		i = next
	}
	return simple
}

// keyEnd gives the line after the last one that belongs to the key on line i:
// indented and blank lines, and list items at the key's own indent, continue it.
func (f *File) keyEnd(i, last, indent int) int {
	t := f.Text
	end := i + 1
	for j := i + 1; j <= last; j++ {
		l := lineText(t, j)
		if blank(l) {
			continue
		}
		in := indentOf(l)
		if in <= indent && !(in == indent && isItem(l[in:])) {
			break
		}
		end = j + 1
	}
	return end
}

func (f *File) scanNested(from, to int) (simple bool) {
	t := f.Text
	simple = true
	indent := -1
	for i := from; i < to; {
		l := lineText(t, i)
		if blank(l) || isComment(strings.TrimLeft(l, " ")) {
			i++
			continue
		}
		in := indentOf(l)
		if indent < 0 {
			indent = in
		}
		if in != indent || !looksLikeKey(l[in:]) {
			simple = false
			i++
			continue
		}
		next := min(f.keyEnd(i, to-1, indent), to)
		if !f.addKey(i, next, MetadataKey, indent) || next > i+1 || strings.Contains(l[:in], "\t") {
			simple = false
		}
		i = next
	}
	return simple
}

// addKey records the key on line i, whose lines end before line next, and
// reports whether its value is a plain scalar that needs no YAML parser.
func (f *File) addKey(i, next int, parent string, indent int) (plain bool) {
	t := f.Text
	line := t.Line(i)
	l := t.Slice(line)
	skip := indent
	if i == 0 && strings.HasPrefix(l, text.BOM) {
		skip += len(text.BOM)
	}
	colon := keyColon(l[skip:]) + skip
	name := strings.TrimRight(l[skip:colon], " \t")
	raw := text.Span{Start: line.Start + colon + 1, End: line.End}
	rest := t.Slice(raw)
	trimmed := strings.TrimLeft(rest, " \t")
	raw.Start += len(rest) - len(trimmed)
	value := strings.TrimRight(cutComment(trimmed), " \t")
	raw.End = raw.Start + len(value)
	// Lines below a key belong to its value, but for the mapping that is read
	// key by key.
	if next > i+1 && (value != "" || name != MetadataKey) {
		raw.End = t.Line(next - 1).End
	}
	k := Key{
		Name:   unquoteKey(name),
		Parent: parent,
		Span:   text.Span{Start: t.FullLine(i).Start, End: t.FullLine(next - 1).End},
		Raw:    raw,
		Value:  lenientValue(t.Slice(raw)),
		Indent: indent,
	}
	f.Front.Keys = append(f.Front.Keys, k)
	return plainScalar(value) && value == strings.TrimRight(trimmed, " \t") && isSimpleKey(name)
}

func lineText(t *text.Text, i int) string {
	l := t.Slice(t.Line(i))
	if i == 0 {
		l = strings.TrimPrefix(l, text.BOM)
	}
	return l
}

func blank(l string) bool     { return strings.Trim(l, " \t\r") == "" }
func isItem(l string) bool    { return l == "-" || strings.HasPrefix(l, "- ") }
func isFence(l string) bool   { return strings.TrimRight(l, " \t") == "---" }
func isComment(l string) bool { return strings.HasPrefix(l, "#") }

func indentOf(l string) int {
	n := 0
	for n < len(l) && (l[n] == ' ' || l[n] == '\t') {
		n++
	}
	return n
}

func (f *File) findDuplicates() {
	seen := map[string]bool{}
	for _, k := range f.Front.Keys {
		if seen[k.Path()] {
			f.Problems = append(f.Problems, Problem{
				Code: DuplicateKey, Key: k.Path(), Span: k.Raw,
				Message: fmt.Sprintf("the key %q stands here a second time; the last one counts. Remove the other.", k.Path()),
			})
		}
		seen[k.Path()] = true
	}
}

func (f *File) findConflicts() {
	flat := map[string]Key{}
	for _, k := range f.Front.Keys {
		if k.Parent == "" {
			flat[k.Name] = k
		}
	}
	for _, k := range f.Front.Keys {
		top, ok := flat[k.Name]
		if k.Parent == MetadataKey && ok && !topOnly(k.Name) && top.Value != k.Value {
			f.Problems = append(f.Problems, Problem{
				Code: KeyConflict, Key: k.Name, Span: top.Raw,
				Message: fmt.Sprintf("%s is %q here and %q below %s; the latter counts. Remove one.", k.Name, top.Value, k.Value, MetadataKey),
			})
		}
	}
}
