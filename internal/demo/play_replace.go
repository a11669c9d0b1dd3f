package demo

import "strings"

// playReplace lets two conversations work on one topic.
func playReplace(s *stage) {
	p := s.conversation
	l := lessons()[0]
	blind := append(lesson{l.name, l.kind, l.description, "Use mocks.\n"}.args(), args{}...)
	no := s.refused(p, "memory_write", blind)
	s.back("refused (%s): %s", no.Kind, firstSentence(no.Error))
	s.check(no.Kind == "exists" && no.Hash != "" && strings.Contains(no.Text, l.body), "replacing what was not read is refused, with the current text and its hash", no)

	s.say("A second agent attaches to the same project. Both read the topic, and both have hash %s.", shortHash(no.Hash))
	q := s.attach("conversation 3", s.scratch.linked)
	var mine, theirs readResult
	s.call(p, "memory_read", args{{"topic", l.name}}, &mine)
	s.call(q, "memory_read", args{{"topic", l.name}}, &theirs)
	s.check(mine.Hash == no.Hash && theirs.Hash == no.Hash, "both see the same text", []string{mine.Hash, theirs.Hash})

	const how = "Start one with `make db`; CI has one already."
	const why = "Mocked tests passed while migration 42 failed in production on 2026-11-03."
	var e editResult
	s.call(q, "memory_edit", args{{"topic", l.name}, {"section", "How to apply"}, {"content", how}, {"expected_hash", theirs.Hash}}, &e)
	s.back("%s has the hash %s", e.Path, shortHash(e.Hash))
	s.check(e.Hash != theirs.Hash && !e.Merged, "the second agent was first", e)

	body := strings.Replace(l.body, "Mocked tests passed while a migration failed in production.", why, 1)
	var w writeResult
	s.call(p, "memory_write", append(lesson{l.name, l.kind, l.description, body}.args(), arg{"expected_hash", mine.Hash}), &w)
	s.back("merged %v, %s has the hash %s", w.Merged, w.Path, shortHash(w.Hash))
	var now readResult
	s.call(p, "memory_read", args{{"topic", l.name}}, &now)
	s.check(w.Merged && strings.Contains(now.Text, how) && strings.Contains(now.Text, why),
		"the first one's hash is stale, but it changed another section: both edits stand", now.Text)

	s.say("Now both change the same section, starting from the same text.")
	s.call(q, "memory_edit", args{{"topic", l.name}, {"section", "How to apply"}, {"content", "Ask Ana for a database."}, {"expected_hash", now.Hash}}, &e)
	clash := s.refused(p, "memory_edit", args{{"topic", l.name}, {"section", "How to apply"}, {"content", "Use the shared database."}, {"expected_hash", now.Hash}})
	if s.err == nil && len(clash.Conflicts) == 1 {
		c := clash.Conflicts[0]
		s.back("refused (%s) in %s, %s\nyours:  %s\ntheirs: %s", clash.Kind, c.Path, c.Part, oneLine(c.Ours), oneLine(c.Theirs))
	}
	s.check(clash.Kind == "conflict" && len(clash.Conflicts) == 1 && strings.Contains(clash.Conflicts[0].Ours, "Use the shared database.") &&
		strings.Contains(clash.Conflicts[0].Theirs, "Ask Ana for a database."), "a conflict, with both texts", clash)
	s.call(p, "memory_read", args{{"topic", l.name}}, &now)
	s.check(now.Hash == e.Hash, "and the file is as the second agent left it", now)
	s.leave(q)
}

func shortHash(h string) string { return h[:min(len(h), 12)] }

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i+1]
	}
	return s
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
