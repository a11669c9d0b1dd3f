package demo

import (
	"os"
	"path/filepath"
	"strings"
)

// playOutside overwrites the index with an old copy, as programs do that read,
// think and write back without a lock.
func playOutside(s *stage) {
	p := s.conversation
	index := filepath.Join(s.memory, "MEMORY.md")
	stale := readLines(s, index)
	s.say("Another program has read the index. Before it writes its copy back, an agent remembers something.")
	const name = "invoices-need-two-signatures"
	var w writeResult
	s.call(p, "memory_write", args{{"name", name}, {"type", "project"}, {"description", "Who signs invoices above 10,000 EUR"},
		{"body", "Both Ana and Li sign.\n"}}, &w)
	s.back("%s", w.Entry)
	if s.err != nil {
		return
	}

	const theirs = "- [tests-hit-a-real-database](tests-hit-a-real-database.md) — reworded by the other program"
	copied := append([]string{}, stale...)
	for i, l := range copied {
		if strings.Contains(l, "("+testsTopic+".md)") {
			copied[i] = theirs
		}
	}
	s.say("Now the other program writes its copy over the index, with one line reworded and ours gone.")
	if err := os.WriteFile(index, []byte(strings.Join(copied, "\n")+"\n"), 0o600); err != nil {
		s.fail(err)
		return
	}
	s.check(!strings.Contains(strings.Join(readLines(s, index), "\n"), name), "the entry is gone from the file", nil)

	var c contextResult
	s.call(p, "memory_context", args{}, &c)
	var lost loss
	for _, l := range c.Vanished {
		if l.Path == w.Path {
			lost = l
		}
	}
	s.back("vanished: %s\nmemory_undo %s puts it back", lost.Entry, lost.ID)
	s.check(len(c.Vanished) == 1 && lost.ID != "" && strings.Contains(c.Text, lost.ID), "the next read reports exactly what vanished, and how to get it back", c.Vanished)

	var u changeResult
	s.call(p, "memory_undo", args{{"change", lost.ID}}, &u)
	now := strings.Join(readLines(s, index), "\n")
	s.check(strings.Contains(now, w.Entry), "the entry is back", now)
	s.check(strings.Contains(now, theirs), "and what the other program changed stands too", now)
}
