package demo

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// playFiles ends all conversations and looks at what they left.
func playFiles(s *stage) {
	s.leave(s.conversation)
	if s.err != nil {
		return
	}
	shown, strange, err := tree(s.memory)
	if err != nil {
		s.fail(err)
		return
	}
	s.say("%s", s.memory)
	s.show(shown...)
	s.check(len(strange) == 0, "topics and the index, nothing else: no lock, no temporary file, no database", strange)
	s.say("MEMORY.md")
	index := readLines(s, filepath.Join(s.memory, "MEMORY.md"))
	s.show(index[:min(len(index), 6)]...)
	if len(index) > 6 {
		s.show(fmt.Sprintf("… %d more lines", len(index)-6))
	}
	ours, err := tidy(filepath.Join(s.scratch.home, ".local", "state", "mem"))
	s.fail(err)
	s.say("The journal with every change lies apart, in the state directory (%d files, readable by nobody else).", ours)
	_, err = os.Stat(s.scratch.outside)
	s.check(os.IsNotExist(err), "and nothing was written where the checkout had wanted it", s.scratch.outside)
}

// tree lists a memory directory, folders with many files in one line, and
// names what is no Markdown.
func tree(dir string) (shown, strange []string, err error) {
	folders := map[string]int{}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !strings.HasSuffix(rel, ".md") || strings.HasPrefix(d.Name(), ".") {
			strange = append(strange, rel)
		}
		if folder, _, ok := strings.Cut(rel, "/"); ok {
			folders[folder]++
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		shown = append(shown, fmt.Sprintf("%-34s %5d bytes", rel, info.Size()))
		return nil
	})
	for folder, n := range folders {
		shown = append(shown, fmt.Sprintf("%-34s %5d files", folder+"/", n))
	}
	return shown, strange, err
}

// tidy counts the files of our own state; each must be private.
func tidy(dir string) (files int, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			return fmt.Errorf("%s can be read by others: %s", p, info.Mode().Perm())
		}
		return err
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("%s holds no journal", dir)
	}
	return files, err
}
