// Package change owns what should happen to memory files as a value: edits,
// creations, deletions and renames, each with the content it expects, how to
// make them in memory, how to take them back, and how to merge them with what
// somebody else did to the same files.
package change

import (
	"fmt"
	"slices"

	"mem/core/text"
)

// Kind is what happens to one file.
type Kind string

// The kinds of file changes.
const (
	Create Kind = "create" // the file must not exist
	Edit   Kind = "edit"   // the file must have the base content
	Delete Kind = "delete" // the file must have the base content
	Rename Kind = "rename" // as Edit, and the result stands at To, which must not exist
	Append Kind = "append" // New goes to the end, whatever the file holds
)

// File is what happens to one file. Its fields are not changed once it is made.
type File struct {
	Path string
	Kind Kind
	// Base is the content the edits count in; for Create and Append it is empty.
	Base string
	// Edits turn Base into the new content (Edit, Rename).
	Edits []text.Edit
	// New is the whole content (Create) or what is added (Append).
	New string
	// To is the new path (Rename).
	To string
}

// BaseHash names the content the file must have, "" where it must not exist or
// may have any.
func (f File) BaseHash() string {
	if f.Kind == Create || f.Kind == Append {
		return ""
	}
	return text.Hash(f.Base)
}

// After gives the content that results, and whether the file exists then.
// Append gives only what is added.
func (f File) After() (content string, exists bool, err error) {
	switch f.Kind {
	case Create, Append:
		return f.New, true, nil
	case Delete:
		return "", false, nil
	case Edit, Rename:
		out, ok := text.Apply(f.Base, f.Edits)
		if !ok {
			return "", false, fmt.Errorf("changing %s: its edits overlap or lie outside the file", f.Path)
		}
		return out, true, nil
	}
	return "", false, fmt.Errorf("changing %s: unknown kind of change %q", f.Path, f.Kind)
}

// Target gives the path at which the result stands.
func (f File) Target() string {
	if f.Kind == Rename {
		return f.To
	}
	return f.Path
}

// Change is a set of file changes that are made together or not at all.
type Change struct {
	Title string // what it does, in a few words for people
	Op    string // the operation that made it: write, edit, delete, move, log, undo …
	Files []File
}

// Empty reports whether the change changes nothing.
func (c Change) Empty() bool { return len(c.Files) == 0 }

// EditFile makes the change of one file by edits; ok is false when they change
// nothing.
func EditFile(path, base string, edits []text.Edit) (f File, ok bool) {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e text.Edit) bool {
		return e.Start >= 0 && e.End <= len(base) && e.Start <= e.End && base[e.Start:e.End] == e.New
	})
	return File{Path: path, Kind: Edit, Base: base, Edits: edits}, len(edits) > 0
}

// Apply makes the change in memory: files maps paths to contents and is left
// alone; the result is a new map. It fails when a file is not what the change
// expects.
func (c Change) Apply(files map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(files)+len(c.Files))
	for p, s := range files {
		out[p] = s
	}
	for _, f := range c.Files {
		have, exists := out[f.Path]
		if f.Kind == Append {
			out[f.Path] = have + f.New
			continue
		}
		if exists != (f.Kind != Create) || (exists && have != f.Base) {
			return nil, fmt.Errorf("changing %s: the file is not what the change expects", f.Path)
		}
		after, stays, err := f.After()
		if err != nil {
			return nil, err
		}
		if f.Kind == Rename {
			if _, taken := out[f.To]; taken {
				return nil, fmt.Errorf("renaming %s: %s exists", f.Path, f.To)
			}
			delete(out, f.Path)
		}
		if !stays {
			delete(out, f.Path)
			continue
		}
		out[f.Target()] = after
	}
	return out, nil
}

// Invert gives the change that takes c back. Appends have no inverse, since a
// log only grows: they are left out and reported by ok = false.
func (c Change) Invert() (inverse Change, ok bool) {
	ok = true
	inverse.Title = "undo: " + c.Title
	for _, f := range slices.Backward(c.Files) {
		after, _, err := f.After()
		if err != nil {
			ok = false
			continue
		}
		switch f.Kind {
		case Create:
			inverse.Files = append(inverse.Files, File{Path: f.Path, Kind: Delete, Base: f.New})
		case Delete:
			inverse.Files = append(inverse.Files, File{Path: f.Path, Kind: Create, New: f.Base})
		case Edit:
			inverse.Files = append(inverse.Files, File{Path: f.Path, Kind: Edit, Base: after, Edits: text.Invert(f.Base, f.Edits)})
		case Rename:
			inverse.Files = append(inverse.Files, File{Path: f.To, Kind: Rename, To: f.Path, Base: after, Edits: text.Invert(f.Base, f.Edits)})
		default:
			ok = false
		}
	}
	return inverse, ok
}
