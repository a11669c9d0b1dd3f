package dream_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"
	"time"
)

// now is when the generated memories are looked at.
var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Words that the topics are made of.
var (
	things = strings.Fields(`ledger invoice parser scheduler mailer gateway importer exporter cache router broker session
		thumbnail webhook archive sitemap catalogue checkout basket coupon refund courier warehouse barcode label printer
		telemetry heartbeat migration fixture snapshot changelog release installer updater plugin sandbox tokenizer
		translator glossary subtitle playlist encoder bitrate waveform calendar reminder invitation roster payroll timesheet
		permit audit tenant region replica shard backup restore failover quota throttle`)
	verbs = strings.Fields(`retries validates buffers signs rotates merges splits compresses batches streams mirrors expires
		deduplicates reconciles rejects records publishes polls locks drains`)
	adverbs = strings.Fields(`nightly lazily eagerly twice quietly locally upstream remotely partially strictly hourly
		asynchronously sequentially idempotently optimistically`)
	places = strings.Fields(`Lisbon Oslo Kraków Tartu Turin Ghent Bergen Porto Utrecht Graz Malmö Brno Leipzig Cork Dundee
		Seville Tampere Vilnius Zagreb Lyon`)
	people = strings.Fields(`Amara Bruno Chiara Dmitri Elif Farid Greta Hiro Ines Jonas Katya Leon Mina Nadir Olga Pablo
		Quinn Rosa Sven Tomas Uma Viktor Wanda Yusuf Zoe`)
	tools = strings.Fields(`make docker psql curl helm terraform ansible pytest eslint clippy gdb perf strace rsync jq`)
)

type generator struct {
	*rand.Rand
	used map[string]bool
}

func (g *generator) of(list []string) string { return list[g.IntN(len(list))] }

// sentence makes one of many shapes, so that few runs of words repeat.
func (g *generator) sentence() string {
	t, u, v, w := g.of(things), g.of(things), g.of(verbs), g.of(adverbs)
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("The %s %s the %s %s once %d rows wait.", t, v, u, w, g.IntN(9000))
	case 1:
		return fmt.Sprintf("%s found that %s %s %s when %s restarts.", g.of(people), t, v, w, u)
	case 2:
		return fmt.Sprintf("Port %d belongs to %s, port %d to %s.", 1024+g.IntN(40000), t, 1024+g.IntN(40000), u)
	case 3:
		return fmt.Sprintf("Since the %s incident, %s %s %s.", g.of(places), t, v, w)
	case 4:
		return fmt.Sprintf("Run `%s %s-%s` before touching %s.", g.of(tools), t, w, u)
	case 5:
		return fmt.Sprintf("%s keeps %d days of %s in %s.", g.of(places), g.IntN(400), t, u)
	case 6:
		return fmt.Sprintf("A slow %s makes %s give up after %d seconds; ask %s.", t, u, g.IntN(300), g.of(people))
	case 7:
		return fmt.Sprintf("%s prefers %s over %s for %s work.", g.of(people), t, u, w)
	case 8:
		return fmt.Sprintf("Never let %s %s write %s directly: %s breaks.", w, t, u, g.of(things))
	case 9:
		return fmt.Sprintf("Ticket %d tracks why %s %s too %s.", g.IntN(9000), u, v, w)
	case 10:
		return fmt.Sprintf("%s and %s share a %s, owned by %s.", t, u, g.of(things), g.of(people))
	}
	return fmt.Sprintf("In %s the %s %s %d times a day.", g.of(places), t, v, g.IntN(90))
}

func (g *generator) sentences(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = g.sentence()
	}
	return strings.Join(out, " ")
}

// made is one topic of a generated memory.
type made struct {
	path, name, description, kind, body string
	modified                            time.Time
	pinned                              bool
}

func (m made) text() string {
	pinned := ""
	if m.pinned {
		pinned = "  pinned: true\n"
	}
	return fmt.Sprintf("---\nname: %s\ndescription: %s\nmetadata:\n  type: %s\n%s  originSessionId: 0b0e6a2c-5f1d-4d0e-9b55-3f2f6d1c7a10\n  modified: %s\n---\n\n%s\n",
		m.name, m.description, m.kind, pinned, m.modified.Format("2006-01-02T15:04:05.000Z"), m.body)
}

func (g *generator) topic(i int) made {
	var name string
	for name == "" || g.used[name] {
		name = g.of(things) + "-" + g.of(things)
		if g.used[name] {
			name += fmt.Sprintf("-%d", i)
		}
	}
	g.used[name] = true
	kind := []string{"project", "feedback", "reference", "user", "project"}[i%5]
	m := made{path: name + ".md", name: name, kind: kind, modified: now.Add(-time.Duration(g.IntN(200*24)) * time.Hour)}
	m.description = strings.TrimSuffix(strings.ReplaceAll(g.sentence(), ": ", ", "), ".")
	m.description = strings.ReplaceAll(m.description, "`", "")
	switch kind {
	case "feedback":
		m.body = g.sentences(2) + "\n\n**Why:** " + g.sentences(2) + "\n\n**How to apply:** " + g.sentences(2)
	case "reference":
		m.body = "## Where\n\n- " + g.sentence() + "\n- " + g.sentence() + "\n- " + g.sentence() + "\n\n## Notes\n\n" + g.sentences(3)
	case "user":
		m.body = g.sentences(4)
	default:
		m.body = g.sentences(3) + "\n\n## State\n\n" + g.sentences(3) + "\n\n## Next\n\n- " + g.sentence() + "\n- " + g.sentence()
	}
	return m
}

// planted says what was put into a memory for a dream to find.
type planted struct {
	copies, near, contradictions map[string]string // which → of what
	dead, orphans, pinned, dated []string
}

// memory is a generated one.
type generated struct {
	files   map[string]string
	times   map[string]time.Time
	planted planted
}

// generate makes a memory of n topics whose index has so many lines, with everything
// planted that a dream should find: 1 in 20 topics is a copy, 1 in 20 nearly one, 1 in 30
// contradicts another in a number.
func generate(seed uint64, n, indexLines int) *generated {
	g := &generator{rand.New(rand.NewPCG(seed, 1)), map[string]bool{}}
	m := &generated{files: map[string]string{}, times: map[string]time.Time{},
		planted: planted{copies: map[string]string{}, near: map[string]string{}, contradictions: map[string]string{}}}
	copies, similar, contrary := n/20, n/20, n/30
	var all []made
	for i := range n - copies - similar - contrary {
		all = append(all, g.topic(i))
	}
	originals := len(all)
	for i := range copies {
		c := all[i*3]
		of := c.path
		c.name += "-copy"
		c.path = c.name + ".md"
		c.modified = c.modified.Add(36 * time.Hour)
		all = append(all, c)
		m.planted.copies[c.path] = of
	}
	for i := range similar {
		c := all[i*3+1]
		of := c.path
		c.name += "-again"
		c.path = c.name + ".md"
		first, rest, _ := strings.Cut(c.body, ". ")
		c.body = first + ". " + strings.Replace(rest, " the ", " that ", 1) + "\n\n" + g.sentence()
		all = append(all, c)
		m.planted.near[c.path] = of
	}
	for i := range contrary {
		k := i*3 + 2
		all[k].body += "\n\nThe limit of this is 30 requests in a minute."
		c := all[k]
		of := c.path
		c.name += "-now"
		c.path = c.name + ".md"
		c.body = strings.Replace(c.body, "is 30 requests", "is 45 requests", 1)
		c.modified = c.modified.Add(-72 * time.Hour)
		all = append(all, c)
		m.planted.contradictions[c.path] = of
	}
	for i := range max(n/60, 1) { // stale words about time
		k := originals - 1 - i
		all[k].body += "\n\nYesterday the " + g.of(things) + " was moved; next week " + g.of(people) + " looks at it."
		m.planted.dated = append(m.planted.dated, all[k].path)
	}
	for i := range max(n/60, 1) {
		k := originals - 10 - i
		all[k].pinned = true
		m.planted.pinned = append(m.planted.pinned, all[k].path)
	}
	for i := range originals { // links between topics, some to copies
		if i%4 == 0 {
			to := all[g.IntN(len(all))]
			if to.path != all[i].path && !all[i].pinned {
				all[i].body += "\n\nSee [" + to.name + "](" + to.path + ")."
			}
		}
	}
	// A copy is one of the text as it is at the end.
	for p, of := range m.planted.copies {
		at := func(path string) *made {
			return &all[slices.IndexFunc(all, func(x made) bool { return x.path == path })]
		}
		at(p).body = at(of).body
	}
	for i, t := range all {
		m.files[t.path] = t.text()
		m.times[t.path] = t.modified
		if i >= 40 && i < 40+n/15 {
			m.planted.orphans = append(m.planted.orphans, t.path)
		}
	}
	m.index(g, all, indexLines)
	return m
}

func (m *generated) index(g *generator, all []made, lines int) {
	var out []string
	out = append(out, "# Memory", "")
	for _, kind := range []string{"user", "feedback", "project", "reference"} {
		out = append(out, "## "+strings.ToUpper(kind[:1])+kind[1:], "")
		for _, t := range all {
			if t.kind != kind || slices.Contains(m.planted.orphans, t.path) {
				continue
			}
			out = append(out, fmt.Sprintf("- [%s](%s) — %s", t.name, t.path, t.description))
			if g.IntN(6) == 0 && !t.pinned { // an entry that grew
				out[len(out)-1] += ". " + g.sentences(3)
			}
		}
		if kind == "project" {
			for i := range 6 {
				p := fmt.Sprintf("gone-%s-%d.md", g.of(things), i)
				m.planted.dead = append(m.planted.dead, p)
				out = append(out, fmt.Sprintf("- [gone %d](%s) — %s", i, p, g.sentence()))
			}
		}
		out = append(out, "")
	}
	for i := 0; len(out) < lines; i = (i + 1) % len(out) { // details below entries, all over
		if strings.HasPrefix(out[i], "- [") && g.IntN(3) == 0 && !strings.Contains(out[i], "](gone-") && !m.isPinned(out[i]) {
			out = slices.Insert(out, i+1, "  - "+g.sentence())
			i++
		}
	}
	m.files["MEMORY.md"] = strings.Join(out, "\n") + "\n"
	m.times["MEMORY.md"] = now
}

func (m *generated) isPinned(line string) bool {
	return slices.ContainsFunc(m.planted.pinned, func(p string) bool { return strings.Contains(line, "]("+p+")") })
}

func (m *generated) fs() fstest.MapFS {
	out := fstest.MapFS{}
	for p, s := range m.files {
		out[p] = &fstest.MapFile{Data: []byte(s), ModTime: m.times[p]}
	}
	return out
}
