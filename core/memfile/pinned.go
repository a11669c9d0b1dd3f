package memfile

import "strings"

// PinnedKey is the frontmatter key by which a person keeps a memory as it is: no job
// edits, moves or deletes it.
const PinnedKey = "pinned"

// Pinned reports whether the file says that it is pinned, at the top level or below
// metadata. Every spelling of yes that a YAML reader may know counts.
func (f *File) Pinned() bool {
	if f.Front == nil {
		return false
	}
	for _, k := range f.Front.Keys {
		if k.Name != PinnedKey || k.Parent != "" && k.Parent != MetadataKey {
			continue
		}
		switch strings.ToLower(k.Value) {
		case "true", "yes", "on", "1":
			return true
		}
	}
	return false
}
