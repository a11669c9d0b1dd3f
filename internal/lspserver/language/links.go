package language

import (
	"strings"

	"mem/core/text"
	"mem/diagnostics"
)

// DocumentLink is a link that an editor can open.
type DocumentLink struct {
	Span   text.Span // of the destination or name, without brackets
	Path   string    // in the memory directory; "" for a URL
	Anchor string    // of a heading in it, decoded, without "#"; "" where none is named
	URL    string    // for the web or mail; "" for a file
}

// DocumentLinks gives the links of a file whose target is there: files of the
// directory, and addresses in the web and of mail. A [[name]] that means several
// topics opens none of them.
func DocumentLinks(s *diagnostics.Snapshot, d *diagnostics.Doc) []DocumentLink {
	var all []DocumentLink
	for _, l := range d.Links() {
		if l.Dest.Len() == 0 {
			continue
		}
		switch to := follow(s, d, l); {
		case to.File != "":
			all = append(all, DocumentLink{Span: l.Dest, Path: to.File})
		case to.URL != "":
			all = append(all, DocumentLink{Span: l.Dest, URL: strings.ToValidUTF8(to.URL, "\uFFFD")})
		case len(to.Paths) == 1:
			all = append(all, DocumentLink{Span: l.Dest, Path: to.Paths[0], Anchor: to.Anchor})
		}
	}
	return all
}
