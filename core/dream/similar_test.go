package dream

import (
	"strings"
	"testing"
)

// jaccardAnd gives how near two texts are by either measure.
func jaccardAnd(a, b string) (jaccard, contained float64) {
	x, y := shingles(a), shingles(b)
	in := map[uint64]bool{}
	for _, h := range x {
		in[h] = true
	}
	n := 0
	for _, h := range y {
		if in[h] {
			n++
		}
	}
	return float64(n) / float64(len(x)+len(y)-n), float64(n) / float64(min(len(x), len(y)))
}

// TestWhatIsNear is the evidence for the thresholds: pairs as people write them, of which
// somebody said whether they are one memory. The measures of each stand in its name.
func TestWhatIsNear(t *testing.T) {
	const deploy = "Deploys go out on Tuesday and Thursday mornings. Ask Ines before a deploy outside of these days, since the warehouse runs its own jobs then. Roll back with `make rollback` and tell the channel."
	const tests = "Run the integration tests with a fresh database: `make db && make integration`. They fail with strange errors when an older schema is left. The nightly build does the same."
	for _, c := range []struct {
		name, a, b string
		near       bool
	}{
		{"one word changed", deploy, strings.Replace(deploy, "Ines", "Bruno", 1), true},
		{"three words changed", deploy, strings.NewReplacer("Ines", "Bruno", "mornings", "afternoons", "channel", "team").Replace(deploy), true},
		{"a number changed", "The public API answers at most 30 requests in a minute for each key. Above that it gives status 429 with a header that says when to come back.",
			"The public API answers at most 45 requests in a minute for each key. Above that it gives status 429 with a header that says when to come back.", true},
		{"a sentence more", tests, tests + " On a laptop they take four minutes, on the build machine one.", true},
		{"the beginning of a longer one", tests, tests + " On a laptop they take four minutes, on the build machine one. The fixtures come from the staging system and are scrubbed of names; refresh them once in a quarter with the script in tools, and commit what it writes. Nobody else may use the port 5433 meanwhile.", true},
		{"other punctuation and case", deploy, strings.ToUpper(strings.ReplaceAll(deploy, ".", "!")), true},
		{"Chinese, one word changed", "部署在每周二和周四上午进行。如果要在其他日子部署，请先问伊内斯，因为仓库当时在运行自己的任务。", "部署在每周二和周四上午进行。如果要在其他日子部署，请先问布鲁诺，因为仓库当时在运行自己的任务。", true},
		{"paragraphs in another order", deploy + "\n\n" + tests, tests + "\n\n" + deploy, true},

		{"one template, two services", "The billing service listens on port 8101. Its logs lie in /var/log/billing, its dashboards are under Billing in Grafana, and Katya owns it.",
			"The search service listens on port 8177. Its logs lie in /var/log/search, its dashboards are under Search in Grafana, and Leon owns it.", false},
		{"one rule for two languages", "Prefer small functions in Go. Return early, name results only where they need words, and keep errors wrapped.",
			"Prefer small functions in Python. Raise early, type hints everywhere they help, and keep exceptions narrow.", false},
		{"one matter, other words", deploy, "We ship twice a week, before noon. Other days need a word with Ines because of batch work in the warehouse; `make rollback` undoes a bad one.", false},
		{"the same why", "Never mock the clock in scheduler tests.\n\n**Why:** a mocked clock hid a bug in production for three weeks.\n\n**How to apply:** use the fake scheduler.",
			"Never mock the mailer in checkout tests.\n\n**Why:** a mocked mailer sent nothing and nobody saw it.\n\n**How to apply:** use the catch-all inbox.", false},
		{"different things", deploy, tests, false},
		{"a few words that stand in a long one", "Run the integration tests", tests, false},
		{"checklists with one item in common", "- tag the release\n- write the notes\n- tell support\n- close the milestone", "- freeze the branch\n- write the notes\n- warm the cache\n- page nobody", false},
		{"one template, two long ones", "To add a region: create the bucket in Oslo, copy the keys of the vault for Oslo, set `region: oslo` in the chart, run `terraform apply` in regions/oslo, and add Oslo to the status page.",
			"To add a region: create the bucket in Porto, copy the keys of the vault for Porto, set `region: porto` in the chart, run `terraform apply` in regions/porto, and add Porto to the status page.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, k := jaccardAnd(c.a, c.b)
			t.Logf("Jaccard %.2f, contained %.2f", j, k)
			if got := len(near([][]uint64{shingles(c.a), shingles(c.b)})) == 1; got != c.near {
				t.Errorf("near is %t: Jaccard %.2f, contained %.2f", got, j, k)
			}
		})
	}
}

// TestPhrasesOfTheHouse: what stands in many topics shows nothing, and costs no square.
func TestPhrasesOfTheHouse(t *testing.T) {
	const house = "ask in the channel before you change anything here, and write down in the ticket what you did and why"
	var sets [][]uint64
	for i := range 3 * commonShingle {
		sets = append(sets, shingles(house+" "+strings.Repeat(string(rune('a'+i%26))+string(rune('a'+i/26))+" ", 3)))
	}
	if pairs := near(sets); len(pairs) > 0 {
		t.Errorf("%d pairs are near by a phrase of the house", len(pairs))
	}
}

// TestHeadingsOfSeveralLines: an underline makes a heading of all lines of its paragraph.
func TestHeadingsOfSeveralLines(t *testing.T) {
	m, err := mergeTopics("keep.md", "First line\nlast line\n===\n\n- a\n", "drop.md", "First line\nonly here\nlast line\n===\n\n- a\n")
	if err != nil || !strings.Contains(m.text, "only here") {
		t.Errorf("%q, %v", m.text, err)
	}
	m, err = mergeTopics("keep.md", "First line\nlast line\n---\n\n- a\n", "drop.md", "First line\nlast line\n---\n\n- a\n")
	if err != nil || len(m.added) > 0 {
		t.Errorf("%q, %v", m.added, err)
	}
}
