package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// Thirty-two servers, each with a client that writes 25 memories into the one
// directory: 800 topics and 800 entries afterwards, everything acknowledged.
func TestManyProcesses(t *testing.T) {
	const processes, each = 32, 25
	p := newPlace(t)
	var all sync.WaitGroup
	failures := make(chan error, processes)
	servers := make([]*mcpServer, processes)
	begin := time.Now()
	for n := range servers {
		servers[n] = p.start(t)
		servers[n].modern = n%2 == 1
	}
	for n, s := range servers {
		all.Go(func() { failures <- writeMany(s, n, each) })
	}
	all.Wait()
	for range processes {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	for _, s := range servers {
		s.stop(t)
	}
	t.Logf("%d acknowledged writes by %d processes in %s", processes*each, processes, time.Since(begin).Round(time.Millisecond))

	directory := p.memory(t)
	topics, entries := topics(t, directory), entries(t, directory)
	if len(topics) != processes*each || len(entries) != processes*each {
		t.Errorf("%d topics and %d entries, want %d of each", len(topics), len(entries), processes*each)
	}
	for n := range processes {
		for i := range each {
			name := fmt.Sprintf("writer-%d-%d", n, i)
			if !strings.Contains(topics[name+".md"], "body of "+name+"\n") || entries[name+".md"] != "About "+name {
				t.Errorf("%s: topic %q, entry %q", name, topics[name+".md"], entries[name+".md"])
			}
		}
	}
	p.noTempFiles(t)

	var list struct{ Total int }
	s := p.start(t)
	s.modern = true
	if err := s.call("memory_list", args{"limit": 1}, &list); err != nil || list.Total != processes*each {
		t.Errorf("memory_list counts %d: %v", list.Total, err)
	}
	s.stop(t)
}

func writeMany(s *mcpServer, n, each int) error {
	if !s.modern {
		if err := s.shake(); err != nil {
			return err
		}
	}
	for i := range each {
		name := fmt.Sprintf("writer-%d-%d", n, i)
		var w written
		if err := s.call("memory_write", memory(name, "body of "+name), &w); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !w.Created || w.Path != name+".md" || w.Change == "" {
			return fmt.Errorf("%s: %+v", name, w)
		}
	}
	return nil
}

// Servers are killed while they write. What was acknowledged is whole, what was
// not is whole or not there at all.
func TestKill(t *testing.T) {
	const kills, writers = 40, 4
	p := newPlace(t)
	directory := p.memory(t)
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			for round := range kills / writers {
				s := p.start(t)
				s.modern = true
				for _, name := range writeUntilDeath(s, fmt.Sprintf("w%d-%d", n, round)) {
					mu.Lock()
					acknowledged[name] = true
					mu.Unlock()
				}
				s.wait(t)
			}
		})
	}
	all.Wait()
	if len(acknowledged) < kills {
		t.Errorf("only %d writes were acknowledged; the kills come too early to show anything", len(acknowledged))
	}

	// The next server repairs what the dead ones left, with its first write.
	s := p.start(t)
	s.modern = true
	if err := s.call("memory_write", memory("after", "body of after"), new(written)); err != nil {
		t.Fatal(err)
	}
	topics, entries := topics(t, directory), entries(t, directory)
	for name := range acknowledged {
		if topics[name+".md"] == "" || entries[name+".md"] == "" {
			t.Errorf("%s was acknowledged: topic %q, entry %q", name, topics[name+".md"], entries[name+".md"])
		}
	}
	for path, text := range topics {
		name := strings.TrimSuffix(path, ".md")
		if !strings.HasPrefix(text, "---\n") || !strings.HasSuffix(text, "body of "+name+"\n") {
			t.Errorf("%s is torn: %q", path, text)
		}
		if entries[path] != "About "+name {
			t.Errorf("%s has the entry %q", path, entries[path])
		}
	}
	if len(entries) != len(topics) {
		t.Errorf("%d entries for %d topics", len(entries), len(topics))
	}
	var l struct {
		Total    int
		Vanished []any
	}
	if err := s.call("memory_list", args{}, &l); err != nil || l.Total != len(topics) || len(l.Vanished) > 0 {
		t.Errorf("memory_list: %+v, %v; want %d topics and nothing vanished", l, err, len(topics))
	}
	s.stop(t)
	p.noTempFiles(t)
	t.Logf("%d acknowledged and %d topics after %d kills", len(acknowledged), len(topics), kills)
}

func writeUntilDeath(s *mcpServer, prefix string) (acknowledged []string) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		if err := s.call("memory_write", memory(name, "body of "+name), new(written)); err != nil {
			return acknowledged
		}
		acknowledged = append(acknowledged, name)
		if i == 0 {
			time.AfterFunc(rand.N(80*time.Millisecond), func() { s.cmd.Process.Kill() })
		}
	}
}
