package tools

import (
	"context"
	"fmt"

	"mem/core/dream"
	"mem/core/memory"
)

const (
	defaultDreams = 5
	maxDreams     = 20
	// maxDreamReport is how much of each report a list shows, in characters.
	maxDreamReport = 1_200
)

type dreamHistoryResult struct {
	Dreams []*shownDream `json:"dreams"`
	More   int           `json:"moreDreams,omitempty"`
}

func dreamHistory() spec {
	return spec{
		name:        "dream_history",
		title:       "Earlier dreams",
		description: "Lists the dreams of this memory, newest first: when, by whom, how they ended, what they changed (for memory_undo) and what they proposed, with the beginning of each report; dream_status with its id has all of one.",
		in:          schema{opt("limit", raw(fmt.Sprintf(`{"type":"integer","minimum":1,"maximum":%d,"description":"How many; %d unless told."}`, maxDreams, defaultDreams))), storeArg()},
		out: schema{
			req("dreams", list("", dreamSchema().nested(""))),
			opt("moreDreams", integer("Older ones that are not listed.")),
		},
		readOnly: true, idempotent: true,
		run: handle(func(_ context.Context, m target, a struct {
			Limit int `json:"limit"`
		}) (answer, error) {
			if a.Limit == 0 {
				a.Limit = defaultDreams
			}
			all, err := dream.History(m.jobs(), 0)
			if err != nil {
				return answer{}, err
			}
			out := dreamHistoryResult{Dreams: []*shownDream{}}
			var lines []string
			for _, r := range all[:min(len(all), a.Limit)] {
				x := m.shownDream(r)
				x.Report, x.Last, x.Touched, x.Refused = memory.Fit(x.Report, maxDreamReport), nil, nil, nil
				out.Dreams = append(out.Dreams, x)
				lines = append(lines, x.Created+": "+x.words())
			}
			if out.More = len(all) - len(out.Dreams); out.More > 0 {
				lines = append(lines, fmt.Sprintf("and %d more", out.More))
			}
			if len(lines) == 0 {
				lines = append(lines, "There was no dream yet.")
			}
			return answer{out, words(lines...)}, nil
		}),
	}
}
