package dream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/engine"
	"mem/core/fork"
	"mem/core/fork/gate"
	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/work"
)

// Limits of an agent that dreams. A memory of 200 topics takes some fifteen turns and 300
// calls; the wall leaves time to settle within WallLimit.
const (
	Turns        = 40
	AgentWall    = 25 * time.Minute
	OutputTokens = 120_000
	ToolCalls    = 800
	ReadBytes    = 12 << 20
	// maxInline is what sessions may take of a prompt where they cannot be files, in bytes.
	maxInline = 200 << 10
)

// agent lets an agent consolidate a copy of the memory, mended before, and brings what it
// left to memory.
func (s Setting) agent(ctx context.Context, m *memory.Memory, o RunOptions, c engine.Choice, since time.Time, out *Ran) (err error) {
	dir, remove, err := folderOf(m, o.Record.ID())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	x, err := s.gatherSources(ctx, m, since, dir)
	if err != nil {
		return err
	}
	first, err := s.mechanical(ctx, m, o)
	if err != nil {
		return err
	}
	o.Record.Progress(func(r *job.Record) { r.Sessions = x.ids() })
	a := asked{now: s.Env.Time(), since: since, turns: Turns, x: x, first: first.Report, dailyLog: s.DailyLog}
	order := work.Order{
		Session: m.Origin(), System: system, EmptyDeletes: true,
		Limits: fork.Limits{Turns: Turns, Wall: AgentWall, OutputTokens: OutputTokens, ToolCalls: ToolCalls, ReadBytes: ReadBytes},
	}
	if c.Name == fork.Command {
		if a.briefs, err = x.inline(maxInline); err != nil {
			return err
		}
	} else {
		order.Mounts = []gate.Mount{{Name: "sessions", Dir: dir}}
		mount, why := o.House.Project()
		if a.project = why == ""; a.project {
			order.Mounts = append(order.Mounts, mount)
		} else if m.Config.Jobs.ReadProject {
			out.Notes = append(out.Notes, "The agent could not read the project: "+why+".")
		}
	}
	order.Prompt = a.instruction()
	var made []claim
	order.Prepare = func(ctx context.Context, st *stage.Stage) (err error) {
		made, _, err = prepare(ctx, st, slices.Concat(first.Apply, first.Copies), map[string]*string{})
		return err
	}
	done, err := o.House.Agent(ctx, o.Record, c, order)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil && done.End == fork.EndCancelled:
		return context.Cause(ctx)
	case done.End == fork.EndCancelled:
		return context.Canceled
	case done.End == fork.EndFailed:
		return fmt.Errorf("the agent failed, and nothing was changed: %s", done.Reason)
	case !done.Whole() && len(done.Touched) == 0:
		return fmt.Errorf("the run ended by its %s before the agent had changed anything: %s", done.End, done.Reason)
	}
	policy := s.policy(o)
	if !done.Whole() {
		policy = proposal.Review // what somebody left who was not through is nobody's last word
		out.Notes = append(out.Notes, fmt.Sprintf("The run ended by its %s (%s): what the agent had changed until then waits for review.", done.End, done.Reason))
	}
	out.Refused = append(out.Refused, done.Result.Refused...)
	for _, r := range done.Refused {
		out.Refused = append(out.Refused, job.Refused{What: fmt.Sprintf("%s in turn %d: %s", r.Tool, r.Turn, r.Input), Reason: r.Reason})
	}
	claims, said := claimsOf(done.Text)
	r := resultOf(done.Result.Change, append(claims, made...))
	units := r.units()
	by := c.Name
	if done.Model != "" {
		by += ", " + done.Model
	}
	shown, err := told(ctx, m, policy, units)
	if err != nil {
		return err
	}
	if units, err = s.unitsFor(ctx, m, r, shown, units); err != nil {
		return err
	}
	hold, err := takenBack(ctx, m, units)
	if err != nil {
		return err
	}
	out.Report = s.reportOf(r, units, shown, hold, first.Report, by)
	out.Report.Notes = append(out.Report.Notes, x.Notes...)
	if said != "" {
		out.Report.Notes = append(out.Report.Notes, "The agent says: "+memdir.Shown(said, maxSaidText))
	}
	out.Report.bound()
	return s.bring(ctx, m, o, policy, hold, "dream: "+memdir.Shown(by, 80), units, out)
}

const maxSaidText = 1_500

// bring settles units by a policy, and supersedes what earlier dreams left open.
func (s Setting) bring(ctx context.Context, m *memory.Memory, o RunOptions, policy proposal.Policy, hold func(proposal.Unit) string, title string, units []proposal.Unit, out *Ran) error {
	settled, err := proposal.Of(m).Settle(ctx, proposal.Submission{Job: o.Job, Kind: job.Dream, Title: title, Report: out.Report.Markdown(),
		Origin: m.Origin(), Policy: policy, Hold: hold, Units: units, Supersedes: job.Dream})
	if err != nil {
		return err
	}
	out.take(settled)
	out.Superseded = settled.Superseded
	return nil
}

func (s Setting) policy(o RunOptions) proposal.Policy {
	if o.Policy != "" {
		return o.Policy
	}
	return proposal.PolicyOf(s.Config, job.Dream)
}

// prepare makes units of the part without a model on a staged copy, and gives what it says
// of them. now has the files of the copy that are not as they began; nil is gone. A unit
// that does not fit, since somebody wrote meanwhile, is left out: the next dream makes it.
func prepare(ctx context.Context, st *stage.Stage, units []proposal.Unit, now map[string]*string) (made []claim, left int, err error) {
	for _, u := range units {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		next, ok := fitted(st, u, now)
		if !ok {
			left++
			continue
		}
		var gone, kept []string
		for _, f := range u.Change.Files {
			after := next[f.Path]
			var err error
			if after == nil {
				gone = append(gone, f.Path)
				err = st.Remove(f.Path)
			} else {
				kept = append(kept, f.Path)
				err = st.Put(f.Path, *after)
			}
			if err != nil {
				return nil, 0, err
			}
			now[f.Path] = after
		}
		made = append(made, claimsFor(u, gone, kept)...)
	}
	return made, left, nil
}

// claimsFor says what a unit did that was made on the copy.
func claimsFor(u proposal.Unit, gone, kept []string) (out []claim) {
	why := memdir.Shown(u.Reason, maxItemText)
	for _, p := range kept {
		switch {
		case p == memfile.IndexName && len(gone) > 0:
		case len(gone) > 0: // they stay together
			out = append(out, claim{Did: "merged", Files: gone, Into: p, Why: why})
		case p != memfile.IndexName && len(kept) > 1:
			out = append(out, claim{Did: "corrected", Files: []string{p}, Why: whyDetails})
		default:
			out = append(out, claim{Did: "corrected", Files: []string{p}, Why: why})
		}
	}
	if len(out) == 0 {
		out = append(out, claim{Did: "dropped", Files: gone, Why: why})
	}
	return out
}

// fitted gives the texts that a unit leaves on a stage where now stands, false where it
// does not fit or may not be written.
func fitted(st *stage.Stage, u proposal.Unit, now map[string]*string) (map[string]*string, bool) {
	next := map[string]*string{}
	for _, f := range u.Change.Files {
		cur, changed := now[f.Path]
		if base, known := st.Base(f.Path); !changed && known {
			cur = &base
		}
		after, stays, err := f.After()
		if err != nil || f.Kind == change.Rename || f.Kind == change.Append {
			return nil, false
		}
		switch {
		case f.Kind == change.Create:
			if cur != nil || st.MayWrite(f.Path) != nil {
				return nil, false
			}
		case cur == nil:
			return nil, false
		case !stays:
			if *cur != f.Base || st.MayRemove(f.Path) != nil {
				return nil, false
			}
			next[f.Path] = nil
			continue
		case st.MayWrite(f.Path) != nil:
			return nil, false
		case *cur != f.Base:
			merged, conflicts := change.Merge(f.Path, f.Base, after, *cur)
			if len(conflicts) > 0 {
				return nil, false
			}
			after = merged
		}
		next[f.Path] = &after
	}
	return next, true
}

// reportOf says what a result is, as the files show it.
func (s Setting) reportOf(r *result, units []proposal.Unit, policy proposal.Policy, hold func(proposal.Unit) string, first *Report, by string) *Report {
	out := &Report{Engine: by, Before: first.Before, After: first.After, Notes: append(slices.Clone(first.Notes), r.unproven()...)}
	if r.index != nil {
		out.After = memdir.FillOf(r.want, s.rule())
		if policy == proposal.HoldDeletions && r.without != nil {
			out.After = memdir.FillOf(r.without, s.rule())
		}
		if w := out.After.Warning; w != "" {
			out.Left = append(out.Left, Item{What: memfile.IndexName, Why: w})
		}
	} else {
		out.After = out.Before
	}
	touched := map[string]bool{}
	for _, u := range units {
		item := Item{What: u.Title, Why: u.Reason, Sources: u.Sources}
		gone, kept := 0, 0
		for _, f := range u.Change.Files {
			if f.Path == memfile.IndexName {
				continue
			}
			touched[f.Path] = true
			if f.Kind == change.Delete {
				gone++
			} else {
				kept++
			}
		}
		why := hold(u)
		if why != "" {
			item.Why = strings.TrimPrefix(item.Why+"; "+why, "; ")
		}
		switch {
		case why != "" || policy == proposal.Review || policy == proposal.HoldDeletions && u.Deletes:
			out.Proposed = append(out.Proposed, item)
		case gone > 0 && kept > 0:
			out.Merged = append(out.Merged, item)
		case u.Deletes:
			out.Dropped = append(out.Dropped, item)
		default:
			out.Corrected = append(out.Corrected, item)
		}
	}
	for _, items := range [][]Item{first.Proposed, first.Left} {
		for _, i := range items {
			path, _, _ := strings.Cut(i.What, ":")
			if i.What == memfile.IndexName && r.index != nil {
				continue // how full it is, which is said above
			}
			if !touched[path] && !slices.ContainsFunc(i.Sources, func(p string) bool { return touched[p] }) {
				out.Left = append(out.Left, i)
			}
		}
	}
	return out
}

func (s Setting) rule() memdir.Rule {
	rule := memdir.SeedRule()
	rule.Lines, rule.Size = s.Config.Limits.IndexLines, int(s.Config.Limits.IndexBytes)
	return rule
}
