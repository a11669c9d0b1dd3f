package spend

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mem/core/model"
)

// Limits of reports.
const (
	DefaultDays = 7
	MaxDays     = 3660
	// maxRows bounds the rows of a report: ten years of two kinds on one engine.
	maxRows = 10_000
)

// Options say what to report.
type Options struct {
	Days int // up to today; 0 is DefaultDays
}

// Report is what was spent, by day, kind and engine.
type Report struct {
	From  string      `json:"from"` // local days, as 2026-11-30
	To    string      `json:"to"`
	Rows  []Line      `json:"rows"` // newest day first
	Total model.Usage `json:"total"`
	Runs  int         `json:"runs"`
	Calls int         `json:"calls"`
	// More counts rows that were left out.
	More  int      `json:"more,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Line is what runs of one kind used on one engine on one day.
type Line struct {
	Day    string      `json:"day"`
	Kind   string      `json:"kind"`
	Engine string      `json:"engine"`
	Runs   int         `json:"runs"`
	Calls  int         `json:"calls"`
	Models []string    `json:"models"` // at most a few
	Usage  model.Usage `json:"usage"`
}

// maxModels is how many models a line names.
const maxModels = 5

// Report reports what was spent.
func (l *Ledger) Report(o Options) (*Report, error) {
	days := o.Days
	switch {
	case days == 0:
		days = DefaultDays
	case days < 0 || days > MaxDays:
		return nil, fmt.Errorf("%d days cannot be reported; ask for 1 to %d", days, MaxDays)
	}
	now := l.env.Time()
	start, end := day(now)
	start = time.Date(start.Year(), start.Month(), start.Day()-days+1, 0, 0, 0, 0, now.Location())
	type key struct{ day, kind, engine string }
	lines := map[key]*Line{}
	r := &Report{From: start.Format(time.DateOnly), To: now.Format(time.DateOnly), Rows: []Line{}}
	s, err := l.read(start, end, func(w row) {
		r.Total = r.Total.Add(w.Usage)
		r.Runs++
		r.Calls += callsOf(w.Usage)
		k := key{w.Time.In(now.Location()).Format(time.DateOnly), w.Kind, w.Engine}
		line := lines[k]
		if line == nil {
			if len(lines) >= maxRows {
				r.More++
				return
			}
			line = &Line{Day: k.day, Kind: k.kind, Engine: k.engine, Models: []string{}}
			lines[k] = line
		}
		line.Usage = line.Usage.Add(w.Usage)
		line.Runs++
		line.Calls += callsOf(w.Usage)
		if w.Model != "" && len(line.Models) < maxModels && !slices.Contains(line.Models, w.Model) {
			line.Models = append(line.Models, w.Model)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading what was spent: %w", err)
	}
	for _, line := range lines {
		slices.Sort(line.Models)
		r.Rows = append(r.Rows, *line)
	}
	slices.SortFunc(r.Rows, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Engine, b.Engine))
	})
	r.Notes = s.notes(l.dir)
	if r.More > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d runs are in the total only: a report has at most %d rows", r.More, maxRows))
	}
	return r, nil
}
