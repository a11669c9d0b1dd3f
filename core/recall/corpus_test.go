package recall_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"mem/core/recall"
)

// A corpus writes topics as an agent leaves them: two kilobytes of prose with
// lists, code names, paths and versions. Words come from a vocabulary in which
// frequency falls with rank, as in any language. It is the same on every run.
type corpus struct {
	rng   *rand.Rand
	vocab []string
}

func newCorpus(seed uint64) *corpus {
	c := &corpus{rng: rand.New(rand.NewPCG(seed, 1))}
	c.vocab = strings.Fields(commonWords)
	seen := map[string]bool{}
	for _, w := range c.vocab {
		seen[w] = true
	}
	onsets := strings.Fields("b c d f g h j k l m n p r s t v w br cr dr fl gr pl pr sc sh sl sp st str th tr")
	vowels := strings.Fields("a e i o u ai ea ee io oa ou")
	codas := strings.Fields("l m n r s t ck nd ng nt rd rm rt st x - - -")
	endings := strings.Fields("- - - s ed ing er ment able tion ly")
	for len(c.vocab) < 20_000 {
		var w strings.Builder
		for range 1 + c.rng.IntN(3) {
			w.WriteString(pick(c, onsets) + pick(c, vowels) + strings.Trim(pick(c, codas), "-"))
		}
		w.WriteString(strings.Trim(pick(c, endings), "-"))
		if s := w.String(); !seen[s] && len(s) > 2 {
			seen[s] = true
			c.vocab = append(c.vocab, s)
		}
	}
	return c
}

func pick(c *corpus, from []string) string { return from[c.rng.IntN(len(from))] }

// word draws by rank: half of all words come from the first 150.
func (c *corpus) word() string {
	rank := math.Exp(c.rng.Float64()*math.Log(float64(len(c.vocab)))) - 1
	return c.vocab[int(rank)]
}

func (c *corpus) words(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = c.word()
	}
	return strings.Join(out, " ")
}

func (c *corpus) name() string {
	switch c.rng.IntN(4) {
	case 0:
		return c.word() + "_" + c.word()
	case 1:
		w := c.word()
		return c.word() + strings.ToUpper(w[:1]) + w[1:]
	case 2:
		return fmt.Sprintf("%s/%s/%s.go", c.word(), c.word(), c.word())
	}
	return fmt.Sprintf("v%d.%d.%d", c.rng.IntN(3), c.rng.IntN(30), c.rng.IntN(9))
}

func (c *corpus) doc(i int) recall.Doc {
	var body, heads strings.Builder
	for range 3 + c.rng.IntN(3) {
		h := c.words(2 + c.rng.IntN(3))
		heads.WriteString(h + "\n")
		fmt.Fprintf(&body, "## %s\n\n", h)
		for range 2 + c.rng.IntN(3) {
			fmt.Fprintf(&body, "%s, `%s` %s. ", c.words(6+c.rng.IntN(8)), c.name(), c.words(5+c.rng.IntN(6)))
		}
		body.WriteString("\n\n")
		for range c.rng.IntN(4) {
			fmt.Fprintf(&body, "- **%s**: %s\n", c.word(), c.words(5+c.rng.IntN(9)))
		}
		body.WriteByte('\n')
	}
	return recall.Doc{
		ID:          fmt.Sprintf("topic_%05d.md", i),
		Name:        c.words(2 + c.rng.IntN(3)),
		Description: c.words(8 + c.rng.IntN(10)),
		Headings:    heads.String(),
		Body:        body.String(),
		Hash:        fmt.Sprintf("%d-%d", i, c.rng.Uint64()),
	}
}

func (c *corpus) docs(n int) []recall.Doc {
	out := make([]recall.Doc, n)
	for i := range out {
		out[i] = c.doc(i)
	}
	return out
}

const commonWords = `the to of and in a is for that it on with as not when are be this by or from
use must tests deploy server build config cache release branch merge review token database schema
migration query index worker queue retry timeout deadline error panic log metric trace dashboard alert
staging production cluster node container image registry pipeline runner artifact version upgrade
rollback feature flag user session login password permission role policy client request response
header body payload endpoint route handler middleware proxy gateway certificate renewal secret key
rotation backup restore snapshot volume disk memory leak profile benchmark latency throughput lock
deadlock race thread goroutine channel context cancel parser lexer grammar format linter editor
keyboard theme layout component button form validation translation locale calendar invoice payment
refund customer order shipment warehouse report export import spreadsheet column row table constraint
foreign unique transaction commit isolation replica shard partition bucket object storage upload
download stream buffer encoder decoder compression checksum signature hash random seed fixture mock
coverage flaky skip parallel matrix nightly weekly sprint ticket milestone owner team decision reason
because prefer avoid never always remember note example`
