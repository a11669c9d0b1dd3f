package memdir

import (
	"fmt"

	"mem/core/memfile"
	"mem/core/text"
)

// Stamped gives the text of a topic with the stamps of a writer: modified always, and
// originSessionId as origin says; where origin is empty that of the stamp, unless the
// file has one. form is where the keys go in a file that has no form of its own.
func Stamped(src string, form memfile.Form, st Stamp, origin string) (string, error) {
	f := memfile.Parse(src)
	if origin == "" && f.Value("originSessionId") == "" {
		origin = st.Origin
	}
	var kvs []memfile.KeyValue
	if origin != "" {
		kvs = append(kvs, memfile.KeyValue{Name: "originSessionId", Value: origin})
	}
	edits, err := f.SetKeys(append(kvs, memfile.KeyValue{Name: "modified", Value: st.modified()}), form)
	if err != nil {
		return "", err
	}
	out, ok := text.Apply(src, edits)
	if !ok {
		return "", fmt.Errorf("its frontmatter cannot take the stamps")
	}
	return out, nil
}

// Sound says what an edit breaks of the frontmatter that a topic had, nil where
// nothing.
func Sound(p, before, after string) error {
	return sound(p, memfile.Parse(before), memfile.Parse(after))
}

// EntryFor gives the edits that give a topic its entry where the index has none.
func EntryFor(x *memfile.Index, p string, meta memfile.Meta, length int) ([]text.Edit, error) {
	if x.Entry(p) != nil {
		return nil, nil
	}
	line, err := TopicEntry(&Topic{Path: p, Meta: meta}, length)
	if err != nil {
		return nil, err
	}
	return x.Insert(line), nil
}
