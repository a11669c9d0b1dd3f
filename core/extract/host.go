package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"mem/core/fork/stage"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/proposal"
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
// session waits once; what came since is added to what waits, unless a host has it already.
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
		switch {
		case r.Session != w.Session || len(r.Params) == 0: // without them it is one for a process
		case r.State == job.Waiting:
			return r, nil
		case r.State == job.Queued && r.Process == 0:
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
	if (r.State != job.Queued || r.Process != 0 || len(r.Params) == 0) && r.State != job.Waiting {
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
	// What was handed out before is void: this one begins from the memory as it is now.
	if old, err := stage.Open(ctx, m, r.ID); err == nil {
		if err := old.Close(); err != nil {
			return nil, err
		}
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

// Leave has a session wait for the next conversation, since somebody asked for it and
// nobody else thinks. Where nothing is to be looked at it gives why instead.
func Leave(ctx context.Context, h *work.House, session, path, by string) (*job.Record, *Served, error) {
	r, _, idle, err := leave(ctx, h, session, path, by)
	return r, idle, err
}

func leave(ctx context.Context, h *work.House, session, path, by string) (*job.Record, transcript.UUID, *Served, error) {
	w := Waiting{Session: session, Transcript: path}
	v, err := look(ctx, h, w)
	if err != nil {
		return nil, transcript.UUID{}, nil, err
	}
	fresh, leaf := len(v.fresh), v.chain.ResumePoint(v.t)
	v.src.Close()
	if fresh == 0 {
		return nil, leaf, &Served{Session: session, Gate: "nothing-new", Reason: "nothing was said since the last run"}, nil
	}
	r, err := Queue(h, w, leaf, by, "the calling agent does it")
	return r, leaf, nil, err
}

// ForHost gives a session to a host that asked for it: its new part is looked at by the
// calling agent. Where nothing is to be looked at it gives why instead.
func ForHost(ctx context.Context, h *work.House, session, path string, own bool) (*Handed, *Served, error) {
	r, leaf, idle, err := leave(ctx, h, session, path, "tool")
	if err != nil || idle != nil {
		return nil, idle, err
	}
	mine := ""
	if own {
		mine = session
	}
	handed, err := Hand(ctx, h, r.ID, mine)
	if err != nil {
		return nil, nil, err
	}
	// What it is handed now reaches to the end of the session.
	p, err := json.Marshal(Params{Version: 1, Transcript: path, Leaf: leaf})
	if err != nil {
		return nil, nil, err
	}
	_, err = h.Jobs.Update(r.ID, func(r *job.Record) error { r.Params = p; return nil })
	return handed, nil, err
}

// Finish is the Finisher of extractions: once what the host handed back is settled, the
// cursor of the session moves.
func Finish(ctx context.Context, m *memory.Memory, r job.Record, s proposal.Submitted) (*proposal.Finished, error) {
	var p Params
	if err := json.Unmarshal(r.Params, &p); err != nil || p.Version != 1 {
		return nil, fmt.Errorf("the parameters of the job %s cannot be read; cancel it and start it anew", r.ID)
	}
	out, err := proposal.Finish(ctx, m, r, s)
	if err != nil {
		return nil, err
	}
	st := stateOf(m.StateDirectory())
	if err := errors.Join(st.setCursor(Cursor{Session: r.Session, Leaf: p.Leaf, Time: m.Env().Time(), By: r.ID}), st.setTurns(r.Session, 0)); err != nil {
		// It is stored: to fail here would have it submitted twice.
		out.Notes = append(out.Notes, fmt.Sprintf("the session will be looked at again: %v", err))
	}
	return out, nil
}
