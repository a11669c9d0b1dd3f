package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// Fold makes names comparable as file systems that know no case compare them.
func Fold(p string) string { return strings.ToLower(strings.ToUpper(norm.NFC.String(p))) }

// prefixes gives a path and the folders that it lies in, without the top.
func prefixes(p string) []string {
	out := []string{p}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		out = append(out, dir)
	}
	return out
}

// MayWrite says why a file may not be written in this stage, nil when it may: as a gate
// asks before a write, and as Result asks once more. rel is slash-separated.
func (s *Stage) MayWrite(rel string) error {
	if s.about.LogOnly != "" {
		if rel != s.about.LogOnly {
			return fmt.Errorf("%s: in this run only %s may be written, and only at its end", memdir.ShownName(rel), s.about.LogOnly)
		}
		return nil
	}
	if rel == memfile.IndexName {
		return nil
	}
	if err := memdir.CheckTopicPath(rel); err != nil {
		return err
	}
	if s.pinned[rel] {
		return fmt.Errorf("%s is pinned: a person wants it to stay as it is. Leave it alone", memdir.ShownName(rel))
	}
	for _, p := range prefixes(rel) {
		if other, ok := s.folded[Fold(p)]; ok && other != p {
			return fmt.Errorf("%s differs only by case from %s, which exists. Write to that one or choose another name", memdir.ShownName(p), memdir.ShownName(other))
		}
	}
	if _, ok := s.base[rel]; !ok && s.folded[Fold(rel)] != "" {
		return fmt.Errorf("%s is a folder", memdir.ShownName(rel))
	}
	return s.view.CheckPlace(rel)
}

// MayRemove says why a file may not be removed from this stage, nil when it may.
func (s *Stage) MayRemove(rel string) error {
	if rel == memfile.IndexName {
		return fmt.Errorf("%s is the index and is not deleted; edit it", rel)
	}
	if s.about.LogOnly != "" {
		return fmt.Errorf("%s: in this run nothing may be deleted", memdir.ShownName(rel))
	}
	return s.MayWrite(rel)
}

// Put writes a file of the stage for a host that hands it back.
func (s *Stage) Put(rel, content string) error {
	if err := s.MayWrite(rel); err != nil {
		return err
	}
	if base, ok := s.base[rel]; len(content) > MaxText && (!ok || len(content) > len(base)) {
		return fmt.Errorf("%s has %d bytes, more than the %d that a memory file may have; split it", memdir.ShownName(rel), len(content), MaxText)
	}
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		return fmt.Errorf("writing to a stage: %w", err)
	}
	name := filepath.FromSlash(rel)
	err = root.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		if info, statErr := root.Lstat(name); statErr == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no regular file", rel)
		} else {
			err = root.WriteFile(name, []byte(content), 0o600)
		}
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("writing to a stage: %w", err)
	}
	return nil
}

// Remove deletes a file of the stage for a host that hands it back.
func (s *Stage) Remove(rel string) error {
	if err := s.MayRemove(rel); err != nil {
		return err
	}
	if _, ok := s.base[rel]; !ok {
		return fmt.Errorf("%s is not in this stage, so there is nothing to delete", memdir.ShownName(rel))
	}
	root, err := os.OpenRoot(s.Dir())
	if err == nil {
		err = errors.Join(root.Remove(filepath.FromSlash(rel)), root.Close())
	}
	if err != nil {
		return fmt.Errorf("deleting in a stage: %w", err)
	}
	return nil
}

// Rebase lets a file of the stage begin as the text that the memory has now, for
// somebody who looked at that one. It reports whether that text has the hash; the
// staged text is left alone.
func (s *Stage) Rebase(rel, hash string) (bool, error) {
	now, exists, err := s.m.Current(rel)
	if err != nil || !exists || text.Hash(now) != hash {
		return false, err
	}
	f := memfile.Parse(now)
	s.base[rel] = now
	delete(s.pinned, rel)
	if rel != memfile.IndexName && f.Pinned() {
		s.pinned[rel] = true
	}
	for _, p := range prefixes(rel) {
		s.folded[Fold(p)] = p
	}
	return true, nil
}

// Reset puts every file of the stage back to what it began as.
func (s *Stage) Reset(ctx context.Context) error {
	t, err := s.walk(ctx)
	if err != nil {
		return err
	}
	for p, now := range t.files {
		if base, known := s.base[p]; !known || base != now {
			err = errors.Join(err, s.Restore(p))
		}
	}
	for p := range s.base {
		if _, there := t.files[p]; !there && !t.keeps(p) {
			err = errors.Join(err, s.Restore(p))
		}
	}
	return err
}

// Restore puts a file of the stage back to what it began as, or removes one that came.
func (s *Stage) Restore(rel string) error {
	if err := memdir.CheckPath(rel); err != nil {
		return nil // nothing can be there that was put
	}
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		return fmt.Errorf("restoring a stage: %w", err)
	}
	name := filepath.FromSlash(rel)
	if base, ok := s.base[rel]; ok {
		err = root.WriteFile(name, []byte(base), 0o600)
	} else if err = root.Remove(name); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("restoring a stage: %w", err)
	}
	return nil
}
