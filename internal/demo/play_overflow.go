package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notes is how many memories the other project has before the demo writes one;
// readers of an index load 200 lines.
const notes = 230

// playOverflow gives another project more memories than an index can show.
func playOverflow(s *stage) {
	var where whereResult
	s.run(s.scratch.archive, &where, "where", "--json")
	s.check(below(where.Directory, s.scratch.home), "the second project has a memory of its own, in the scratch home", where.Directory)
	if s.err != nil {
		return
	}
	s.longMemory = where.Directory
	if err := manyNotes(where.Directory); err != nil {
		s.fail(fmt.Errorf("writing the notes of the second project: %w", err))
		return
	}
	s.say("Another program has filled it with %d notes, one line each. An agent writes one more.", notes)
	p := s.attach("conversation 4", s.scratch.archive)
	const name = "read-this-first"
	var w writeResult
	s.call(p, "memory_write", args{{"name", name}, {"type", "project"}, {"description", "The archive moves to cold storage on 2026-12-15"},
		{"body", "Ask before restoring anything after that day.\n"}}, &w)
	s.back("%s", w.Index.Warning)
	s.leave(p)

	lines := readLines(s, filepath.Join(where.Directory, "MEMORY.md"))
	if s.err != nil {
		return
	}
	first := w.Index.FirstDropped
	s.check(first > 0 && first <= len(lines) && w.Index.Dropped > 0 && strings.Contains(w.Index.Warning, fmt.Sprint("Line ", first)),
		fmt.Sprintf("the write was made, and says that line %d is the first of %d that no reader loads", first, w.Index.Dropped), w.Index)
	if s.err != nil {
		return
	}
	cut := lines[first-1]
	s.show(fmt.Sprintf("line %d: %s", first, cut))
	entries := entriesOf(strings.Join(lines, "\n"))
	s.check(len(entries) == notes+1 && strings.Contains(entries[0], "("+name+".md)"), "the newest entry is at the top, and all others are still in the file", len(entries))

	p = s.attach("conversation 5", s.scratch.archive)
	var c contextResult
	s.call(p, "memory_context", args{}, &c)
	s.back("%d of %d entries loaded, %d warning(s)", len(entriesOf(c.Text)), len(entries), len(c.Warnings))
	s.check(strings.Contains(c.Text, entries[0]) && !strings.Contains(c.Text, cut) && len(c.Warnings) > 0,
		"a new conversation sees the newest, not the cut line, and is warned", c.Warnings)
	lost := strings.TrimSuffix(between(cut, "](", ")"), ".md")
	var f searchResult
	s.call(p, "memory_search", args{{"query", strings.ReplaceAll(lost, "-", " ")}}, &f)
	s.check(len(f.Hits) > 0 && f.Hits[0].Path == lost+".md", "search still finds what the cut line names", f)
	s.leave(p)
}

// manyNotes writes topics and an index as any program could.
func manyNotes(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	for i := range notes {
		name := fmt.Sprintf("note-%03d", notes-i)
		topic := fmt.Sprintf("---\nname: %s\ndescription: What box %d of the archive holds\ntype: reference\n---\n\nBox %d.\n", name, notes-i, notes-i)
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(topic), 0o600); err != nil {
			return err
		}
		fmt.Fprintf(&index, "- [%s](%s.md) — What box %d of the archive holds\n", name, name, notes-i)
	}
	return os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte(index.String()), 0o600)
}

func readLines(s *stage, path string) []string {
	if s.err != nil {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		s.fail(err)
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func between(s, left, right string) string {
	_, s, _ = strings.Cut(s, left)
	s, _, _ = strings.Cut(s, right)
	return s
}
