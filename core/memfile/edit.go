package memfile

import (
	"fmt"
	"slices"
	"strings"

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
			fmt.Fprintf(&b, "%s%s: %s\n", indent, key, Scalar(value))
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
	b.WriteString("---\n\n")
	b.WriteString(strings.TrimRight(strings.TrimLeft(body, "\r\n"), " \t\r\n"))
	b.WriteString("\n")
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

// SetKey gives the edits that give a key a value: the effective key's value is
// replaced where it stands, a new key joins the others in the form of the file.
// Nothing else of the file changes. It fails where the frontmatter cannot take
// a line without being rewritten.
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
	if f.Front == nil {
		return f.newFrontmatter(kvs, form), nil
	}
	if !f.Front.Closed {
		return nil, fmt.Errorf(`the frontmatter has no closing "---" line: close it first`)
	}
	var edits []text.Edit
	var top, below []KeyValue
	for _, kv := range kvs {
		if _, ok := f.Front.inline[MetadataKey+"."+kv.Name]; ok {
			return nil, fmt.Errorf("%s is written inside braces: write one key a line first", MetadataKey)
		}
		k := f.Key(kv.Name)
		switch {
		case k != nil && k.Value == kv.Value && k.Raw.Len() > 0:
		case k != nil:
			edits = append(edits, f.replaceValue(*k, kv.Value))
		case form == FormNested && !topOnly(kv.Name):
			below = append(below, kv)
		default:
			top = append(top, kv)
		}
	}
	edits = append(edits, f.insertKeys(top, "")...)
	edits = append(edits, f.insertKeys(below, MetadataKey)...)
	return edits, nil
}

func (f *File) replaceValue(k Key, value string) text.Edit {
	repl := Scalar(value)
	if k.Raw.Len() == 0 && f.Text.String()[k.Raw.Start-1] == ':' {
		repl = " " + repl
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
	at, indent, head := fm.YAML.End, "", ""
	if parent != "" {
		at, indent, head = fm.YAML.End, "  ", MetadataKey+":"+eol
		for _, k := range fm.Keys {
			switch {
			case k.Name == MetadataKey && k.Parent == "":
				at, head = k.Span.End, ""
			case k.Parent == parent:
				at, indent, head = k.Span.End, strings.Repeat(" ", k.Indent), ""
			}
		}
	}
	var lines, first strings.Builder
	for _, kv := range kvs {
		b := &lines
		if parent == "" && (kv.Name == "name" || kv.Name == "description") {
			b = &first
		}
		fmt.Fprintf(b, "%s%s: %s%s", indent, kv.Name, Scalar(kv.Value), eol)
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

func (f *File) newFrontmatter(kvs []KeyValue, form Form) []text.Edit {
	eol := f.Text.EOL()
	var top, below strings.Builder
	for _, kv := range kvs {
		if form == FormNested && !topOnly(kv.Name) {
			fmt.Fprintf(&below, "  %s: %s%s", kv.Name, Scalar(kv.Value), eol)
			continue
		}
		fmt.Fprintf(&top, "%s: %s%s", kv.Name, Scalar(kv.Value), eol)
	}
	block := "---" + eol + top.String()
	if below.Len() > 0 {
		block += MetadataKey + ":" + eol + below.String()
	}
	block += "---" + eol
	if !strings.HasPrefix(f.BodyText(), "\n") && !strings.HasPrefix(f.BodyText(), "\r\n") {
		block += eol
	}
	return []text.Edit{{Span: text.Span{Start: f.Body.Start, End: f.Body.Start}, New: block}}
}

// ReplaceBody gives the edit that replaces the Markdown after the frontmatter,
// in the file's own line endings. What separates the two, and whether the file
// ends with a newline, stay as they are.
func (f *File) ReplaceBody(body string) []text.Edit {
	old := f.BodyText()
	lead := len(old) - len(strings.TrimLeft(old, "\r\n"))
	trail := len(old[lead:]) - len(strings.TrimRight(old[lead:], " \t\r\n"))
	body = text.WithEOL(strings.Trim(body, "\r\n"), f.Text.EOL())
	span := text.Span{Start: f.Body.Start + lead, End: f.Body.End - trail}
	prefix, suffix := "", ""
	if f.Front != nil && lead == 0 {
		prefix = f.Text.EOL()
	}
	if strings.TrimSpace(old) == "" && trail == 0 && body != "" {
		suffix = f.Text.EOL()
	}
	cur := f.Text.Slice(span)
	edits := text.Diff(cur, body)
	for i := range edits {
		edits[i].Start += span.Start
		edits[i].End += span.Start
	}
	if len(edits) > 0 && (prefix != "" || suffix != "") {
		edits = []text.Edit{{Span: span, New: prefix + body + suffix}}
	}
	return slices.Clip(edits)
}
