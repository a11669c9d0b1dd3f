package tools

import (
	"encoding/json"
	"errors"
	"fmt"

	"mem/core/agentmem"
)

// What an agent is told to do next about a snapshot, in calls of its own tools: what the
// core says names the command line, which many agents do not have.

// snapshotNext says which calls there are for a state; "" where nothing is to do.
func snapshotNext(st *agentmem.Status) string {
	var conflict, removed string
	free := st.MoreFiles > 0
	for _, f := range st.Files {
		switch {
		case len(f.Parts) > 0:
			conflict = first(conflict, f.Path)
		case f.Team == "removed":
			removed = first(removed, f.Path)
		case f.Team != "":
			free = true
		}
	}
	switch {
	case st.State == agentmem.StateNone && st.Topics > 0, st.State == agentmem.StateAhead:
		return "Next: snapshot_publish shows what the team would get."
	case st.Action == agentmem.ActionInitialize:
		return "Next: snapshot_pull copies it."
	case st.Action != agentmem.ActionPromptUpdate:
		return ""
	case st.Older:
		return "Next: nothing, unless a single topic of it is wanted: snapshot_pull with take."
	}
	s := "Next:"
	if free || conflict == "" && removed == "" {
		s += " snapshot_pull with apply takes what neither conflicts nor deletes."
	}
	if conflict != "" {
		s += fmt.Sprintf(" snapshot_pull with take %s keeps both texts; theirs, mine or skip in place of both.", taking(conflict, agentmem.TakeBoth))
	}
	if removed != "" {
		s += fmt.Sprintf(" snapshot_pull with take %s removes it here as well; skip keeps it.", taking(removed, agentmem.TakeTheirs))
	}
	return s
}

func first(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// taking writes the argument take for one topic.
func taking(path string, choice agentmem.Choice) string {
	b, err := json.Marshal([]agentmem.Wish{{Path: path, Choice: choice}})
	if err != nil {
		return "" // strings only: it cannot fail
	}
	return string(b)
}

// teamError adds to an error about a snapshot the call that goes on from it.
func teamError(err error) error {
	var pull *agentmem.PullFirstError
	var invalid *agentmem.InvalidError
	var older *agentmem.OlderError
	switch {
	case errors.As(err, &pull):
		return fmt.Errorf("%w. With the tools: snapshot_pull shows both texts, and with take %s it decides", err, taking(pull.Conflicts[0].Path, agentmem.TakeBoth))
	case errors.As(err, &invalid):
		for _, p := range invalid.Problems {
			if p.Kind != agentmem.ProblemContent {
				return err
			}
		}
		return fmt.Errorf("%w. With the tools: snapshot_pull with apply and take %s takes the rest", err, taking(invalid.Problems[0].Path, agentmem.Skip))
	case errors.As(err, &older):
		return fmt.Errorf("%w. With the tools: snapshot_pull with take, and without apply, takes single topics", err)
	}
	return err
}
