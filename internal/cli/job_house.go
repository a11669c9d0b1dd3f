package cli

import (
	"mem/core/engine"
	"mem/core/job"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/work"
)

// house is what the jobs of a memory share, in a process that no client talks to: nobody
// samples here, and what is left to a host waits for the next conversation.
func (a *app) house(m *memory.Memory, jobs *job.Jobs) *work.House {
	return &work.House{
		Memory: m, Jobs: jobs, Proposals: proposal.Of(m),
		Choose: func(automatic bool) engine.Choice {
			return engine.Choose(a.env, m.Config, engine.Have{Host: true}, automatic)
		},
	}
}
