package agentmem

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

var (
	// homePath is a path below somebody's home directory, which names them.
	homePath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[^\w./\\-])((?:/home/|/users/|[a-z]:[\\/]users[\\/])([^\s/\\:"'<>|*?` + "`" + `)\]]+))`)
	})
	// email is an address as people write it. Those of examples, of services that nobody reads
	// and of git's remotes are no person's.
	email = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
	})
	noPerson = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:git|hg|noreply|no-reply|donotreply)@|@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|example|invalid|test|localhost)$|@users\.noreply\.`)
	})
	noHomeUser = []string{"user", "users", "username", "you", "your-name", "yourname", "name", "me", "runner", "vscode", "node", "shared", "public", "example", "alice", "bob"}
)

// check looks at what a file would add to the snapshot; it reports whether the file has to
// be held back, and notes why.
func (p *publishing) check(o *published) bool {
	before := ""
	if s, ok, err := p.side(p.theirs, o.it.theirs); err == nil && ok {
		before = s
	}
	stop := false
	here := p.linesHere(o)
	add := func(h Held) {
		h.Path, h.Line = o.path, here(h.Line)
		h.Item = o.path + ":" + h.Kind
		if !h.Never && (p.allowed[h.Item] || p.allowed[o.path]) {
			p.let = append(p.let, h)
			return
		}
		stop = true
		if len(p.held) < 10*maxFiles && !slices.ContainsFunc(p.held, func(x Held) bool { return x.Item == h.Item && x.Line == h.Line }) {
			p.held = append(p.held, h)
		}
	}
	if o.path != o.it.theirs { // the name goes to the team as well
		for range p.m.Guard().Added(nil, text.Bytes(o.path)) {
			add(Held{Kind: "secret", Reason: "its name holds what looks like a secret; rename it", Never: true})
			break
		}
		if who := personalMail(strings.TrimSuffix(o.path, ".md")); who != "" {
			add(Held{Kind: "email", Reason: "its name holds an e-mail address (" + memdir.Shown(who, 80) + ")"})
		}
	}
	if len(o.text) > MaxFile {
		add(Held{Kind: "size", Never: true, Reason: fmt.Sprintf("it would have %d bytes, merged with what the team has; a snapshot takes %d", len(o.text), MaxFile)})
	}
	for _, f := range p.m.Guard().Added(text.Bytes(before), text.Bytes(o.text)) {
		kind := "hidden"
		if f.Kind == guard.KindSecret || f.Kind == guard.KindIncomplete {
			kind = "secret"
		}
		add(Held{Kind: kind, Line: f.Line, Reason: f.Reason, Never: kind == "secret"})
	}
	old := map[string]bool{}
	for _, line := range strings.Split(before, "\n") {
		old[line] = true
	}
	home := p.m.Env().Home
	for i, line := range strings.Split(o.text, "\n") {
		if old[line] {
			continue
		}
		if why := personalPath(line, home); why != "" {
			add(Held{Kind: "home-path", Line: i + 1, Reason: why})
		}
		if who := personalMail(line); who != "" {
			add(Held{Kind: "email", Line: i + 1, Reason: "it holds an e-mail address (" + memdir.Shown(who, 80) + ")"})
		}
	}
	if o.path != memfile.IndexName && p.theirs.files[o.it.theirs] != nil && !strings.Contains(memfile.Parse(before).Meta().Type, "user") && memfile.Parse(o.text).Meta().Type == "user" {
		add(Held{Kind: "user-topic", Reason: "it became a memory about a person (type user)"})
	}
	return stop
}

// linesHere gives from the lines of what would be published those of the memory's own file,
// where they are not the same: merged with what the team has, or an index without entries
// that stay here. Line 0 is none.
func (p *publishing) linesHere(o *published) func(int) int {
	mine, ok, err := p.side(p.mine, o.it.mine)
	if err != nil || !ok || mine == o.text {
		return func(n int) int { return n }
	}
	return func(n int) int {
		if n == 0 {
			return 0
		}
		line := strings.Split(o.text, "\n")[n-1]
		if i := slices.Index(strings.Split(mine, "\n"), line); i >= 0 {
			return i + 1
		}
		return n
	}
}

// Personal gives what in a text of a snapshot is about somebody and went to the team all
// the same: paths in home directories, e-mail addresses, a topic about a person. home is
// this user's home directory, "" where it does not matter.
func Personal(p, s, home string) []Held {
	var out []Held
	add := func(kind string, line int, reason string) {
		if len(out) < maxContent {
			out = append(out, Held{Item: p + ":" + kind, Path: p, Line: line, Kind: kind, Reason: reason})
		}
	}
	if p != memfile.IndexName && memfile.Parse(s).Meta().Type == "user" {
		add("user-topic", 1, "it is a memory about a person (type user)")
	}
	for i, line := range strings.Split(s, "\n") {
		if why := personalPath(line, home); why != "" {
			add("home-path", i+1, why)
		}
		if who := personalMail(line); who != "" {
			add("email", i+1, "it holds an e-mail address ("+memdir.Shown(who, 80)+")")
		}
	}
	return out
}

func personalPath(line, home string) string {
	if len(home) > 3 && home != "/root" && strings.Contains(line, home) {
		return "it holds the path of your home directory"
	}
	if !strings.ContainsAny(line, `/\`) {
		return "" // as most lines: an editor has all of a memory looked at after each key
	}
	for _, m := range homePath().FindAllStringSubmatch(line, 10) {
		user := strings.ToLower(strings.TrimRight(m[2], ".,;"))
		if user == "" || strings.ContainsAny(user, "$%<{") || slices.Contains(noHomeUser, user) {
			continue
		}
		return fmt.Sprintf("it holds a path in somebody's home directory (%s)", memdir.Shown(m[1], 80))
	}
	return ""
}

func personalMail(line string) string {
	if strings.IndexByte(line, '@') < 0 {
		return ""
	}
	for _, m := range email().FindAllString(line, 10) {
		if !noPerson().MatchString(m) {
			return m
		}
	}
	return ""
}
