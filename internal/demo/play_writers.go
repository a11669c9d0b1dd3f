package demo

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
)

const (
	writers        = 4  // server processes
	writesOfWriter = 10 // memories that each of them writes
)

// playWriters lets several server processes write into one index at once.
func playWriters(s *stage) {
	var before listResult
	s.call(s.conversation, "memory_list", args{{"limit", 1}}, &before)
	var servers []*process
	for i := range writers {
		servers = append(servers, s.attach(fmt.Sprintf("writer %d", i+1), s.scratch.project))
	}
	if s.err != nil {
		return
	}
	s.say("%d servers write %d memories each, all at the same time, into the same directory.", writers, writesOfWriter)
	results := make([][]toolResult, writers)
	errs := make([]error, writers)
	var all sync.WaitGroup
	for i, p := range servers {
		all.Go(func() { results[i], errs[i] = writeMany(s, p, i+1) })
	}
	all.Wait()
	changes := map[string]bool{}
	for i, p := range servers {
		s.fail(errs[i])
		for _, r := range results[i] {
			var w writeResult
			s.decode("memory_write", &r, &w)
			s.note(&Call{To: p.label, Name: "memory_write", IsError: r.IsError, Result: r.StructuredContent})
			if r.IsError {
				s.fail(fmt.Errorf("%s: %s", p.label, texts(&r)))
			}
			changes[w.Change] = true
		}
		s.leave(p)
	}
	want := writers * writesOfWriter
	s.back("%d writes acknowledged, each with a change of its own", len(changes))
	s.check(len(changes) == want, fmt.Sprintf("all %d writes succeeded", want), len(changes))

	var after listResult
	s.call(s.conversation, "memory_list", args{{"limit", 1}}, &after)
	entries := entriesOf(strings.Join(readLines(s, filepath.Join(s.memory, "MEMORY.md")), "\n"))
	s.back("%d topics and %d entries before, %d topics and %d entries now", before.Total, before.Total, after.Total, len(entries))
	s.check(after.Total == before.Total+want, fmt.Sprintf("%d + %d topics, counted by another server", before.Total, want), after.Total)
	s.check(len(entries) == before.Total+want, "as many entries, counted in the file itself", len(entries))
}

func writeMany(s *stage, p *process, writer int) ([]toolResult, error) {
	var out []toolResult
	for i := range writesOfWriter {
		name := fmt.Sprintf("writer-%d-note-%02d", writer, i+1)
		r, err := p.tool(s.ctx, "memory_write", args{{"name", name}, {"path", "parallel/" + name + ".md"}, {"type", "project"},
			{"description", fmt.Sprintf("Note %d of writer %d", i+1, writer)}, {"body", "Written while others wrote.\n"}}.object())
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}
