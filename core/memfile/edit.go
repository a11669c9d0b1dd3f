package memfile

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mem/core/text"
)

// New gives the text of a new memory file in the given form (FormNone counts as
// flat). Keys with an empty value are left out, but for name, description and
// type, which every memory has.
func New(form Form, m Meta, body string) string {
	var b strings.Builder
	b.WriteString("---\n")
	line := func(indent, key, value string, always bool) {
		if value != "" || always {
			fmt.Fprintf(&b, "%s%s: %s\n", indent, key, scalarFor(key, value))
		}
	}
	line("", "name", m.Name, true)
	line("", "description", m.Description, true)
	in := ""
	if form == FormNested {
		b.WriteString(MetadataKey + ":\n")
		in = "  "
		line(in, "node_type", "memory", true)
	}
	line(in, "type", m.Type, true)
	line(in, "originSessionId", m.OriginSessionID, false)
	line(in, "modified", m.Modified, false)
	b.WriteString("---\n")
	body = text.WithEOL(body, "\n")
	if body = strings.TrimRight(strings.TrimLeft(body, "\r\n"), " \t\r\n"); body != "" {
		b.WriteString("\n" + body + "\n")
	}
	return b.String()
}

// Meta is what the frontmatter of a memory says.
type Meta struct {
	Name            string
	Description     string
	Type            string
	OriginSessionID string
	Modified        string // ISO 8601 with milliseconds and Z, as the client writes it
}

// Meta gives the effective values of the known keys.
func (f *File) Meta() Meta {
	return Meta{
		Name:            f.Value("name"),
		Description:     f.Value("description"),
		Type:            f.Value("type"),
		OriginSessionID: f.Value("originSessionId"),
		Modified:        f.Value("modified"),
	}
}

// Clone copies the values, which otherwise hold the text they stand in.
func (m Meta) Clone() Meta {
	return Meta{strings.Clone(m.Name), strings.Clone(m.Description), strings.Clone(m.Type), strings.Clone(m.OriginSessionID), strings.Clone(m.Modified)}
}

// SetKey gives the edits that give a key a value: the effective key's value is
// replaced where it stands, a new key joins the others in the form of the file.
// Nothing else of the file changes. It fails where the frontmatter cannot take
// the value without being rewritten.
func (f *File) SetKey(name, value string, form Form) ([]text.Edit, error) {
	return f.SetKeys([]KeyValue{{name, value}}, form)
}

// KeyValue is one key and the value to give it.
type KeyValue struct{ Name, Value string }

// SetKeys is SetKey for several keys at once; new ones keep the given order.
// form decides where new keys go in a file whose own form is not decided yet.
func (f *File) SetKeys(kvs []KeyValue, form Form) ([]text.Edit, error) {
	if own := f.Form(); own != FormNone {
		form = own
	}
	for _, kv := range kvs {
		if err := checkKeyName(kv.Name); err != nil {
			return nil, err
		}
		if !utf8.ValidString(kv.Value) {
			return nil, fmt.Errorf("the value of %q is not valid UTF-8", kv.Name)
		}
	}
	if f.Front == nil {
		return f.newFrontmatter(kvs, form), nil
	}
	if !f.Front.Closed {
		return nil, fmt.Errorf(`the frontmatter has no closing "---" line: close it first`)
	}
	var edits []text.Edit
	var top, below []KeyValue
	for _, kv := range kvs {
		if f.hasInline(kv.Name) {
			return nil, fmt.Errorf("the key %q has no line of its own, since it stands inside braces: write one key a line first", kv.Name)
		}
		k := f.Key(kv.Name)
		switch {
		case k != nil && k.Value == kv.Value && k.Raw.Len() > 0 && !f.broken(*k):
		case k != nil:
			edits = append(edits, f.replaceValue(*k, kv.Value))
		case form == FormNested && !topOnly(kv.Name) && !f.metadataInline():
			below = append(below, kv)
		default:
			top = append(top, kv)
		}
	}
	edits = append(edits, f.insertKeys(top, "")...)
	edits = append(edits, f.insertKeys(below, MetadataKey)...)
	if err := f.verify(kvs, edits); err != nil {
		return nil, err
	}
	return edits, nil
}

func (f *File) hasInline(name string) bool {
	_, below := f.Front.inline[MetadataKey+"."+name]
	_, top := f.Front.inline[name]
	return below && !topOnly(name) || top && f.Key(name) == nil
}

// metadataInline reports whether metadata has a value on its own line, so that
// no key can be put below it.
func (f *File) metadataInline() bool {
	k := f.Key(MetadataKey)
	return k != nil && k.Raw.Len() > 0
}

// broken reports whether a YAML parser refuses the value of k as it is written.
func (f *File) broken(k Key) bool {
	for _, p := range f.Problems {
		if p.Code == Syntax {
			return f.reasonToQuote(k) != ""
		}
	}
	return false
}

// verify reads the frontmatter as edited and refuses edits that would not give
// the keys their values or would change any other: frontmatter that a YAML
// parser reads otherwise than line by line (anchors, values that go on at the
// margin) is left to its author.
func (f *File) verify(kvs []KeyValue, edits []text.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	refuse := func(key string) error {
		return fmt.Errorf("the frontmatter is written in a way that does not let %q be set alone: rewrite it with one key and one value a line first", key)
	}
	after, ok := text.Apply(f.Text.String()[:f.Body.Start], edits)
	if !ok || f.Front.odd {
		return refuse(kvs[0].Name)
	}
	g := Parse(after)
	if g.Front == nil || !g.Front.Closed || g.Front.odd || g.Body.Start != len(after) {
		return refuse(kvs[0].Name)
	}
	set := map[string]bool{}
	for _, kv := range kvs {
		set[kv.Name] = true
		if last := lastValue(kvs, kv.Name); g.Value(kv.Name) != last {
			return refuse(kv.Name)
		}
	}
	if f.hasSyntaxProblem() {
		return nil // the lenient reading may give way to the parser's
	}
	if g.hasSyntaxProblem() {
		return refuse(kvs[0].Name)
	}
	before, now := f.otherValues(set), g.otherValues(set)
	for path, v := range before {
		if w, ok := now[path]; !ok || v != w {
			return refuse(kvs[0].Name)
		}
	}
	if len(before) != len(now) {
		return refuse(kvs[0].Name)
	}
	return nil
}

func lastValue(kvs []KeyValue, name string) string {
	v := ""
	for _, kv := range kvs {
		if kv.Name == name {
			v = kv.Value
		}
	}
	return v
}

func (f *File) hasSyntaxProblem() bool {
	return slices.ContainsFunc(f.Problems, func(p Problem) bool { return p.Code == Syntax })
}

// otherValues gives the values of the keys whose name is not in set.
func (f *File) otherValues(set map[string]bool) map[string]string {
	values := map[string]string{}
	for path, v := range f.Front.inline {
		if !set[strings.TrimPrefix(path, MetadataKey+".")] {
			values[path] = v
		}
	}
	for _, k := range f.Front.Keys {
		if !set[k.Name] && k.Name != MetadataKey {
			values[k.Path()] = k.Value
		}
	}
	return values
}

func (f *File) replaceValue(k Key, value string) text.Edit {
	repl := scalarFor(k.Name, value)
	src := f.Text.String()
	if src[k.Raw.Start-1] == ':' {
		repl = " " + repl
	}
	if strings.HasPrefix(src[k.Raw.End:], "#") {
		repl += " " // an empty value before a comment
	}
	return text.Edit{Span: k.Raw, New: repl}
}

// insertKeys puts new keys after the last key of their parent; name and
// description go before the others.
func (f *File) insertKeys(kvs []KeyValue, parent string) []text.Edit {
	if len(kvs) == 0 {
		return nil
	}
	fm, eol := f.Front, f.Text.EOL()
	margin := f.margin()
	at, indent, head := fm.YAML.End, margin, ""
	if parent != "" {
		indent, head = margin+"  ", margin+MetadataKey+":"+eol
		for _, k := range fm.Keys {
			switch {
			case k.Name == MetadataKey && k.Parent == "":
				at, head = k.Span.End, ""
			case k.Parent == parent:
				at, indent, head = k.Span.End, f.Text.String()[k.Span.Start:k.Span.Start+k.Indent], ""
			}
		}
	}
	var lines, first strings.Builder
	for _, kv := range kvs {
		b := &lines
		if parent == "" && (kv.Name == "name" || kv.Name == "description") {
			b = &first
		}
		fmt.Fprintf(b, "%s%s: %s%s", indent, kv.Name, scalarFor(kv.Name, kv.Value), eol)
	}
	var edits []text.Edit
	if first.Len() > 0 {
		start := fm.YAML.Start
		if k := f.Key("name"); k != nil {
			start = k.Span.End
		}
		edits = append(edits, text.Edit{Span: text.Span{Start: start, End: start}, New: first.String()})
	}
	if lines.Len() > 0 {
		edits = append(edits, text.Edit{Span: text.Span{Start: at, End: at}, New: head + lines.String()})
	}
	return edits
}

// margin gives the white space that stands before the keys at the top level.
func (f *File) margin() string {
	for _, k := range f.Front.Keys {
		if k.Parent == "" {
			return f.Text.String()[k.Span.Start : k.Span.Start+k.Indent]
		}
	}
	return ""
}

func (f *File) newFrontmatter(kvs []KeyValue, form Form) []text.Edit {
	eol := f.Text.EOL()
	var top, below strings.Builder
	for _, kv := range kvs {
		if form == FormNested && !topOnly(kv.Name) {
			fmt.Fprintf(&below, "  %s: %s%s", kv.Name, scalarFor(kv.Name, kv.Value), eol)
			continue
		}
		fmt.Fprintf(&top, "%s: %s%s", kv.Name, scalarFor(kv.Name, kv.Value), eol)
	}
	block := "---" + eol + top.String()
	if below.Len() > 0 {
		block += MetadataKey + ":" + eol + below.String()
	}
	block += "---" + eol
	if body := f.BodyText(); body != "" && !strings.HasPrefix(body, "\n") && !strings.HasPrefix(body, "\r\n") {
		block += eol
	}
	return []text.Edit{{Span: text.Span{Start: f.Body.Start, End: f.Body.Start}, New: block}}
}

// ReplaceBody gives the edit that replaces the Markdown after the frontmatter,
// in the file's own line endings. What separates the two, and whether the file
// ends with a newline, stay as they are; a file without a body gets both.
func (f *File) ReplaceBody(body string) []text.Edit {
	eol, old := f.Text.EOL(), f.BodyText()
	body = text.WithEOL(strings.TrimRight(strings.TrimLeft(body, "\r\n"), " \t\r\n"), eol)
	if strings.Trim(old, " \t\r\n") == "" {
		return f.firstBody(body, eol)
	}
	lead := len(old) - len(strings.TrimLeft(old, "\r\n"))
	trail := len(old) - len(strings.TrimRight(old, " \t\r\n"))
	span := text.Span{Start: f.Body.Start + lead, End: f.Body.End - trail}
	edits := text.Diff(f.Text.Slice(span), body)
	for i := range edits {
		edits[i].Start += span.Start
		edits[i].End += span.Start
	}
	return edits
}

// firstBody gives the edit that puts a body where there is none but white space.
func (f *File) firstBody(body, eol string) []text.Edit {
	if body == "" {
		return nil
	}
	if body += eol; f.Front != nil {
		body = eol + body
		if !strings.HasSuffix(f.Text.Slice(f.Front.Span), "\n") {
			body = eol + body
		}
	}
	return []text.Edit{{Span: f.Body, New: body}}
}
