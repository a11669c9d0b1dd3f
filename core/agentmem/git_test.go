package agentmem

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mem/core/memdir"
	"mem/internal/need"
)

// asDriver merges as git's merge driver where git called this binary.
func asDriver() bool {
	if os.Getenv("AGENTMEM_DRIVER") == "" || len(os.Args) < 6 || os.Args[1] != "merge-driver" {
		return false
	}
	r, err := MergeDriver(os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(129)
	case len(r.Conflicts) > 0:
		os.Exit(1)
	}
	return true
}

// team gives two members with clones of one repository, set up by Setup. The options go to
// git init and git clone.
func team(t *testing.T, options ...string) (ann, ben *member) {
	t.Helper()
	need.Program(t, "git")
	var cloning []string // the names of objects are the origin's
	for _, o := range options {
		if !strings.HasPrefix(o, "--object-format") {
			cloning = append(cloning, o)
		}
	}
	base := t.TempDir()
	origin := filepath.Join(base, "origin.git")
	ann, ben = newMember(t, "ann", filepath.Join(base, "ann")), newMember(t, "ben", filepath.Join(base, "ben"))
	ann.git(append([]string{"init", "-q", "--bare", "-b", "main", origin}, options...)...)
	ann.git(append([]string{"init", "-q", "-b", "main", "."}, options...)...)
	ann.git("remote", "add", "origin", origin)
	write(t, ann.dir, "README.md", "A project.\n")
	setup := func(m *member) *SetupReport {
		t.Helper()
		s := m.open()
		r, err := Setup(context.Background(), s.m.Location.Project, SetupOptions{Write: true, Program: driverOf(t)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	setup(ann)
	ann.git("add", "-A")
	ann.git("commit", "-q", "-m", "start")
	ann.git("push", "-q", "-u", "origin", "main")
	ben.git(append([]string{"clone", "-q", origin, "."}, cloning...)...)
	setup(ben)
	for _, c := range setup(ben).Checks {
		if c.State != "ok" {
			t.Errorf("after setup: %+v", c)
		}
	}
	if out := ben.git("config", "merge.mem.driver"); !strings.Contains(out, "merge-driver %O %A %B %P") {
		t.Errorf("git reads %q", out)
	}
	return ann, ben
}

// driverOf gives this binary as git calls it.
func driverOf(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "'" + filepath.ToSlash(self) + "'"
}

// life is what happened to the lines of a team's memory.
type life struct {
	t     *testing.T
	r     *rand.Rand
	n     int
	alive map[string]bool
	asked map[string]bool
}

func (l *life) line() string {
	l.n++
	s := fmt.Sprintf("fact-%d holds here.", l.n)
	l.alive[s] = true
	return s
}

var factLine = regexp.MustCompile(`fact-\d+ holds here\.`)

// edit does something to a member's memory.
func (l *life) edit(m *member) {
	var topics []string
	for p := range filesOf(l.t, m.store()) {
		if p != "MEMORY.md" {
			topics = append(topics, p)
		}
	}
	if len(topics) < 3 || l.r.IntN(4) == 0 {
		l.n++
		name := fmt.Sprintf("%s-%d", m.name, l.n)
		m.topic(name, "## One\n\n"+l.line()+"\n\n## Two\n\n"+l.line()+"\n")
		return
	}
	slices.Sort(topics)
	p := topics[l.r.IntN(len(topics))]
	old := m.get(p)
	switch k := l.r.IntN(10); {
	case k < 5: // a line more in a section, at its start
		section := []string{"## One\n\n", "## Two\n\n"}[l.r.IntN(2)]
		m.put(p, strings.Replace(old, section, section+l.line()+"\n", 1))
	case k < 7: // a line instead of another
		if f := factLine.FindString(old); f != "" {
			delete(l.alive, f)
			m.put(p, strings.Replace(old, f, l.line(), 1))
		}
	case k < 9: // another name
		l.n++
		to := fmt.Sprintf("%s-renamed-%d.md", m.name, l.n)
		m.put(to, old)
		remove(l.t, m.store(), p)
		m.put("MEMORY.md", strings.ReplaceAll(m.get("MEMORY.md"), "("+p+")", "("+to+")"))
	default:
		for _, f := range factLine.FindAllString(old, -1) {
			delete(l.alive, f)
		}
		remove(l.t, m.store(), p)
		var kept []string
		for _, line := range strings.SplitAfter(m.get("MEMORY.md"), "\n") {
			if !strings.Contains(line, "("+p+")") {
				kept = append(kept, line)
			}
		}
		m.put("MEMORY.md", strings.Join(kept, ""))
	}
}

// take pulls, and decides what is asked: both texts stay, and what one side changed is not
// deleted by the other.
func (l *life) take(m *member, pull func(PullOptions) *Status) {
	l.t.Helper()
	left := pull(PullOptions{Apply: true})
	for range 3 {
		if left.Team.Sum() == 0 && left.Conflicting == 0 {
			return
		}
		var w []Wish
		for _, f := range left.Files {
			for _, part := range f.Parts {
				key := m.name + "\x00" + f.Path + "\x00" + part + "\x00" + m.get(f.Path) + "\x00" + show(filesOf(l.t, m.snapshot()))
				if l.asked[key] {
					l.t.Fatalf("%s is asked again about %s of %s", m.name, part, f.Path)
				}
				l.asked[key] = true
			}
			switch {
			case f.Team == "":
			case f.Team == "removed" && f.Mine == "":
				w = append(w, Wish{Path: f.Path, Choice: TakeTheirs})
			case f.Mine == "removed":
				w = append(w, Wish{Path: f.Path, Choice: TakeTheirs})
			default:
				w = append(w, Wish{Path: f.Path, Choice: TakeBoth})
			}
		}
		left = pull(PullOptions{Apply: true, Wishes: w})
	}
	l.t.Fatalf("%s decided everything, and this is left: %+v\n-- here --\n%s\n-- team --\n%s", m.name, left, show(filesOf(l.t, m.store())), show(filesOf(l.t, m.snapshot())))
}

// fetch brings the other's commits; what git cannot merge keeps both texts.
func (l *life) fetch(m *member) {
	l.t.Helper()
	if out, err := m.tryGit("pull", "-q", "--no-rebase", "--no-edit"); err != nil {
		l.resolve(m, out)
	}
}

// resolve keeps both texts of what git could not merge.
func (l *life) resolve(m *member, out string) {
	l.t.Helper()
	if !strings.Contains(out, "CONFLICT") {
		l.t.Fatalf("%s: git merges: %s", m.name, out)
	}
	entries := map[string]string{}
	for _, line := range strings.Split(m.git("status", "--porcelain"), "\n") {
		if len(line) < 4 || !strings.ContainsAny(line[:2], "UAD") || line[:2] == "A " || line[:2] == "D " {
			continue
		}
		code, p := line[:2], line[3:]
		name := filepath.Join(m.dir, filepath.FromSlash(p))
		b, err := os.ReadFile(name)
		switch {
		case code == "DD" || os.IsNotExist(err):
			m.git("rm", "-q", "--cached", "--ignore-unmatch", p)
			continue
		case err != nil:
			l.t.Fatal(err)
		}
		if strings.HasSuffix(p, ManifestName) && strings.Contains(string(b), "<<<<<<<") {
			l.t.Fatalf("the driver left a conflict in %s:\n%s", p, b)
		}
		var kept []string
		for _, s := range strings.SplitAfter(string(b), "\n") {
			if !strings.HasPrefix(s, "<<<<<<< ") && !strings.HasPrefix(s, ">>>>>>> ") && strings.TrimRight(s, "\n") != "=======" {
				kept = append(kept, s)
			}
		}
		write(l.t, m.dir, p, strings.Join(kept, ""))
		m.git("add", p)
		if topic := path.Base(p); code == "UD" || code == "DU" { // who keeps a topic keeps its entry
			index := path.Join(path.Dir(p), "MEMORY.md")
			if s := m.read(index); !strings.Contains(s, "("+topic+")") {
				entries[index] += entryOf(strings.TrimSuffix(topic, ".md"))
			}
		}
	}
	for p, more := range entries {
		write(l.t, m.dir, p, m.read(p)+more)
		m.git("add", p)
	}
	m.git("commit", "-q", "--no-edit")
}

// read gives a file of the checkout.
func (m *member) read(p string) string {
	m.t.Helper()
	b, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(p)))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

// share publishes and commits.
func (l *life) share(m *member) {
	l.t.Helper()
	m.publish()
	m.git("add", "-A")
	if m.git("status", "--porcelain") != "" {
		m.git("commit", "-q", "-m", m.name+" shares")
	}
}

func pulling(m *member) func(PullOptions) *Status {
	return func(o PullOptions) *Status { return m.pull(o).Left }
}

// TestTwoClones lives through rounds of edits, conflicts, renames and deletions in two
// clones of one repository: nothing that nobody deleted is lost, nothing is asked twice,
// and both end equal.
func TestTwoClones(t *testing.T) {
	seeds, rounds := 1, 10
	if s := os.Getenv("MEM_SNAPSHOT_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			ann, ben := team(t)
			l := &life{t: t, r: rand.New(rand.NewPCG(uint64(seed), 7)), alive: map[string]bool{}, asked: map[string]bool{}}
			for i := range 4 {
				ann.topic(fmt.Sprintf("topic-%d", i), "## One\n\n"+l.line()+"\n\n## Two\n\n"+l.line()+"\n")
			}
			l.share(ann)
			ann.git("push", "-q")
			for round := range rounds {
				for _, m := range []*member{ann, ben} {
					for range 1 + l.r.IntN(3) {
						if round > 0 || m == ann {
							l.edit(m)
						}
					}
				}
				turn := []*member{ann, ben}
				if l.r.IntN(2) == 0 {
					turn = []*member{ben, ann}
				}
				if round > 0 && l.r.IntN(3) == 0 { // both publish before either has the other's
					l.share(turn[0])
					l.share(turn[1])
				}
				for _, m := range turn {
					l.fetch(m)
					l.take(m, pulling(m))
					l.share(m)
					m.git("push", "-q")
				}
			}
			for range 3 {
				for _, m := range []*member{ann, ben} {
					l.fetch(m)
					l.take(m, pulling(m))
					l.share(m)
					m.git("push", "-q")
				}
			}
			ann.wantState(StateInSync)
			ben.wantState(StateInSync)
			a, b := show(filesOf(t, ann.store())), show(filesOf(t, ben.store()))
			if a != b {
				t.Errorf("both do not end equal:\n== ann\n%s== ben\n%s", a, b)
			}
			for f := range l.alive {
				if !strings.Contains(a, f) {
					t.Errorf("%s was lost", f)
				}
			}
			for p := range filesOf(t, ann.store()) {
				if p != "MEMORY.md" && !strings.Contains(a, "]("+p+")") {
					t.Errorf("%s has no entry", memdir.ShownName(p))
				}
			}
		})
	}
}
