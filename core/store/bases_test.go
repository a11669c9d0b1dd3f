package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/text"
)

func TestTornBaseIsWrittenAgain(t *testing.T) {
	b := newBases(t.TempDir(), 10, 1000)
	const content = "a text that was handed out"
	hash := text.Hash(content)
	if err := os.WriteFile(filepath.Join(b.dir, hash), []byte(content[:5]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.find(hash); ok {
		t.Error("a torn base was given")
	}
	b.keep(hash, content)
	if got, ok := b.find(hash); !ok || got != content {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestBasesAreBounded(t *testing.T) {
	for name, b := range map[string]*bases{
		"number": newBases(t.TempDir(), 16, 1<<20),
		"bytes":  newBases(t.TempDir(), 1000, 16*100),
	} {
		for i := range 200 {
			content := fmt.Sprintf("%-100d", i)
			b.keep(text.Hash(content), content)
		}
		entries, err := os.ReadDir(b.dir)
		if err != nil || len(entries) > 16+16/8+1 && name == "number" || len(entries) > 16+1000/8+1 {
			t.Errorf("%s: %d bases, %v", name, len(entries), err)
		}
		if _, ok := b.find(text.Hash(fmt.Sprintf("%-100d", 199))); !ok {
			t.Errorf("%s: the newest is gone", name)
		}
	}
}

// TestBaseHandedOutAgainIsYoung keeps a text that was just read from going first.
func TestBaseHandedOutAgainIsYoung(t *testing.T) {
	dir := t.TempDir()
	b := newBases(dir, 16, 1<<20)
	const content = "read every day"
	hash := text.Hash(content)
	b.keep(hash, content)
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, hash), long, long); err != nil {
		t.Fatal(err)
	}
	b.known[hash] = long
	b.keep(hash, content)
	other := newBases(dir, 16, 1<<20)
	for i := range 15 {
		c := strings.Repeat("x", i+1)
		other.keep(text.Hash(c), c)
	}
	other.prune()
	if _, ok := other.find(hash); !ok {
		t.Error("it is gone")
	}
	// Gone through another process, and handed out again.
	if err := os.Remove(filepath.Join(dir, hash)); err != nil {
		t.Fatal(err)
	}
	b.known[hash] = long
	b.keep(hash, content)
	if _, ok := b.find(hash); !ok {
		t.Error("it was not kept again")
	}
}

// TestWrittenTextsAreKeptOnce: what a change left is in the journal. No base is written
// for it, and its hash gives the text all the same.
func TestWrittenTextsAreKeptOnce(t *testing.T) {
	s := open(t)
	for _, f := range write(t, s, memory("one", "Text.\n")).Files {
		s.Keep(f.Path, f.Hash, f.After)
		if _, err := os.Stat(filepath.Join(s.bases.dir, f.Hash)); err == nil {
			t.Errorf("%s was kept a second time", f.Path)
		}
		if got, ok := s.Base(f.Hash); !ok || got != f.After {
			t.Errorf("the hash of %s gives %q, %v", f.Path, got, ok)
		}
	}
	const other = "a text that somebody else wrote"
	s.Keep("one.md", text.Hash(other), other)
	if _, ok := s.Base(text.Hash(other)); !ok {
		t.Error("a text that is not in the journal was not kept")
	}
}
