package lspcli

import (
	"strings"

	"github.com/spf13/cobra"

	"mem/diagnostics"
	"mem/diagnostics/workspace"
	"mem/docs"
	"mem/internal/term"
)

// rule is a rule as JSON has it.
type rule struct {
	Rule     string               `json:"rule"`
	Severity diagnostics.Severity `json:"severity"`
	Summary  string               `json:"summary"`
	Safety   bool                 `json:"safety"` // silenced by nothing that comes with the content
	Late     bool                 `json:"late"`   // runs after the others
	Fixes    []ruleFix            `json:"fixes"`
	Evidence []evidence           `json:"evidence"`
	Page     string               `json:"page,omitempty"` // Markdown
}

type ruleFix struct {
	Fix     string `json:"fix"`
	Summary string `json:"summary"`
	Safe    bool   `json:"safe"`
	Manual  bool   `json:"manual,omitempty"` // made in an editor only
}

type evidence struct {
	Claim   string `json:"claim"`
	Source  string `json:"source"`
	Client  string `json:"client,omitempty"`
	Checked string `json:"checked"`
}

func (a *app) rulesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rules [ID]",
		Short: "List the rules with their fixes, or show the page of one",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usage("rules takes at most one argument: the id of a rule")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			e := workspace.NewEngine(nil)
			if len(args) == 1 {
				r := e.Rule(args[0])
				if r == nil {
					return unknownRule(e, args[0])
				}
				return a.showRule(ruleOf(e, *r))
			}
			return a.listRules(e)
		},
	}
}

func ruleOf(e *diagnostics.Engine, r diagnostics.Rule) rule {
	x := rule{Rule: r.ID, Severity: r.Severity, Summary: r.Summary, Safety: r.Safety, Late: r.Late, Fixes: []ruleFix{}, Evidence: []evidence{}}
	for _, id := range r.Fixes {
		if f := e.Fix(id); f != nil {
			x.Fixes = append(x.Fixes, ruleFix{f.ID, f.Summary, f.Safe, f.Manual})
		}
	}
	for _, ev := range r.Evidence {
		x.Evidence = append(x.Evidence, evidence(ev))
	}
	return x
}

func (a *app) listRules(e *diagnostics.Engine) error {
	all := []rule{}
	var rows [][]string
	for _, r := range e.Rules {
		x := ruleOf(e, r)
		all = append(all, x)
		var fixes []string
		for _, f := range x.Fixes {
			fixes = append(fixes, f.Fix)
		}
		rows = append(rows, []string{x.Rule, x.Severity.String(), strings.Join(fixes, ", "), x.Summary})
	}
	if a.json {
		return a.JSON(struct {
			Rules []rule `json:"rules"`
		}{all})
	}
	a.Table([]string{"rule", "severity", "fixes", "what it finds"}, rows)
	return nil
}

func (a *app) showRule(x rule) error {
	page := docs.RulePage(x.Rule)
	switch {
	case a.json:
		x.Page = page
		return a.JSON(x)
	case page == "":
		page = "# " + x.Rule + "\n\n" + x.Summary + "\n"
	}
	if a.Terminal {
		page = a.page(page)
	}
	a.Printf("%s", page)
	return nil
}

// ruleFlag adds --rule.
func ruleFlag(c *cobra.Command, to *[]string) {
	c.Flags().StringSliceVar(to, "rule", nil, "only this rule; may be given several times")
}

// knownRules gives a usage error for a rule that there is not.
func knownRules(ids []string) error {
	e := workspace.NewEngine(nil)
	for _, id := range ids {
		if e.Rule(id) == nil {
			return unknownRule(e, id)
		}
	}
	return nil
}

func unknownRule(e *diagnostics.Engine, id string) error {
	best, least := "", 1+len(id)/2
	for _, r := range e.Rules {
		if d := slips(id, r.ID); d < least {
			best, least = r.ID, d
		}
	}
	if best != "" {
		return term.Usage("there is no rule %q; is it %s? mem-lsp rules lists them", id, best)
	}
	return term.Usage("there is no rule %q; mem-lsp rules lists them", id)
}

// slips counts the characters to insert, delete or replace to turn a into b.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			n := corner
			if a[i] != b[j] {
				n = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], n
		}
	}
	return row[len(b)]
}
