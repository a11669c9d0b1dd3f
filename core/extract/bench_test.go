package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mem/core/engine"
	"mem/core/fork"
	"mem/core/job"
	"mem/core/model/modeltest"
)

// instant is an engine that has nothing to keep.
type instant struct{}

func (instant) Name() string { return "instant" }

func (instant) Detail() string { return "" }

func (instant) Run(context.Context, fork.Task) (*fork.Outcome, error) {
	return &fork.Outcome{End: fork.EndDone, Text: "Nothing to keep."}, nil
}

// BenchmarkJob is a whole job but for the model: record, lock, transcript, stage, gate,
// result, cursor, on memories of 200 and 2,000 topics.
func BenchmarkJob(b *testing.B) {
	for _, topics := range []int{200, 2_000} {
		b.Run(fmt.Sprint(topics, " topics"), func(b *testing.B) {
			d := newDeskAt(b, modeltest.Start(b), modeltest.Anthropic, "")
			d.house.Choose = func(bool) engine.Choice { return engine.Choice{Name: "instant", Engine: instant{}} }
			rel, err := relative(d)
			if err != nil {
				b.Fatal(err)
			}
			for i := range topics {
				d.write(fmt.Sprintf("%s/topic-%d.md", rel, i), strings.ReplaceAll(mocks, "mock", fmt.Sprint("thing", i)))
			}
			for b.Loop() {
				path := d.say("one", "and now the next thing", "Yes.")
				if err := Ask(d.m, "one", path); err != nil {
					b.Fatal(err)
				}
				if r := d.run(); r.State != job.Done {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}
