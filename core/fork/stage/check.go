package stage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// soundText checks the text that a topic is to have, and gives it with the stamps of
// the session that it comes from. known tells that base was one already.
func (r *comparison) soundText(p, base, now string, known bool) (string, error) {
	if err := r.clean(p, base, now); err != nil {
		return "", err
	}
	if known {
		if err := memdir.Sound("the new text", base, now); err != nil {
			return "", err
		}
	}
	f := memfile.Parse(now)
	meta := f.Meta()
	switch {
	case meta.Type != "" && !memfile.KnownType(meta.Type) && memfile.Parse(base).Meta().Type != meta.Type:
		return "", fmt.Errorf("its type %q is unknown; it is one of %s", memdir.Shown(meta.Type, 60), strings.Join(memfile.Types, ", "))
	case known && (f.Front == nil || !f.Front.Closed):
		return now, nil // it had none, so it gets none
	case !known && (f.Front == nil || !f.Front.Closed || meta.Name == "" || meta.Description == "" || meta.Type == ""):
		return "", errors.New("its frontmatter lacks name, description or type; a memory begins with all three between lines of ---")
	case !known && len(f.Problems) > 0:
		return "", fmt.Errorf("its frontmatter cannot be read by others: %s", f.Problems[0].Message)
	case f.Pinned() && !memfile.Parse(base).Pinned():
		return "", errors.New("it would be pinned; that is for a person to do")
	}
	origin := memfile.Parse(base).Value("originSessionId")
	if !known {
		origin = r.origin()
	}
	after, err := memdir.Stamped(now, r.about.Form, memdir.Stamp{Origin: r.origin(), Now: r.m.Now()}, origin)
	if err != nil {
		return "", fmt.Errorf("its frontmatter cannot be written to: %w", err)
	}
	return after, nil
}

func (s *Stage) origin() string {
	if s.about.Origin != "" {
		return s.about.Origin
	}
	return s.m.Origin()
}

// clean refuses what may not come in by any file, and notes what a person should see.
func (r *comparison) clean(p, base, now string) error {
	if utf8.ValidString(base) && !utf8.ValidString(now) {
		return errors.New("it is not valid UTF-8")
	}
	if strings.ContainsRune(now, 0) && !strings.ContainsRune(base, 0) {
		return errors.New("it holds NUL bytes")
	}
	for _, f := range r.m.Guard().Added([]byte(base), []byte(now)) {
		if (f.Kind == guard.KindSecret || f.Kind == guard.KindIncomplete) && r.m.MayWriteSecrets(r.ctx) {
			continue
		}
		return fmt.Errorf("line %d of what it should be: %s", f.Line, f.Reason)
	}
	if base == "" {
		if found := r.m.Guard().Secrets([]byte(p)); len(found) > 0 && !r.m.MayWriteSecrets(r.ctx) {
			return fmt.Errorf("its name: %s", found[0].Reason)
		}
	}
	found := Commands(now, base)
	if len(found) > 0 {
		found = Commands(now, r.baseTexts()...)
	}
	for _, f := range found {
		r.out.Findings = append(r.out.Findings, Finding{p, f})
	}
	return nil
}

// baseTexts gives all texts of the base: a command that was in one of them already is
// nothing new.
func (s *Stage) baseTexts() []string {
	out := make([]string, 0, len(s.base))
	for _, p := range s.paths {
		out = append(out, s.base[p])
	}
	return out
}

// Commands gives the places in a text that command whoever reads it and that stand in
// none of the others: what a poisoned source may have planted. They are found, not
// refused; who applies the text without a look holds it back.
func Commands(now string, before ...string) []guard.Finding {
	f := memfile.Parse(now)
	found := guard.Instructions(text.Bytes(now), f.Outline().Code)
	return slices.DeleteFunc(found, func(x guard.Finding) bool {
		if x.More() || x.Start < 0 || x.End > len(now) || x.End <= x.Start {
			return false
		}
		words := now[x.Start:x.End]
		return slices.ContainsFunc(before, func(s string) bool { return strings.Contains(s, words) })
	})
}
