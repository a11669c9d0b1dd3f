package tools

import (
	"context"
	"fmt"

	"mem/core/extract"
	"mem/core/job"
	"mem/core/memdir"
)

const (
	maxCursors = 20
	maxWaiters = 20
)

type shownCursor struct {
	Session string `json:"session"`
	Leaf    string `json:"leaf,omitempty"`
	Time    string `json:"time,omitempty"`
	By      string `json:"by,omitempty"`
}

type shownWaiting struct {
	Session string `json:"session"`
	Since   string `json:"since"`
	Asked   bool   `json:"asked"`
	Failed  int    `json:"failed"`
}

type extractStatusResult struct {
	Off     string         `json:"off,omitempty"`
	Every   int            `json:"everyTurns"`
	Running string         `json:"running,omitempty"`
	Job     *shownJob      `json:"job,omitempty"`
	Waiting []shownWaiting `json:"waiting"`
	Cursors []shownCursor  `json:"cursors"`
	More    int            `json:"moreCursors,omitempty"`
	MoreW   int            `json:"moreWaiting,omitempty"`
}

func extractStatus() spec {
	return spec{
		name:        "extract_status",
		title:       "State of learning",
		description: "Tells how far a job of extract_start is and what it kept (the newest one unless told), which sessions wait, and up to where sessions were looked at.",
		in:          schema{opt("job", str("Id, or the beginning of one.")), storeArg()},
		out: schema{
			opt("off", str("Why nothing is learnt from turns by itself.")),
			req("everyTurns", integer("Turns between two runs.")),
			opt("running", str("Id of the job that runs.")),
			opt("job", jobSchema().nested("")),
			req("waiting", list("Sessions that wait for a run.", schema{req("session", str("")), req("since", str("")), req("asked", boolean("Somebody asked for it.")), req("failed", integer("Runs that failed on it."))}.nested(""))),
			req("cursors", list("Last looked at first.", schema{req("session", str("")), opt("leaf", str("The last message that was looked at.")), opt("time", str("")), opt("by", str("Job; without one the agent wrote memory itself."))}.nested(""))),
			opt("moreCursors", integer("Not listed.")), opt("moreWaiting", integer("Not listed.")),
		},
		readOnly: true, idempotent: true,
		run: handle(func(_ context.Context, m target, a struct {
			Job string `json:"job"`
		}) (answer, error) {
			s, err := extract.StatusOf(m.Memory, maxCursors)
			if err != nil {
				return answer{}, err
			}
			out := extractStatusResult{Off: s.Off, Every: s.Every, Running: s.Running, Waiting: []shownWaiting{}, Cursors: []shownCursor{}, More: s.More}
			r, err := m.extraction(a.Job)
			if err != nil {
				return answer{}, err
			}
			if r != nil {
				x := m.job(r)
				out.Job = &x
			}
			for i, w := range s.Waiting {
				if i == maxWaiters {
					out.MoreW = len(s.Waiting) - i
					break
				}
				out.Waiting = append(out.Waiting, shownWaiting{w.Session, at(w.Since), w.Asked, w.Failed})
			}
			for _, c := range s.Cursors {
				leaf := ""
				if !c.Leaf.IsZero() {
					leaf = c.Leaf.String()
				}
				out.Cursors = append(out.Cursors, shownCursor{c.Session, leaf, at(c.Time), c.By})
			}
			return answer{out, out.words()}, nil
		}),
	}
}

// extraction gives an extraction, or the newest one; nil where there was none.
func (t target) extraction(ref string) (*job.Record, error) {
	if ref != "" {
		r, err := t.jobs().Get(ref)
		if err == nil && r.Kind != job.Extract {
			return nil, fmt.Errorf("the job %s is no extraction but one of the kind %s", r.ID, memdir.Shown(r.Kind, 40))
		}
		return r, err
	}
	all, err := t.jobs().List(job.ListOptions{Kind: job.Extract, Limit: 1})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

func (s extractStatusResult) words() string {
	var lines []string
	if s.Off != "" {
		lines = append(lines, "Nothing is learnt from turns by itself: "+s.Off)
	}
	if s.Job != nil {
		lines = append(lines, s.Job.words())
	} else {
		lines = append(lines, "No session was looked at yet.")
	}
	for _, w := range s.Waiting {
		lines = append(lines, "Waits since "+w.Since+": "+memdir.ShownName(w.Session))
	}
	for _, c := range s.Cursors {
		how := "by the job " + c.By
		if c.By == "" {
			how = "since the agent wrote memory itself"
		}
		lines = append(lines, "Looked at: "+memdir.ShownName(c.Session)+" up to "+c.Leaf+", "+c.Time+", "+how)
	}
	if s.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more sessions", s.More))
	}
	return words(lines...)
}
