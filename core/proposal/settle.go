package proposal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"mem/core/change"
	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
)

// Submission is the result of a job.
type Submission struct {
	Job, Kind, Title, Report string
	Origin                   string // session that it comes from
	Policy                   Policy
	// Person says that a person asked for this very run to apply what it finds: then only
	// what cannot be applied waits.
	Person bool
	Units  []Unit
	// Hold says why a unit waits whatever the policy, "" when it need not; may be nil.
	Hold func(Unit) string
	// Supersedes is the kind of earlier proposals that this result makes pointless.
	Supersedes string
	// Keep is one of these that is not pointless: what it proposes still holds. "" is none.
	Keep string
}

// Settled is what became of a result.
type Settled struct {
	Change  string         // id of the change that was made, for memory_undo; "" for none
	Result  *memory.Change // what it did; nil for none
	Applied []Unit
	Held    []Unit // with the reason in Note
	// Refused are units that may never be made, such as those of pinned topics. They are
	// not kept.
	Refused    []job.Refused
	Proposal   *Proposal // what waits; nil when nothing does
	Superseded []string  // proposals
	Notes      []string
}

// A run that removes more than a fifth of what is remembered is looked at by a person
// first, whatever the policy: it may be a model that lost its way. Text that others take the
// place of counts as removed, too, but in a small memory: there a correction is a large part.
const (
	largePart    = 5       // one in so many
	largeRewrite = 4 << 10 // bytes of text that have to be replaced at least
)

// Settle brings the result of a job to memory by its policy: what may be is applied, as
// one change, and the rest waits as a proposal.
func (p *Proposals) Settle(ctx context.Context, s Submission) (*Settled, error) {
	if !slices.Contains([]Policy{Apply, HoldDeletions, Review}, s.Policy) {
		return nil, fmt.Errorf("there is no policy %q", s.Policy)
	}
	if len(s.Units) > MaxUnits {
		return nil, fmt.Errorf("the result has %d units; at most %d are taken. Nothing was changed", len(s.Units), MaxUnits)
	}
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	out := &Settled{}
	x, err := p.draft(s, out)
	if err != nil {
		return nil, err
	}
	if len(x.Units) > 0 {
		if err := p.settle(ctx, s, x, out); err != nil {
			return nil, err
		}
	}
	// What an earlier try of this very job left is replaced by this one, and what a process
	// left that died at it.
	if _, err := p.supersede(ctx, x.ID, x.ID, func(o *Proposal) bool {
		return s.Job != "" && o.Job == s.Job || o.Kind == s.Kind && o.Origin == s.Origin && o.abandoned()
	}); err != nil {
		return out, err
	}
	if s.Supersedes != "" {
		by := x.ID
		if out.Proposal == nil && s.Job != "" {
			by = s.Job
		}
		if out.Superseded, err = p.supersede(ctx, by, x.ID, func(o *Proposal) bool { return o.Kind == s.Supersedes && o.ID != s.Keep }); err != nil {
			return out, err
		}
	}
	return out, nil
}

// unfinished is the note of a unit that nobody holds back.
const unfinished = "it was to be applied at once, and that did not come to its end. The job may find it anew; apply it, or discard it"

// abandoned reports whether a proposal has something open that was to be applied at once: the
// process that was to do it died, and its job is done again, with what waits beside it.
func (p *Proposal) abandoned() bool {
	return p.State == Open && slices.ContainsFunc(p.Units, func(u Unit) bool { return u.State == Open && u.Note == unfinished })
}

// draft makes the proposal of a result, without the units that may never be made.
func (p *Proposals) draft(s Submission, out *Settled) (*Proposal, error) {
	ids, err := p.ids()
	if err != nil {
		return nil, err
	}
	last := ""
	if len(ids) > 0 {
		last = ids[len(ids)-1]
	}
	now := p.m.Now().UTC()
	id, err := job.NewID(now, last)
	if err != nil {
		return nil, err
	}
	x := &Proposal{Version: version, ID: id, Job: s.Job, Kind: s.Kind, Title: memdir.Shown(p.said(s.Title, maxReport), maxTitle), Report: p.said(s.Report, maxReport), Created: now, Origin: s.Origin, State: Open}
	if x.Title == "" {
		x.Title = "result of a job: " + s.Kind
	}
	for _, u := range s.Units {
		u.Change.Files = slices.DeleteFunc(slices.Clone(u.Change.Files), func(f change.File) bool {
			return f.Kind == change.Edit && len(f.Edits) == 0
		})
		if u.Change.Empty() {
			continue
		}
		if v := p.examine(u); v.refused != "" {
			out.Refused = append(out.Refused, job.Refused{What: memdir.Shown(u.Title, maxTitle), Reason: memdir.Shown(v.refused, 600)})
			continue
		}
		u.ID, u.State, u.Applied, u.Attempt, u.Note = strconv.Itoa(len(x.Units)+1), Open, "", "", ""
		u.Title, u.Reason = memdir.Shown(p.said(u.Title, maxReport), maxTitle), bounded(p.said(u.Reason, maxReport), maxReason)
		u.Sources = slices.Clone(u.Sources[:min(len(u.Sources), maxSources)])
		for i := range u.Sources {
			u.Sources[i] = bounded(p.said(u.Sources[i], maxReport), maxTitle)
		}
		u.Deletes = Deletes(u.Change)
		x.Units = append(x.Units, u)
	}
	return x, nil
}

// said is what somebody who made a result says of it, fit to be kept: without secrets, and at
// most so many bytes.
func (p *Proposals) said(s string, most int) string {
	cut := ""
	if len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), "\n… (cut)"
	}
	clean, _ := p.m.Guard().Redact([]byte(s))
	return string(clean) + cut
}

func (p *Proposals) settle(ctx context.Context, s Submission, x *Proposal, out *Settled) error {
	large, err := p.Large(ctx, x.Units)
	if err != nil {
		return err
	}
	var now []*Unit
	for i := range x.Units {
		u := &x.Units[i]
		if u.Note = p.holds(s, *u, large, x.Units); u.Note == "" {
			// Stands until it is applied, so that nobody wonders where the process dies.
			u.Note = unfinished
			now = append(now, u)
		}
	}
	if out.Notes, err = p.trim(); err != nil {
		return err
	}
	if err := p.write(x); err != nil {
		return err
	}
	if len(now) > 0 {
		if out.Result, err = p.make(ctx, x, now); err != nil {
			return fmt.Errorf("%w. The result is kept as the proposal %s", err, x.ID)
		}
	}
	for _, u := range x.Units {
		if u.State == Applied {
			out.Applied = append(out.Applied, u)
		} else {
			out.Held = append(out.Held, u)
		}
	}
	if out.Result != nil {
		out.Change = out.Result.ID
	}
	if len(out.Held) > 0 {
		out.Proposal = x
		return nil
	}
	if err := os.Remove(p.file(x.ID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing a proposal of which nothing waits: %w", err)
	}
	return nil
}

// holds says why a unit waits for a person, "" when it need not.
func (p *Proposals) holds(s Submission, u Unit, large string, all []Unit) string {
	switch {
	case s.Person:
		return ""
	case s.Hold != nil && s.Hold(u) != "":
		return s.Hold(u)
	case large != "":
		return large
	case s.Policy == Review:
		return "waits for review, as the settings say for this job"
	case s.Policy == HoldDeletions && u.Deletes:
		return "it deletes, which waits for review"
	}
	var before []string
	for _, other := range all {
		for _, f := range other.Change.Files {
			before = append(before, f.Base)
		}
	}
	for _, f := range u.Change.Files {
		after, stays, err := f.After()
		if err != nil || !stays {
			continue
		}
		if found := stage.Commands(after, before...); len(found) > 0 {
			return fmt.Sprintf("%s has text that commands its reader, which is not stored without a look: %s", memdir.ShownName(f.Target()), memdir.Shown(found[0].Reason, 600))
		}
	}
	return ""
}

// Large says that units remove more than a fifth of the memory, so that all of them wait
// whatever the policy; "" when they do not. Lines that went from one file into another are not
// removed.
func (p *Proposals) Large(ctx context.Context, units []Unit) (string, error) {
	var gone, bytes int
	after := map[string]int{}
	bases := map[string]string{}
	for _, u := range units {
		for _, f := range u.Change.Files {
			if f.Path == memfile.IndexName {
				continue
			}
			if f.Kind == change.Delete {
				gone++
			}
			if f.Base != "" {
				bases[f.Path] = f.Base
			}
			if s, stays, err := f.After(); err == nil && stays {
				for l, n := range linesOf(memfile.Parse(s).BodyText()) {
					after[l] += n
				}
			}
		}
	}
	for _, base := range bases {
		_, lost := lostLines(memfile.Parse(base).BodyText(), after)
		bytes += lost
	}
	net := bytes
	for l, n := range after { // what came: lostLines has taken out what was there before
		net -= len(l) * n
	}
	if gone == 0 && net <= 0 && bytes < largeRewrite {
		return "", nil
	}
	v, _, err := p.m.View(ctx)
	if err != nil {
		return "", err
	}
	var size int64
	for _, t := range v.Topics {
		size += t.Size
	}
	switch {
	case gone*largePart > len(v.Topics):
		return fmt.Sprintf("the run removes %d of %d topics, more than a fifth: all of it waits for review", gone, len(v.Topics)), nil
	case int64(net)*largePart > size:
		return fmt.Sprintf("the run removes %d of %d bytes, more than a fifth: all of it waits for review", net, size), nil
	case bytes >= largeRewrite && int64(bytes)*largePart > size:
		return fmt.Sprintf("the run removes %d of %d bytes, more than a fifth: all of it waits for review", bytes, size), nil
	}
	return "", nil
}

// Supersede closes the open proposals of a kind, which by makes pointless: the id of a
// proposal or of a job. It gives their ids.
func (p *Proposals) Supersede(ctx context.Context, kind, by string) ([]string, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return p.supersede(ctx, by, by, func(o *Proposal) bool { return o.Kind == kind })
}

func (p *Proposals) supersede(ctx context.Context, by, but string, which func(*Proposal) bool) ([]string, error) {
	ids, err := p.ids()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range ids {
		if id == but {
			continue
		}
		x, err := p.takeUp(ctx, id)
		if err != nil || !which(x) || x.State != Open {
			continue // List tells of one that cannot be read
		}
		for i := range x.Units {
			if u := &x.Units[i]; u.State == Open {
				u.State = Superseded
			}
		}
		x.State, x.SupersededBy, x.Closed = Superseded, by, p.m.Now()
		if err := p.write(x); err != nil {
			return out, err
		}
		out = append(out, id)
	}
	return out, nil
}
