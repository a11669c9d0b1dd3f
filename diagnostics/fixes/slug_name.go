package fixes

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// SlugName is the ID of the fix.
const SlugName = "slug-name"

func slugName() diagnostics.Fix {
	return diagnostics.Fix{
		ID:      SlugName,
		Summary: "Writes a topic's name in kebab-case.",
		Kind:    diagnostics.QuickFix,
		Make: func(ctx context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
			t := s.View.Topic(f.Path)
			if t == nil || t.Meta.Name == "" {
				return change.Change{}, errChanged
			}
			old := t.Meta.Name
			name := Kebab(old)
			if other := bearer(s.View, t, old, name); other != nil {
				return change.Change{}, fmt.Errorf("%s is named %s already; give this topic another name", memdir.ShownName(other.Path), memdir.ShownName(name))
			}
			c, err := setKeys(s, f.Path, memfile.KeyValue{Name: "name", Value: name})
			if err != nil {
				return change.Change{}, err
			}
			return followName(ctx, s, c, t, old, name)
		},
	}
}

// Kebab gives a name in kebab-case: letters and digits of every script in lower
// case, all else folded to single dashes. It is memdir.Slug without what only
// file names need: a greatest length, and a way round reserved names.
func Kebab(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (!unicode.IsMark(r) || b.Len() == 0) {
			dash = true
			continue
		}
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteRune(r)
	}
	return b.String()
}

// OfferSlug offers the fix for a topic whose name is not in kebab-case.
func OfferSlug(d *diagnostics.Doc) []diagnostics.Offer {
	name := Kebab(d.File.Value("name"))
	if !CanSet(d.File, "name", name) {
		return nil
	}
	return []diagnostics.Offer{{Fix: SlugName, Title: "Rename the topic to " + inQuotes(name)}}
}

// bearer gives another topic that links to the new name would mean, where links to
// the old one do not mean it already.
func bearer(v *memdir.View, t *memdir.Topic, old, name string) *memdir.Topic {
	folded := memdir.Fold(name)
	if folded == memdir.Fold(old) {
		return nil
	}
	for _, other := range v.Topics {
		if other != t && memdir.Fold(other.Name()) == folded {
			return other
		}
	}
	return nil
}

// followName adds the edits that make [[name]] links follow a topic's new name. A
// link that resolves to it under the new name as well stays as it is written. Logs
// only grow, so links in them stay too.
func followName(ctx context.Context, s *diagnostics.Snapshot, c change.Change, t *memdir.Topic, old, name string) (change.Change, error) {
	for _, p := range s.Paths() {
		if err := ctx.Err(); err != nil {
			return change.Change{}, err
		}
		if strings.HasPrefix(p, memdir.LogsDir+"/") || p != memfile.IndexName && memdir.CheckTopicPath(p) != nil {
			continue
		}
		var spans []text.Span
		for _, l := range s.Links(p) {
			if span, ok := follows(l, t, old, name); ok {
				spans = append(spans, span)
			}
		}
		if len(spans) == 0 {
			continue
		}
		d, err := s.Doc(p)
		if err != nil {
			return change.Change{}, err
		}
		var edits []text.Edit
		for _, span := range spans {
			edits = append(edits, text.Edit{Span: span, New: name})
		}
		own := &c.Files[0]
		if p == own.Path {
			edits = append(edits, own.Edits...)
		}
		f, ok := change.EditFile(p, d.File.Text.String(), edits)
		switch {
		case !ok:
		case p == own.Path:
			*own = f
		default:
			c.Files = append(c.Files, f)
		}
	}
	return c, nil
}

// follows reports whether a link means the topic by its old name and would not by
// its new one, and where that name stands in the link.
func follows(l memfile.Link, t *memdir.Topic, old, name string) (text.Span, bool) {
	if !l.Wiki {
		return text.Span{}, false
	}
	target, span := l.Target, l.Dest
	for !means(target, old) {
		// "[[name#heading]]": the heading stays.
		i := strings.LastIndexByte(target, '#')
		if i < 0 {
			return text.Span{}, false
		}
		target = strings.TrimRight(target[:i], " ")
		span.End = span.Start + len(target)
	}
	byPath := strings.TrimSuffix(t.Path, path.Ext(t.Path))
	if means(target, name) || means(target, byPath) || means(target, memdir.Stem(t.Path)) {
		return text.Span{}, false
	}
	return span, true
}

// means reports whether a [[target]] leads to a topic of that name, as
// memdir.View.Resolve reads it: folded, with or without the type before it.
func means(target, name string) bool {
	folded, own := memdir.Fold(strings.TrimSuffix(strings.TrimSpace(target), ".md")), memdir.Fold(name)
	if folded == own {
		return true
	}
	kind, ok := strings.CutSuffix(own, "-"+folded)
	return ok && memfile.KnownType(kind)
}
