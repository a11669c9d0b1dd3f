package agentmem

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/project"
)

// Overview is the state of the snapshots of a project.
type Overview struct {
	Snapshots string    `json:"snapshots"` // the folder that holds them
	Agents    []*Status `json:"agents"`
	// MoreAgents are in sync or without a snapshot and not listed.
	MoreAgents int      `json:"moreAgents,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// lookers is how many agents are looked at at a time; their files are read from disk.
const lookers = 4

// Overlook gives the state of one agent's snapshot, or of all that the project has, those that
// need somebody first. With several, their files are not listed.
func Overlook(ctx context.Context, o memory.Options, p project.Project, agent string, most int) (*Overview, error) {
	out := &Overview{Snapshots: Folder(p), Agents: []*Status{}}
	if agent != "" {
		st, err := lookAt(ctx, o, agent)
		if err != nil {
			return nil, err
		}
		out.Agents = append(out.Agents, st)
		if st.State == StateNone && st.Topics == 0 {
			out.Notes = append(out.Notes, whoIsThere(ctx, p))
		}
		return out, nil
	}
	names, notes, err := Agents(p)
	if err != nil {
		return nil, err
	}
	out.Notes = few(notes)
	if len(names) == 0 {
		out.Notes = append(out.Notes, howToStart(ctx, p))
	}
	all, failed := make([]*Status, len(names)), make([]error, len(names))
	var group sync.WaitGroup
	next := make(chan int)
	for range min(lookers, len(names)) {
		group.Go(func() {
			for i := range next {
				all[i], failed[i] = lookAt(ctx, o, names[i])
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	group.Wait()
	for _, urgent := range []bool{true, false} {
		for i, st := range all {
			if failed[i] != nil {
				if urgent {
					if errors.Is(failed[i], context.Canceled) {
						return nil, failed[i]
					}
					out.Notes = append(out.Notes, memdir.Shown(fmt.Sprintf("%s: %v", names[i], failed[i]), 500))
				}
				continue
			}
			if needs := st.State == StateInvalid || st.Action != ActionNone; needs != urgent {
				continue
			}
			st.MoreFiles += len(st.Files)
			st.Files = []FileStatus{}
			if most > 0 && len(out.Agents) >= most {
				out.MoreAgents++
				continue
			}
			out.Agents = append(out.Agents, st)
		}
	}
	return out, nil
}

// whoIsThere says which agents there are, to whoever asked for one that has nothing.
func whoIsThere(ctx context.Context, p project.Project) string {
	names, _, err := Agents(p)
	if err == nil && len(names) > 0 {
		return "Agents with a project memory or a snapshot here: " + listed(names) + "."
	}
	return "No agent has a project memory or a snapshot here. " + howToStart(ctx, p)
}

// howToStart says how an agent gets a memory, and which agents are meant to have one.
func howToStart(ctx context.Context, p project.Project) string {
	top := Checkout(p)
	defined, _ := definitionsIn(ctx, top, filepath.Join(top, clientFolder)) // memory_stores tells what cannot be read of them
	var names []string
	for _, d := range defined {
		if d.Scope == memdir.ScopeProject && d.Folder != "" && !slices.Contains(names, d.Folder) {
			names = append(names, d.Folder)
		}
	}
	slices.Sort(names)
	s := "The first write to agent/NAME/project makes one."
	if len(names) > 0 {
		s += " Agents that are defined with a memory of the project: " + listed(names) + "."
	}
	return s
}

func listed(names []string) string {
	if n := len(names) - maxNotes; n > 0 {
		return strings.Join(names[:maxNotes], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

func lookAt(ctx context.Context, o memory.Options, agent string) (st *Status, err error) {
	s, err := Open(o, agent)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Status(ctx)
}
