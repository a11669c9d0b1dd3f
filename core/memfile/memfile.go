// Package memfile parses one memory file into frontmatter and Markdown with
// byte spans, and computes the edits that change one part of it and leave every
// other byte alone. Parsing never fails: what is wrong comes back as problems
// beside the best reading of the file.
package memfile

import (
	"strings"
	"unicode/utf8"

	"mem/core/text"
)

// Types is the closed set of memory types.
var Types = []string{"user", "feedback", "project", "reference"}

// KnownType reports whether t is one of Types.
func KnownType(t string) bool {
	for _, k := range Types {
		if k == t {
			return true
		}
	}
	return false
}

// Form is where a file's frontmatter keeps the type and the client's stamps.
type Form string

const (
	// FormNone is a file without frontmatter or without a type in it.
	FormNone Form = ""
	// FormFlat keeps type (and originSessionId) at the top level.
	FormFlat Form = "flat"
	// FormNested keeps them below the metadata key.
	FormNested Form = "nested"
)

// ProblemCode names a kind of problem; rules report under these names.
type ProblemCode string

// The problems that parsing finds.
const (
	Unclosed     ProblemCode = "frontmatter-unclosed"
	Syntax       ProblemCode = "frontmatter-syntax"
	DuplicateKey ProblemCode = "key-duplicate"
	KeyConflict  ProblemCode = "key-conflict"
	NotUTF8      ProblemCode = "encoding"
)

// Problem is one thing a strict reader would refuse, with where it stands.
type Problem struct {
	Code    ProblemCode `json:"code"`
	Message string      `json:"message"`
	Span    text.Span   `json:"span"`
	// Key is the key that the problem is about, where there is one.
	Key string `json:"key,omitempty"`
}

// File is one parsed memory file. It is immutable.
type File struct {
	Text     *text.Text
	Front    *Frontmatter // nil when the file has none
	Body     text.Span    // what follows the frontmatter
	Problems []Problem
}

// Parse reads one memory file. It accepts any bytes.
func Parse(src string) *File {
	f := &File{Text: text.New(src)}
	f.parseFrontmatter()
	f.Problems = append(f.Problems, invalidUTF8(src)...)
	return f
}

// Value gives the effective value of a frontmatter key, read leniently: the one
// below metadata where both exist (the client moves keys there), else the last
// at the top level. It gives "" when there is none.
func (f *File) Value(name string) string {
	if f.Front == nil {
		return ""
	}
	if v, ok := f.Front.inline[MetadataKey+"."+name]; ok && !topOnly(name) {
		return v
	}
	if k := f.Key(name); k != nil {
		return k.Value
	}
	return f.Front.inline[name]
}

// Key gives the effective key of that name, nil when there is none.
func (f *File) Key(name string) *Key {
	if f.Front == nil {
		return nil
	}
	var flat, nested *Key
	for i := range f.Front.Keys {
		k := &f.Front.Keys[i]
		switch {
		case k.Name != name:
		case k.Parent == "":
			flat = k
		case k.Parent == MetadataKey:
			nested = k
		}
	}
	if nested != nil && !topOnly(name) {
		return nested
	}
	return flat
}

// topOnly names the keys that no form keeps below metadata.
func topOnly(name string) bool { return name == "name" || name == "description" || name == MetadataKey }

// Form tells where this file keeps its type.
func (f *File) Form() Form {
	for _, name := range []string{"type", "originSessionId"} {
		if k := f.Key(name); k != nil {
			if k.Parent == MetadataKey {
				return FormNested
			}
			return FormFlat
		}
	}
	if f.Key(MetadataKey) != nil {
		return FormNested
	}
	return FormNone
}

// BodyText gives the Markdown after the frontmatter.
func (f *File) BodyText() string { return f.Text.Slice(f.Body) }

func invalidUTF8(src string) []Problem {
	if i := strings.IndexByte(src, 0); i >= 0 {
		return []Problem{{
			Code:    NotUTF8,
			Message: "a NUL byte stands here, as in files that a crash left half written or that are no text. Remove it, or restore the file.",
			Span:    text.Span{Start: i, End: i + 1},
		}}
	}
	if utf8.ValidString(src) {
		return nil
	}
	for i, r := range src {
		if r != '\uFFFD' || strings.HasPrefix(src[i:], "\uFFFD") {
			continue
		}
		return []Problem{{
			Code:    NotUTF8,
			Message: "not valid UTF-8 from here on; readers replace such bytes by U+FFFD. Save the file as UTF-8.",
			Span:    text.Span{Start: i, End: i + 1},
		}}
	}
	return nil
}
