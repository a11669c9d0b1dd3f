package demo

import (
	"fmt"
	"strings"
)

// lesson is a memory that the first conversation writes.
type lesson struct {
	name, kind, description, body string
}

const (
	testsTopic  = "tests-hit-a-real-database"
	deployTopic = "deployment-runbook"
	ownerTopic  = "who-i-work-with"
	freezeTopic = "year-end-freeze"
)

func lessons() []lesson {
	return []lesson{
		{testsTopic, "feedback", "How integration tests reach PostgreSQL",
			"Integration tests use a real database, never mocks.\n\n## Why\n\nMocked tests passed while a migration failed in production.\n\n## How to apply\n\nStart one with `make db` before `make test`.\n"},
		{ownerTopic, "user", "Who the user is and how to explain things to them",
			"Ana has written Go for ten years and is new to React: explain the frontend by comparison with backend ideas.\n"},
		{freezeTopic, "project", "When and why OrderService must not be deployed",
			"Nothing that touches `OrderService` is merged between 2026-12-18 and 2027-01-05.\n\n**Why:** the payment provider moves to a new data centre.\n"},
		{deployTopic, "reference", "生产环境的部署步骤在哪里",
			"部署手册在内部维基的「运维」栏目。回滚步骤也在那里。\n"},
	}
}

func (l lesson) args() args {
	return args{{"name", l.name}, {"type", l.kind}, {"description", l.description}, {"body", l.body}}
}

func playForgets(s *stage) {
	s.say("An agent without memory starts from nothing. Its client starts a server; the agent asks what is remembered.")
	p := s.attach("conversation 1", s.scratch.project)
	var c contextResult
	s.call(p, "memory_context", args{}, &c)
	s.back("%d topics. %s", c.Topics, lineWith(c.Text, "nothing is remembered"))
	s.check(c.Topics == 0 && strings.Contains(c.Text, "nothing is remembered yet"), "the context has guidance but no memory", c)
	var f searchResult
	s.call(p, "memory_search", args{{"query", "how do tests reach the database"}}, &f)
	s.back("%d hits. %s", f.Total, f.Reason)
	s.check(f.Total == 0 && f.Reason != "", "search finds nothing, and says why", f)

	s.say("The user corrects the agent, and tells who they are; each lesson is written as one file with one index line.")
	for _, l := range lessons() {
		var w writeResult
		s.call(p, "memory_write", l.args(), &w)
		s.back("created %s, change %s\n%s", w.Path, w.Change, w.Entry)
		s.check(w.Created && w.Hash != "" && w.Change != "" && strings.Contains(w.Entry, w.Path),
			"acknowledged with path, hash, entry and a change that can be undone", w)
	}
	s.leave(p)
	s.say("The conversation is over; its server has ended.")
}

func lineWith(text, part string) string {
	for l := range strings.Lines(text) {
		if strings.Contains(l, part) {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

func playRemembers(s *stage) {
	p := s.attach("conversation 2", s.scratch.project)
	s.conversation = p
	var c contextResult
	s.call(p, "memory_context", args{}, &c)
	s.show(entriesOf(c.Text)...)
	missing := []string{}
	for _, l := range lessons() {
		if !strings.Contains(c.Text, "("+l.name+".md)") {
			missing = append(missing, l.name)
		}
	}
	s.check(c.Topics == len(lessons()) && len(missing) == 0, "the context of the new conversation has every memory in its index", missing)

	for _, q := range []struct{ query, want, why string }{
		{"databse", testsTopic, "a word with a slip"},
		{"mocking", testsTopic, "another form of a word (the file says mocks)"},
		{"order service", freezeTopic, "an identifier by its parts (OrderService)"},
		{"回滚", deployTopic, "Chinese, which has no spaces"},
	} {
		var f searchResult
		s.call(p, "memory_search", args{{"query", q.query}}, &f)
		first := ""
		if len(f.Hits) > 0 {
			first = f.Hits[0].Path
			s.back("%s, matched in %s%s", first, f.Hits[0].Matched[0].Field, corrected(f.Corrected))
		}
		s.check(first == q.want+".md", "found first, by "+q.why, f)
	}

	var r readResult
	s.call(p, "memory_read", args{{"topic", testsTopic}}, &r)
	s.show(strings.Split(strings.TrimSpace(r.Text), "\n")...)
	s.check(strings.Contains(r.Text, lessons()[0].body), "the topic reads as it was written", r.Text)
}

func corrected(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.Join(words, "; "))
}

// entriesOf gives the entries in a text.
func entriesOf(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "- [") {
			out = append(out, strings.TrimSpace(l))
		}
	}
	return out
}
