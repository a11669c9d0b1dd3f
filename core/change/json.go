package change

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"mem/core/text"
)

// A change as JSON, the form in which one is stored that waits (docs/formats.md). Texts
// that are no UTF-8 survive: JSON cannot hold them, so all texts of such a file are in
// base64.

type fileJSON struct {
	Path   string     `json:"path"`
	Kind   Kind       `json:"kind"`
	Base   string     `json:"base,omitempty"`
	Edits  []editJSON `json:"edits,omitempty"`
	New    string     `json:"new,omitempty"`
	To     string     `json:"to,omitempty"`
	Base64 bool       `json:"base64,omitempty"`
}

type editJSON struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	New   string `json:"new,omitempty"`
}

type changeJSON struct {
	Title string     `json:"title,omitempty"`
	Op    string     `json:"op,omitempty"`
	Files []fileJSON `json:"files"`
}

// MarshalJSON gives the change as it is stored.
func (c Change) MarshalJSON() ([]byte, error) {
	out := changeJSON{Title: c.Title, Op: c.Op, Files: []fileJSON{}}
	for _, f := range c.Files {
		out.Files = append(out.Files, encodeFile(f))
	}
	return json.Marshal(out)
}

func encodeFile(f File) fileJSON {
	valid := utf8.ValidString(f.Base) && utf8.ValidString(f.New)
	for _, e := range f.Edits {
		valid = valid && utf8.ValidString(e.New)
	}
	put := func(s string) string { return s }
	if !valid {
		put = func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	}
	out := fileJSON{Path: f.Path, Kind: f.Kind, Base: put(f.Base), New: put(f.New), To: f.To, Base64: !valid}
	for _, e := range f.Edits {
		out.Edits = append(out.Edits, editJSON{e.Start, e.End, put(e.New)})
	}
	return out
}

// UnmarshalJSON reads a stored change. It fails where edits do not fit their base.
func (c *Change) UnmarshalJSON(b []byte) error {
	var in changeJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*c = Change{Title: in.Title, Op: in.Op}
	for _, f := range in.Files {
		file, err := decodeFile(f)
		if err != nil {
			return fmt.Errorf("the stored change of %s: %w", f.Path, err)
		}
		c.Files = append(c.Files, file)
	}
	return nil
}

func decodeFile(f fileJSON) (File, error) {
	var failed error
	take := func(s string) string {
		if !f.Base64 {
			return s
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			failed = err
		}
		return string(b)
	}
	out := File{Path: f.Path, Kind: f.Kind, Base: take(f.Base), New: take(f.New), To: f.To}
	for _, e := range f.Edits {
		out.Edits = append(out.Edits, text.Edit{Span: text.Span{Start: e.Start, End: e.End}, New: take(e.New)})
	}
	if failed != nil {
		return File{}, failed
	}
	_, _, err := out.After()
	return out, err
}
