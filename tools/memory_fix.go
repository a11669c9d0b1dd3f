package tools

import (
	"context"
	"fmt"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/diagnostics"
)

// mended is the answer of memory_fix.
type mended struct {
	DryRun  bool      `json:"dryRun"`
	Applied []applied `json:"applied"`
	Refused []refused `json:"refused"`
	// MoreApplied and MoreRefused count those that are not listed.
	MoreApplied int    `json:"moreApplied,omitempty"`
	MoreRefused int    `json:"moreRefused,omitempty"`
	Diff        string `json:"diff,omitempty"`
	wrong
	memory.Change
}

type applied struct {
	Rule  string `json:"rule"`
	Fix   string `json:"fix"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Title string `json:"title"`
}

type refused struct {
	Rule   string `json:"rule"`
	Fix    string `json:"fix"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// maxMended is how many fixes a result lists.
const maxMended = 30

func memoryFix() spec {
	mend := schema{req("rule", str("")), req("fix", str("")), req("path", str("")), req("line", integer("When it was found."))}
	return spec{
		name:  "memory_fix",
		title: "Mend memory",
		description: "Mends what memory_check finds, as one change that memory_undo takes back. Safe fixes only, unless unsafe is true: those need your judgement, " +
			"so look at a dry run first.",
		in: schema{
			opt("rules", list("Mend findings of these rules only.", str(""))),
			opt("topic", str("Only findings in this file: path or name of a topic, or MEMORY.md.")),
			opt("unsafe", boolean("Fixes that need judgement, too.")),
			opt("dry_run", boolean("Show the diff and change nothing.")),
			storeArg(),
		},
		out: schema{
			req("dryRun", boolean("")),
			req("applied", list("Fixes that were made, or would be.", mend.with(req("title", str(""))).nested(""))),
			req("refused", list("Fixes that cannot be made, and why.", mend.with(req("reason", str(""))).nested(""))),
			opt("moreApplied", integer("Not listed.")), opt("moreRefused", integer("Not listed.")),
			opt("diff", str("Of a dry run.")),
		}.with(append(wrongSchema("What is left afterwards."), changed()...)...),
		destructive: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Rules  []string `json:"rules"`
			Topic  string   `json:"topic"`
			Unsafe bool     `json:"unsafe"`
			DryRun bool     `json:"dry_run"`
		}) (answer, error) {
			dir, err := m.directory()
			if err != nil {
				return answer{}, err
			}
			if err := knownRules(dir.Engine, a.Rules); err != nil {
				return answer{}, err
			}
			opt := diagnostics.FixOptions{Rules: a.Rules, Unsafe: a.Unsafe, Accept: dir.Accept}
			if a.Topic != "" {
				p, err := m.Resolve(ctx, a.Topic)
				if err != nil {
					return answer{}, err
				}
				opt.Paths = []string{p}
			}
			s, err := dir.Snapshot(ctx, nil)
			if err != nil {
				return answer{}, err
			}
			done, err := dir.Engine.FixAll(ctx, s, opt)
			if err != nil {
				return answer{}, err
			}
			out := mended{DryRun: a.DryRun, Applied: []applied{}, Refused: []refused{}, wrong: listed(dir.Engine, done.Left, maxAfter)}
			if a.DryRun {
				out.Change, out.Diff = *m.Preview(ctx, done.Change), m.Diff(done.Change)
			} else {
				c, err := m.Apply(ctx, done.Change)
				if err != nil {
					return answer{}, err
				}
				out.Change = *c
			}
			for i, f := range done.Applied {
				if i == maxMended {
					out.MoreApplied = len(done.Applied) - i
					break
				}
				out.Applied = append(out.Applied, applied{f.Rule, f.Fix, f.Path, f.Line, memdir.Shown(f.Title, maxFound)})
			}
			for i, f := range done.Refused {
				if i == maxMended {
					out.MoreRefused = len(done.Refused) - i
					break
				}
				out.Refused = append(out.Refused, refused{f.Rule, f.Fix, f.Path, f.Line, memdir.Shown(f.Reason, maxFound)})
			}
			return answer{out, out.words()}, nil
		}),
	}
}

func (r mended) words() string {
	n := counted(len(r.Applied)+r.MoreApplied, "finding")
	head := n + " mended."
	if r.DryRun {
		head = n + " would be mended; nothing was changed."
	}
	var lines []string
	for _, f := range r.Applied {
		lines = append(lines, fmt.Sprintf("- %s:%d %s: %s", memdir.ShownName(f.Path), f.Line, f.Rule, f.Title))
	}
	for _, f := range r.Refused {
		lines = append(lines, fmt.Sprintf("- not mended: %s:%d %s: %s", memdir.ShownName(f.Path), f.Line, f.Rule, f.Reason))
	}
	left := ""
	if len(r.Findings) > 0 {
		left = "Left:"
	}
	rest := changeWords(r.Change)
	if r.DryRun {
		rest = noticeWords(r.Notice)
	}
	return words(head, words(lines...), r.Diff, left, r.wrong.words(), rest)
}
