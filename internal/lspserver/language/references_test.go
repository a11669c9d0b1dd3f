package language_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/internal/lspserver/language"
)

// TestReferencesAnswerDefinitions takes every link of every case: what it leads to
// has it among its references, and nothing else has.
func TestReferencesAnswerDefinitions(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range cases {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := open(t, src)
		for _, p := range s.Paths() {
			d, err := s.Doc(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range d.Links() {
				if dest := d.File.Text.Slice(l.Dest); strings.HasPrefix(dest, "#") {
					continue // a place in the same file is no reference to it
				}
				at := l.Span.Start + 1
				to, _ := language.Definition(s.Snapshot, d, at)
				me := fmt.Sprint(p, l.Span)
				var found []string
				for _, r := range language.References(s.Snapshot, d, at, false) {
					found = append(found, fmt.Sprint(r.Path, r.Span))
				}
				n := 0
				for _, f := range found {
					if f == me {
						n++
					}
				}
				if n != len(to) {
					t.Errorf("%s: %s leads to %d places and is %d times among their references %q", file, me, len(to), n, found)
				}
				checked += len(to)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d links were followed", checked)
	}
}

// foldingFS finds files whatever the case of their names.
type foldingFS struct{ fstest.MapFS }

func (f foldingFS) fold(name string) string {
	for p := range f.MapFS {
		if strings.EqualFold(p, name) {
			return p
		}
	}
	return name
}

func (f foldingFS) Open(name string) (fs.File, error)          { return f.MapFS.Open(f.fold(name)) }
func (f foldingFS) Stat(name string) (fs.FileInfo, error)      { return f.MapFS.Stat(f.fold(name)) }
func (f foldingFS) Lstat(name string) (fs.FileInfo, error)     { return f.MapFS.Lstat(f.fold(name)) }
func (f foldingFS) ReadDir(name string) ([]fs.DirEntry, error) { return f.MapFS.ReadDir(name) }

// TestWithoutCase follows a link written in another case than the file, where the
// file system takes the two for one and where it does not.
func TestWithoutCase(t *testing.T) {
	files := fstest.MapFS{
		"MEMORY.md": {Data: []byte("[x](Style.md)\n"), ModTime: diagtestNow},
		"style.md":  {Data: []byte("# Style\n"), ModTime: diagtestNow},
	}
	for _, c := range []struct {
		name string
		src  fs.FS
		want []string
	}{{"one file", foldingFS{files}, []string{"style.md"}}, {"two files", files, nil}} {
		v, err := memdir.Read(context.Background(), c.src, nil, memdir.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: diagtestNow}, nil)
		d, err := s.Doc("MEMORY.md")
		if err != nil {
			t.Fatal(err)
		}
		to, _ := language.Definition(s, d, 2)
		var got []string
		for _, l := range to {
			got = append(got, l.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if refs := language.References(s, d, 2, false); len(refs) != len(c.want) {
			t.Errorf("%s: references %+v", c.name, refs)
		}
	}
}
