package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mem/core/dream"
	"mem/core/memdir"
)

type shownGate struct {
	Gate   string `json:"gate"`
	Open   bool   `json:"open"`
	Reason string `json:"reason"`
	Due    string `json:"due,omitempty"`
	Micros int64  `json:"costMicroseconds"`
}

type dreamStatusResult struct {
	Open      bool        `json:"open"`
	Gates     []shownGate `json:"gates"`
	Last      string      `json:"lastSuccess,omitempty"`
	Next      string      `json:"nextDue,omitempty"`
	Sessions  []string    `json:"sessions,omitempty"`
	More      int         `json:"moreSessions,omitempty"`
	Job       *shownDream `json:"job,omitempty"`
	Proposals []string    `json:"proposals"`
	Notes     []string    `json:"notes,omitempty"`
}

func dreamStatus() spec {
	return spec{
		name:  "dream_status",
		title: "How far a dream is, and when the next is due",
		description: "Tells how far the dream is that runs, or what the last one came to: phase, sessions under review, files touched, last turns, what it used, its report. " +
			"Also every gate of a dream by itself with its reason, when the next one is due, and what waits for a person.",
		in: schema{opt("job", str("Another dream: its id, or the beginning of it.")), storeArg()},
		out: schema{
			req("open", boolean("A dream by itself is due.")),
			req("gates", list("Cheapest first.", schema{req("gate", str("")), req("open", boolean("")), req("reason", str("")),
				opt("due", str("When it opens, or is worth another look.")), req("costMicroseconds", integer("Of this check."))}.nested(""))),
			opt("lastSuccess", str("When the last one began.")), opt("nextDue", str("Of one by itself, at the earliest.")),
			opt("sessions", list("Touched since, newest first.", str(""))), opt("moreSessions", integer("Not listed.")),
			opt("job", dreamSchema().nested("")),
			req("proposals", list("Ids of what dreams left for a person to decide.", str(""))),
			opt("notes", list("", str(""))),
		},
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Job string `json:"job"`
		}) (answer, error) {
			st, err := dream.StatusOf(ctx, m.Memory, m.jobs())
			if err != nil {
				return answer{}, err
			}
			g := st.Gates
			out := dreamStatusResult{Open: g.Open, Gates: []shownGate{}, Last: at(g.Last), Next: at(g.Next), Proposals: st.Proposals, Notes: g.Notes}
			for _, x := range g.Gates {
				out.Gates = append(out.Gates, shownGate{x.Name, x.Open, memdir.Shown(x.Reason, 600), at(x.Due), x.Cost.Round(time.Microsecond).Microseconds()})
			}
			for _, id := range g.Sessions[:min(len(g.Sessions), maxJobLines)] {
				out.Sessions = append(out.Sessions, memdir.Shown(id, 100))
			}
			out.More = g.MoreSessions + len(g.Sessions) - len(out.Sessions)
			r := st.Job
			if a.Job != "" {
				if r, err = m.dreamJob(a.Job); err != nil {
					return answer{}, err
				}
			}
			if r != nil {
				out.Job = m.shownDream(r)
			}
			return answer{out, out.words()}, nil
		}),
	}
}

func (s dreamStatusResult) words() string {
	var lines []string
	if s.Job != nil {
		line := s.Job.words()
		if s.Job.Phase != "" {
			line += "\nPhase: " + s.Job.Phase + ", " + counted(len(s.Job.Touched), "file") + " touched."
		}
		lines = append(lines, line)
		for _, l := range s.Job.Last {
			lines = append(lines, "Did: "+l)
		}
	} else {
		lines = append(lines, "There was no dream yet.")
	}
	for _, g := range s.Gates {
		state := "closed"
		if g.Open {
			state = "open"
		}
		lines = append(lines, fmt.Sprintf("Gate %s is %s: %s.", g.Gate, state, strings.TrimSuffix(g.Reason, ".")))
	}
	switch {
	case s.Open:
		lines = append(lines, "A dream by itself is due.")
	case s.Next != "":
		lines = append(lines, "The next one by itself: "+s.Next+" at the earliest.")
	default:
		lines = append(lines, "No dream starts by itself until what closes the gates has changed.")
	}
	if len(s.Proposals) > 0 {
		lines = append(lines, "Wait for a person: "+strings.Join(s.Proposals, ", "))
	}
	for _, n := range s.Notes {
		lines = append(lines, "Note: "+memdir.Shown(n, 600))
	}
	return words(lines...)
}
