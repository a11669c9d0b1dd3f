package memdir

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// Move gives the change that renames a topic and makes every link to it, in the
// index and in other topics, and every relative link in it follow: those of Markdown,
// definitions of references, images, and links of HTML. It loads all
// topics. What it cannot read it leaves alone and names in notes.
func (v *View) Move(ctx context.Context, t *Topic, to string) (c change.Change, notes []string, err error) {
	if err := CheckTopicPath(to); err != nil {
		return c, nil, err
	}
	if to == t.Path {
		return c, nil, fmt.Errorf("%s has this path already; give another one", t.Path)
	}
	if other := v.Topic(to); other != nil {
		return c, nil, fmt.Errorf("%s exists already; delete it first or choose another path", to)
	}
	if err := v.CheckPlace(to); err != nil {
		return c, nil, err
	}
	c = change.Change{Op: "move", Title: "move " + t.Path + " to " + to}
	body, err := v.Load(t)
	if err != nil {
		return c, nil, err
	}
	c.Files = append(c.Files, change.File{Path: t.Path, Kind: change.Rename, To: to,
		Base: body.File.Text.String(), Edits: v.retargetOwn(body.File, t.Path, to)})
	x := v.Index
	edits := retarget(x.Text(), x.Links, memfile.IndexName, t.Path, to)
	edits = apart(append(edits, retargetReferences(x.File, x.Links, x.Outline, memfile.IndexName, t.Path, to)...))
	if f, ok := change.EditFile(memfile.IndexName, x.Text().String(), edits); ok {
		c.Files = append(c.Files, f)
	}
	for _, other := range v.Topics {
		if err := ctx.Err(); err != nil {
			return c, nil, err
		}
		if other == t {
			continue
		}
		b, err := v.Load(other)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s could not be read, so links in it were not looked at: %v", ShownName(other.Path), err))
			continue
		}
		links := memfile.Links(b.File.Text, b.File.Body, b.File.Outline())
		edits := retarget(b.File.Text, links, other.Path, t.Path, to)
		if t.Meta.Name == "" {
			edits = append(edits, renameWiki(links, Stem(t.Path), Stem(to))...)
		}
		edits = apart(append(edits, retargetReferences(b.File, links, b.File.Outline, other.Path, t.Path, to)...))
		if len(edits) > 0 && CheckTopicPath(other.Path) != nil {
			notes = append(notes, fmt.Sprintf("%s links it and was left as it is: mem does not write a file of this name", ShownName(other.Path)))
			continue
		}
		if f, ok := change.EditFile(other.Path, b.File.Text.String(), edits); ok {
			c.Files = append(c.Files, f)
		}
	}
	return c, notes, nil
}

// retarget gives the edits that make the links of a file at from follow a
// topic that moves from old to new.
func retarget(t *text.Text, links []memfile.Link, from, old, new string) []text.Edit {
	var edits []text.Edit
	for _, l := range links {
		p := l.Path()
		if p == "" || path.Join(path.Dir(from), p) != old {
			continue
		}
		edits = append(edits, destEdit(t, l, Relative(path.Dir(from), new)))
	}
	return edits
}

// retargetOwn gives the edits that keep the relative links of a moving file
// leading where they led.
func (v *View) retargetOwn(f *memfile.File, old, new string) []text.Edit {
	var edits []text.Edit
	// follow gives what a destination becomes, "" where it stays.
	follow := func(p string) string {
		if p == "" || path.Dir(old) == path.Dir(new) && path.Join(path.Dir(old), p) != old {
			return ""
		}
		target := path.Join(path.Dir(old), p)
		if target == old {
			target = new
		}
		if dest := Relative(path.Dir(new), target); dest != p {
			return dest
		}
		return ""
	}
	links := memfile.Links(f.Text, f.Body, f.Outline())
	for _, l := range links {
		if dest := follow(l.Path()); dest != "" {
			edits = append(edits, destEdit(f.Text, l, dest))
		}
	}
	for _, r := range references(f, links, f.Outline) {
		p := path.Join(path.Dir(old), r.Path())
		// "[note]: words" in prose is a definition, too, and leads nowhere.
		if r.Kind != memfile.Image && !memfile.IsMarkdown(p) && !v.Exists(p) {
			continue
		}
		if dest := follow(r.Path()); dest != "" {
			edits = append(edits, referenceEdit(f.Text, r, dest))
		}
	}
	return apart(edits)
}

// Retarget gives the edit that makes a link, in the file at from with text t, lead
// to the file at to. Its anchor and the way it is written stay.
func Retarget(t *text.Text, l memfile.Link, from, to string) text.Edit {
	return destEdit(t, l, Relative(path.Dir(from), to))
}

// Relink gives the edits that keep the relative links of a text leading where they
// lead when the text goes from a file at from into one at to.
func Relink(t *text.Text, links []memfile.Link, from, to string) []text.Edit {
	if path.Dir(from) == path.Dir(to) {
		return nil
	}
	var edits []text.Edit
	for _, l := range links {
		p := l.Path()
		if p == "" {
			continue
		}
		if dest := Relative(path.Dir(to), path.Join(path.Dir(from), p)); dest != p {
			edits = append(edits, destEdit(t, l, dest))
		}
	}
	return edits
}

// percentStyle writes a path for those who write spaces as "%20".
var percentStyle = strings.NewReplacer("%", "%25", "#", "%23", "<", "%3C", ">", "%3E", "\n", "%0A", "\r", "%0D", " ", "%20", "\t", "%09", "(", "%28", ")", "%29")

// destEdit replaces a link's destination and keeps its anchor and how it is
// written.
func destEdit(t *text.Text, l memfile.Link, dest string) text.Edit {
	raw := t.Slice(l.Dest)
	p, anchor := memfile.SplitDest(raw)
	angled := l.Dest.Start > 0 && t.String()[l.Dest.Start-1] == '<'
	plain := memfile.EncodePath(dest)
	switch {
	case angled:
		dest = plain + anchor
	case strings.Contains(p, "%"):
		dest = percentStyle.Replace(dest)
		if strings.ContainsAny(plain, "%") { // what else a reader would decode
			dest = strings.NewReplacer("&", "%26", "?", "%3F").Replace(dest)
		}
		dest += anchor
	case strings.ContainsAny(plain+anchor, " \t()"):
		dest = "<" + plain + anchor + ">"
	default:
		dest = plain + anchor
	}
	return text.Edit{Span: l.Dest, New: dest}
}

func renameWiki(links []memfile.Link, old, new string) []text.Edit {
	var edits []text.Edit
	for _, l := range links {
		if l.Wiki && Fold(l.Target) == Fold(old) {
			edits = append(edits, text.Edit{Span: l.Dest, New: new})
		}
	}
	return edits
}

// Relative gives the path of target seen from dir, both slash-separated inside
// the memory directory, as a link has it.
func Relative(dir, target string) string {
	if dir == "." {
		return target
	}
	from, to := strings.Split(dir, "/"), strings.Split(target, "/")
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Join(append(slices.Repeat([]string{".."}, len(from)), to...), "/")
}
