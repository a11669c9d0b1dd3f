package lspserver

import (
	"context"
	"strings"

	"mem/core/change"
	"mem/core/text"
	"mem/internal/lspserver/language"
)

// teamTip says who changed a part of a shared memory, and when, as git has it: of a part
// that is not the same on both sides, and in a snapshot of every part.
func (s *server) teamTip(ctx context.Context, f *file, offset int) (language.Tip, bool) {
	x, err := s.side(f.docs, s.directory(f.doc))
	if x == nil || err != nil {
		return language.Tip{}, false
	}
	if x.inSnapshot {
		part, span, ok := partAt(f.doc.text, everyPart(f.doc.rel, f.doc.text.String()), offset, func(p change.Part) string { return p.Theirs })
		if !ok {
			return language.Tip{}, false
		}
		return whoTip(ctx, x, f.doc.rel, part, span, "Written by")
	}
	r, err := f.snap.Team.Review(ctx)
	if r == nil || err != nil {
		return language.Tip{}, false
	}
	file := r.File(f.doc.rel)
	if file == nil {
		return language.Tip{}, false
	}
	if file.TheirPath == "" {
		return language.Tip{Markdown: language.Team("The team does not have this topic.", ""), Span: f.memo.FirstLine()}, offset <= f.memo.FirstLine().End
	}
	part, span, ok := partAt(f.doc.text, file.Changed, offset, func(p change.Part) string { return p.Ours })
	if !ok {
		return language.Tip{}, false
	}
	lead := "The team changed this:"
	switch {
	case part.Theirs == "":
		return language.Tip{Markdown: language.Team("The team does not have this part.", ""), Span: span}, true
	case part.Conflict:
		lead = "The team changed this differently:"
	case part.Theirs == part.Base:
		lead = "Changed here and not published. What the team has is by"
	}
	return whoTip(ctx, x, file.TheirPath, part, span, lead)
}

func whoTip(ctx context.Context, x *side, path string, part change.Part, span text.Span, lead string) (language.Tip, bool) {
	who, ok, err := x.Who(ctx, path, part)
	if err != nil || !ok {
		return language.Tip{}, false // without git there is nobody to name
	}
	return language.Tip{Markdown: language.Team(lead, who.Words()), Span: span}, true
}

// everyPart gives the parts of one text.
func everyPart(path, src string) []change.Part {
	var out []change.Part
	src = strings.ReplaceAll(strings.TrimPrefix(src, text.BOM), "\r\n", "\n")
	change.Resolve(path, "", "", src, func(p change.Part) change.Decision {
		out = append(out, p)
		return change.Decision{}
	})
	return out
}

// partAt gives the smallest part that stands at a place, with where it stands.
func partAt(t *text.Text, parts []change.Part, offset int, of func(change.Part) string) (part change.Part, at text.Span, ok bool) {
	src := t.String()
	for _, p := range parts {
		s := strings.Trim(of(p), "\n")
		if s == "" {
			continue
		}
		s = text.WithEOL(s, text.EOL(src))
		start := strings.Index(src, s)
		if start < 0 || offset < start || offset > start+len(s) || ok && len(s) >= at.Len() {
			continue
		}
		part, at, ok = p, text.Span{Start: start, End: start + len(s)}, true
	}
	return part, at, ok
}
