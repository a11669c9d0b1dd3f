package memdir

import (
	"path"
	"strings"

	"mem/core/memfile"
)

// Resolve finds the topic that ref means: its path, its path without ".md", its
// name, or either of them written with other case, dashes or underscores.
func (v *View) Resolve(ref string) (*Topic, error) {
	ref = strings.TrimSpace(strings.ReplaceAll(ref, `\`, "/"))
	for _, p := range []string{ref, ref + ".md"} {
		if t := v.byPath[path.Clean(p)]; t != nil {
			return t, nil
		}
	}
	var found []*Topic
	folded := Fold(strings.TrimSuffix(ref, ".md"))
	for _, same := range []func(t *Topic) bool{
		func(t *Topic) bool { return t.Name() == ref },
		func(t *Topic) bool { return Fold(t.Name()) == folded },
		func(t *Topic) bool { return Fold(strings.TrimSuffix(t.Path, path.Ext(t.Path))) == folded },
		func(t *Topic) bool { return Fold(Stem(t.Path)) == folded },
		func(t *Topic) bool { return withType(t.Name(), folded) || withType(Stem(t.Path), folded) },
	} {
		for _, t := range v.Topics {
			if same(t) {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &NotFoundError{Ref: ref, Near: v.near(ref)}
	}
	err := &AmbiguousError{Ref: ref}
	for _, t := range found {
		err.Paths = append(err.Paths, t.Path)
	}
	return nil, err
}

// withType reports whether name is the folded ref behind a type: links often
// leave the prefix out ("role" for user-role).
func withType(name, folded string) bool {
	rest, ok := strings.CutSuffix(Fold(name), "-"+folded)
	return ok && memfile.KnownType(rest)
}

// near gives up to three paths that share a word with ref.
func (v *View) near(ref string) []string {
	var out []string
	words := strings.Split(Fold(strings.TrimSuffix(ref, ".md")), "-")
	for _, t := range v.Topics {
		hay := Fold(t.Path + " " + t.Name())
		for _, w := range words {
			if len(w) > 2 && strings.Contains(hay, w) {
				out = append(out, t.Path)
				break
			}
		}
		if len(out) == 3 {
			break
		}
	}
	return out
}
