package tools

import (
	"context"
	"errors"
)

func dreamCancel() spec {
	return spec{
		name:        "dream_cancel",
		title:       "End a dream",
		description: "Ends the dream that runs or waits, or the one that is named, whoever runs it. The memory is as it was, and the next dream is as due as this one was.",
		in:          schema{opt("job", str("Id, or the beginning of one.")), storeArg()},
		out:         schema{req("job", dreamSchema().nested(""))},
		destructive: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Job string `json:"job"`
		}) (answer, error) {
			r, err := m.dreamJob(a.Job)
			if err != nil {
				return answer{}, err
			}
			if r.State.Final() {
				return answer{}, errors.New("the dream " + r.ID + " is over already: " + string(r.State))
			}
			if r, err = m.cancelled(ctx, r); err != nil {
				return answer{}, err
			}
			x := m.shownDream(r)
			return answer{struct {
				Job *shownDream `json:"job"`
			}{x}, x.words()}, nil
		}),
	}
}
