package agentmem

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/proposal"
)

// wanderer is a member who publishes and pulls while git takes the checkout back and forth.
// Nobody in its team ever takes a line away, so every line that was written or pulled here
// has to stay here.
type wanderer struct {
	*member
	r    *rand.Rand
	n    *int
	have map[string]bool // lines that stood in this memory
	done int             // publishes that were not refused
	log  []string
}

func (w *wanderer) note(format string, args ...any) {
	w.log = append(w.log, w.name+": "+fmt.Sprintf(format, args...))
}

// write puts a new line into a topic, an old one or a new one.
func (w *wanderer) write() {
	*w.n++
	line := fmt.Sprintf("fact-%d holds here.", *w.n)
	topics := w.topics()
	if len(topics) < 2 || w.r.IntN(5) == 0 {
		name := fmt.Sprintf("%s-%d", w.name, *w.n)
		w.topic(name, "## One\n\n"+line+"\n\n## Two\n\n")
		w.note("writes %s into the new %s", line, name)
		return
	}
	p := topics[w.r.IntN(len(topics))]
	section := []string{"## One\n\n", "## Two\n\n"}[w.r.IntN(2)]
	text := w.get(p)
	if !strings.Contains(text, section) {
		text += "\n" + section
	}
	w.put(p, strings.Replace(text, section, section+line+"\n", 1))
	w.note("writes %s into %s", line, p)
}

func (w *wanderer) topics() []string {
	var out []string
	for p := range filesOf(w.t, w.store()) {
		if p != "MEMORY.md" {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// use opens the memory for one thing.
func (w *wanderer) use(f func(s *Shared) error) {
	w.t.Helper()
	s := w.open()
	defer s.Close()
	err := f(s)
	var first *PullFirstError
	var older *OlderError
	var invalid *InvalidError
	var plan *PlanError
	switch {
	case err == nil:
	case errors.As(err, &first), errors.As(err, &older), errors.As(err, &invalid), errors.As(err, &plan):
		w.note("is refused: %v", err)
	case strings.Contains(err.Error(), "is empty"), strings.Contains(err.Error(), "again"):
		w.note("is refused: %v", err)
	default:
		w.fatal("%v", err)
	}
}

func (w *wanderer) share() {
	w.note("publishes")
	w.use(func(s *Shared) error {
		_, err := s.Publish(context.Background(), PublishOptions{Confirm: true})
		if err == nil {
			w.done++
		}
		return err
	})
}

// take pulls, and keeps both texts of what conflicts.
func (w *wanderer) take(accept bool) {
	w.note("pulls, accepting %v", accept)
	w.use(func(s *Shared) error {
		p, err := s.Pull(context.Background(), PullOptions{Apply: true, Accept: accept})
		if err != nil {
			return err
		}
		var list []Wish
		for _, f := range p.Left.Files {
			if len(f.Parts) > 0 {
				list = append(list, Wish{Path: f.Path, Choice: TakeBoth})
			}
		}
		if len(list) == 0 {
			return nil
		}
		w.note("keeps both of %v", list)
		_, err = s.Pull(context.Background(), PullOptions{Wishes: list})
		return err
	})
}

// looksFirst shows a publish or a pull, has git work in between, and goes on as shown.
func (w *wanderer) looksFirst() {
	if w.r.IntN(2) == 0 {
		w.note("looks at what it would publish")
		var plan string
		w.use(func(s *Shared) error {
			p, err := s.Publish(context.Background(), PublishOptions{})
			if err == nil {
				plan = p.Plan
			}
			return err
		})
		w.wander()
		w.note("publishes what it saw")
		w.use(func(s *Shared) error {
			_, err := s.Publish(context.Background(), PublishOptions{Confirm: true, Plan: plan})
			return err
		})
		return
	}
	w.note("looks at the news")
	var id string
	w.use(func(s *Shared) error {
		p, err := s.Pull(context.Background(), PullOptions{})
		if err == nil {
			id = p.Proposal
		}
		return err
	})
	w.wander()
	if id == "" {
		return
	}
	w.note("applies them")
	w.use(func(s *Shared) error {
		_, err := proposal.Of(s.m).Apply(context.Background(), id, proposal.Which{})
		return err
	})
}

// forget loses the state of the snapshot, as a new machine or a cleaned home has none.
func (w *wanderer) forget() {
	w.note("loses its state")
	s := w.open()
	defer s.Close()
	if err := os.RemoveAll(s.state.dir); err != nil {
		w.fatal("%v", err)
	}
}

// wander has git do something to the checkout that takes no heed of what stands there.
func (w *wanderer) wander() {
	var args []string
	commits := strings.Fields(w.git("rev-list", "--branches", "--remotes", "HEAD"))
	some := commits[w.r.IntN(len(commits))]
	switch w.r.IntN(9) {
	case 0, 1:
		args = []string{"checkout", "-q", "-f", "--detach", some}
	case 2:
		args = []string{"checkout", "-q", "-f", "main"}
	case 3:
		args = []string{"reset", "-q", "--hard"}
	case 4:
		args = []string{"clean", "-q", "-fd"}
	case 5:
		args = []string{"stash", "-q", "-u"}
	case 6:
		args = []string{"reset", "-q", "--hard", some}
	case 7:
		args = []string{"checkout", "-q", some, "--", "."}
	case 8:
		args = []string{"pull", "-q", "--rebase", "-X", "theirs", "origin", "main"}
	}
	w.note("git %s", strings.Join(args, " "))
	out, err := w.tryGit(args...)
	switch {
	case err == nil, strings.Contains(out, "No local changes"), strings.Contains(out, "cannot pull with rebase"):
	case args[0] == "pull":
		w.take(true)                         // in the middle of it
		_, _ = w.tryGit("rebase", "--abort") // there is none where it did not begin
	default:
		w.fatal("git %v: %s", args, out)
	}
}

// exchange commits what was published and brings both mains together.
func (w *wanderer) exchange(l *life) {
	w.note("commits")
	w.git("add", "-A")
	if w.git("status", "--porcelain") != "" {
		w.git("commit", "-q", "-m", w.name)
	}
	if w.r.IntN(2) == 0 {
		return
	}
	w.note("fetches and pushes")
	here := strings.TrimSpace(w.git("rev-parse", "HEAD"))
	w.git("checkout", "-q", "-f", "main")
	for _, from := range []string{here, ""} {
		if from == "" {
			w.git("fetch", "-q")
			from = "origin/main"
		}
		if out, err := w.tryGit("merge", "-q", "--no-edit", from); err != nil {
			l.resolve(w.member, out)
		}
	}
	w.git("push", "-q", "origin", "main")
}

func (w *wanderer) fatal(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s: %s\n%s\n== here\n%s\n== the snapshot\n%s", w.name, fmt.Sprintf(format, args...), strings.Join(w.log, "\n"), show(filesOf(w.t, w.store())), show(filesOf(w.t, w.snapshot())))
}

// look makes sure that no line is gone.
func (w *wanderer) look() {
	w.t.Helper()
	here := show(filesOf(w.t, w.store()))
	for line := range w.have {
		if !strings.Contains(here, line) {
			w.fatal("%s was lost", line)
		}
	}
	for _, line := range factLine.FindAllString(here, -1) {
		w.have[line] = true
	}
}

// TestCheckoutsLoseNothing: two members publish, pull and accept while git takes their
// checkouts to other commits, resets and cleans them. No line leaves a memory.
func TestCheckoutsLoseNothing(t *testing.T) {
	for seed := range often(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			ann, ben := team(t)
			r := rand.New(rand.NewPCG(uint64(seed)+19, 11)) // 19 and 22 once lost lines
			l := &life{t: t, r: r, alive: map[string]bool{}, asked: map[string]bool{}}
			var all []*wanderer
			n := 0
			for _, m := range []*member{ann, ben} {
				all = append(all, &wanderer{member: m, r: r, n: &n, have: map[string]bool{}})
			}
			for range 60 {
				w := all[r.IntN(2)]
				switch r.IntN(13) {
				case 0, 1, 2:
					w.write()
				case 3, 4:
					w.share()
				case 5, 6:
					w.take(r.IntN(2) == 0)
				case 7, 8:
					w.wander()
				case 9:
					w.exchange(l)
				case 10:
					w.looksFirst()
				case 11:
					w.forget()
				case 12:
					w.now = w.now.Add(time.Duration(r.IntN(20)-10) * time.Hour)
				}
				w.look()
			}
		})
	}
}

// TestCheckoutsWhilePublishing: a member writes, publishes and pulls, accepting what is older,
// while git puts other commits into the checkout at any instant. No line leaves the memory.
func TestCheckoutsWhilePublishing(t *testing.T) {
	t.Parallel()
	ann, _ := team(t)
	n := 0
	w := &wanderer{member: ann, r: rand.New(rand.NewPCG(1, 12)), n: &n, have: map[string]bool{}}
	commits := []string{strings.TrimSpace(ann.git("rev-parse", "HEAD"))}
	for range 4 {
		w.write()
		w.share()
		ann.git("add", "-A")
		ann.git("commit", "-q", "-m", "more")
		commits = append(commits, strings.TrimSpace(ann.git("rev-parse", "HEAD")))
	}
	done := make(chan struct{})
	var git sync.WaitGroup
	git.Go(func() {
		r := rand.New(rand.NewPCG(2, 12))
		for {
			select {
			case <-done:
				return
			default:
			}
			// It may fail where a file of the snapshot is being replaced: then it tries the next.
			_, _ = ann.tryGit("checkout", "-q", "-f", "--detach", commits[r.IntN(len(commits))])
		}
	})
	defer git.Wait()
	defer close(done)
	for range 10 * often(6) {
		w.write()
		w.look()
		w.share()
		w.take(true)
		w.look()
	}
	if w.done == 0 {
		t.Errorf("every publish was refused:\n%s", strings.Join(w.log, "\n"))
	}
}
