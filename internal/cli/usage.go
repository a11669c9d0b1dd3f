package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mem/core/model"
	"mem/core/settings"
	"mem/core/spend"
	"mem/internal/term"
)

func (a *app) usageCommand() *cobra.Command {
	var days int
	c := &cobra.Command{
		Use:   "usage",
		Short: "Show what jobs spent on models, by day, and what is left of today's budget",
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("days") && (days < 1 || days > spend.MaxDays) {
				return term.Usage("--days takes 1 to %d", spend.MaxDays)
			}
			return a.usage(days)
		},
	}
	c.Flags().IntVar(&days, "days", spend.DefaultDays, fmt.Sprintf("days up to today, at most %d", spend.MaxDays))
	return c
}

// usageShown is what `mem-mcp usage --json` prints.
type usageShown struct {
	*spend.Report
	Left   spend.Left `json:"left"`
	Budget budget     `json:"budget"`
}

// budget is a day's, 0 for no limit.
type budget struct {
	Tokens int64   `json:"tokens"`
	Calls  int     `json:"calls"`
	Cost   float64 `json:"costUSD"`
}

func (a *app) usage(days int) error {
	cfg, faults := settings.LoadConfig(a.env)
	l := spend.Open(a.env)
	r, err := l.Report(spend.Options{Days: days})
	if err != nil {
		return err
	}
	left, err := l.Left(cfg.Budgets)
	if err != nil {
		return err
	}
	left.Notes = nil // the report reads the same files
	day := cfg.Budgets.Day
	shown := usageShown{Report: r, Left: left, Budget: budget{Tokens: day.Tokens, Calls: day.Runs, Cost: day.Cost}}
	if err := a.show(shown, func() { a.showUsage(shown) }); err != nil {
		return err
	}
	if faults != nil {
		return fmt.Errorf("the configuration has faults, the budget shown is what holds:\n%w", faults)
	}
	return nil
}

func (a *app) showUsage(u usageShown) {
	var rows [][]string
	for _, l := range u.Rows {
		rows = append(rows, append([]string{l.Day, l.Kind, l.Engine, strconv.Itoa(l.Calls)}, figures(l.Usage)...))
	}
	if len(rows) > 0 {
		rows = append(rows, append([]string{"total", "", "", strconv.Itoa(u.Calls)}, figures(u.Total)...))
		a.Table([]string{"day", "kind", "engine", "calls", "read", "cached", "written", "cost"}, rows)
	} else {
		fmt.Fprintf(a.Err, "no job used a model from %s to %s\n", u.From, u.To)
	}
	a.Printf("%s %s\n", a.Style(term.Faint, "left today"), leftWords(u.Left, u.Budget))
	if u.Left.Spent != "" {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), u.Left.Spent)
	}
	if n := u.Left.Unpriced; n > 0 {
		fmt.Fprintf(a.Err, "%s the cost of %s today is not known; name the prices of its model in engines.provider.price_input, price_output and so on\n", a.Style(term.Yellow, "note:"), count(n, "call"))
	}
	for _, n := range u.Notes {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), term.Clean(n))
	}
}

// figures are tokens and cost; a tilde marks what was estimated, a plus what is only part
// of the cost.
func figures(u model.Usage) []string {
	about := ""
	if u.Estimated {
		about = "~"
	}
	cost := "unknown"
	switch {
	case u.Priced:
		cost = money(u.Cost)
	case u.Cost > 0:
		cost = money(u.Cost) + "+"
	}
	return []string{about + grouped(u.Input+u.CacheWrite), about + grouped(u.CacheRead), about + grouped(u.Output), cost}
}

// leftWords says what is left of each limit.
func leftWords(l spend.Left, b budget) string {
	of := func(left, most, unit string, limited bool) string {
		if !limited {
			return unit + " without limit"
		}
		return left + " of " + most + " " + unit
	}
	return of(grouped(l.Tokens), grouped(b.Tokens), "tokens", b.Tokens > 0) + ", " +
		of(strconv.Itoa(l.Runs), strconv.Itoa(b.Calls), "calls", b.Calls > 0) + ", " +
		of(money(l.Cost), money(b.Cost), "cost", b.Cost > 0)
}

// money gives US dollars, with cents of cents where it is little.
func money(v float64) string {
	if v != 0 && v < 0.995 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// grouped gives a number with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
