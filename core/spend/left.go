package spend

import (
	"fmt"
	"strings"
	"time"

	"mem/core/model"
	"mem/core/settings"
)

// Left is what is left of the day's budget; -1 is no limit.
type Left struct {
	Tokens int64   `json:"tokens"`
	Runs   int     `json:"calls"` // of a model
	Cost   float64 `json:"costUSD"`
	// Spent says, where nothing is left, of what, when it starts anew, and which key raises it.
	Spent string `json:"spent,omitempty"`
	// Unpriced counts calls of the day whose cost nobody knows, which Cost leaves out.
	Unpriced int `json:"unpricedCalls,omitempty"`
	// Notes say what could not be read.
	Notes []string `json:"notes,omitempty"`
}

// day gives the beginning of the local day of a time, and of the next.
func day(t time.Time) (start, end time.Time) {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location()), time.Date(y, m, d+1, 0, 0, 0, 0, t.Location())
}

// Left gives what is left of the day's budget. The day is the local one. Runs that go on
// at this moment are not in it: each of them has its own budget.
func (l *Ledger) Left(b settings.BudgetsConfig) (Left, error) {
	start, end := day(l.env.Time())
	var used model.Usage
	calls, unpriced := 0, 0
	s, err := l.read(start, end, func(r row) {
		used = used.Add(r.Usage)
		calls += callsOf(r.Usage)
		if !r.Usage.Priced && r.Usage.Tokens() > 0 {
			unpriced += callsOf(r.Usage)
		}
	})
	if err != nil {
		return Left{}, fmt.Errorf("reading what was spent today: %w", err)
	}
	left := Left{Tokens: -1, Runs: -1, Cost: -1, Unpriced: unpriced, Notes: s.notes(l.dir)}
	var spent, keys []string
	if most := b.Day.Tokens; most > 0 {
		if left.Tokens = max(0, most-used.Tokens()); left.Tokens == 0 {
			spent, keys = append(spent, fmt.Sprintf("%d of %d tokens", used.Tokens(), most)), append(keys, "budgets.day.tokens")
		}
	}
	if most := b.Day.Runs; most > 0 {
		if left.Runs = max(0, most-calls); left.Runs == 0 {
			spent, keys = append(spent, fmt.Sprintf("%d of %d model calls", calls, most)), append(keys, "budgets.day.runs")
		}
	}
	if most := b.Day.Cost; most > 0 {
		if left.Cost = max(0, most-used.Cost); left.Cost == 0 {
			spent, keys = append(spent, fmt.Sprintf("$%.2f of $%.2f", used.Cost, most)), append(keys, "budgets.day.cost")
		}
	}
	if len(spent) > 0 {
		left.Spent = fmt.Sprintf("the day's budget is spent (%s); it starts anew at %s, or raise %s",
			strings.Join(spent, ", "), end.Format("2006-01-02 15:04"), strings.Join(keys, " and "))
	}
	return left, nil
}

// callsOf is how many calls of a model a row counts: whoever does not count them made
// one at least.
func callsOf(u model.Usage) int { return max(1, u.Requests) }
