package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/transcript"
	"mem/core/work"
)

// Params are those of the record of an extraction that a host does.
type Params struct {
	Version    int             `json:"v"`
	Transcript string          `json:"transcript,omitempty"`
	Leaf       transcript.UUID `json:"leaf"` // up to where the session is looked at
}

// Queue has a session wait for a host: its record is offered to the next conversation. A
// session waits once; what came since is added to what waits.
func Queue(h *work.House, w Waiting, leaf transcript.UUID, by, why string) (*job.Record, error) {
	p, err := json.Marshal(Params{Version: 1, Transcript: w.Transcript, Leaf: leaf})
	if err != nil {
		return nil, err
	}
	open, err := h.Jobs.List(job.ListOptions{Kind: job.Extract, Open: true})
	if err != nil {
		return nil, err
	}
	for _, r := range open {
		if r.State == job.Queued && r.Session == w.Session {
			return h.Jobs.Update(r.ID, func(r *job.Record) error {
				if r.State != job.Queued {
					return fmt.Errorf("the job %s was taken up meanwhile", r.ID)
				}
				r.Params = p
				return nil
			})
		}
	}
	return h.Jobs.Create(job.Record{Kind: job.Extract, State: job.Queued, By: by, Session: w.Session, Params: p, Why: why})
}

// Handed is a job in the hands of a host.
type Handed struct {
	Job     string `json:"job"`
	Session string `json:"session"`
	Prompt  string `json:"prompt"`
}

// Hand gives a queued job to a host: the calling agent. own is the session that it is in
// itself. What it hands back is checked against the memory as it is now.
func Hand(ctx context.Context, h *work.House, id, own string) (*Handed, error) {
	m := h.Memory
	r, err := h.Jobs.Get(id)
	if err != nil {
		return nil, err
	}
	if r.Kind != job.Extract {
		return nil, fmt.Errorf("the job %s is no extraction but one of the kind %s", r.ID, r.Kind)
	}
	if r.State != job.Queued && r.State != job.Waiting {
		return nil, fmt.Errorf("the job %s is %s; only one that waits for a host can be taken up", r.ID, r.State)
	}
	manifest, err := m.Manifest(ctx)
	if err != nil {
		return nil, err
	}
	log := ""
	if m.DailyLog() {
		log = memdir.LogPath(m.Env().Time())
	}
	s, err := stage.Make(ctx, m, stage.Options{Job: r.ID, Origin: r.Session, LogOnly: log})
	if err != nil {
		return nil, err
	}
	if err := s.Keep(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	prompt := hostInstruction(r.ID, r.Session, r.Session == own, log, manifest, m.Env().Time())
	if _, err := h.Jobs.Update(r.ID, func(r *job.Record) error {
		r.State, r.Engine, r.Started = job.Waiting, "host", m.Env().Time()
		return nil
	}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Handed{Job: r.ID, Session: r.Session, Prompt: prompt}, nil
}

// Finish moves the cursor of the session that a host looked at, once what it handed back
// is stored.
func Finish(h *work.House, r *job.Record) error {
	var p Params
	if err := json.Unmarshal(r.Params, &p); err != nil || p.Version != 1 {
		return fmt.Errorf("the parameters of the job %s cannot be read; its session will be looked at again", r.ID)
	}
	return stateOf(h.Memory.StateDirectory()).setCursor(Cursor{Session: r.Session, Leaf: p.Leaf, Time: h.Memory.Env().Time(), By: r.ID})
}
