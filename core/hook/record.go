package hook

import (
	"context"
	"os"

	"mem/core/sessions"
	"mem/core/transcript"
)

// records reports whether turns of a client are recorded: of one whose transcripts mem
// does not read, or that gave none.
func records(t *Turn) bool {
	return !t.Client.Reads || t.Transcript == ""
}

// record keeps what a payload tells of a conversation that has no transcript which mem
// reads. From then on the recorded session is the transcript.
func (h *Hook) record(ctx context.Context, c Case, out *Outcome) {
	t := c.Turn
	if !records(t) || t.Event != Prompt && t.Event != Stop && len(checks[t.Event]) == 0 {
		return
	}
	path, err := transcript.RecordedPath(h.Env, c.Memory.Location.Directory, t.Session)
	if err != nil {
		path = ""
	}
	t.Transcript = ""
	defer func() {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			t.Transcript = path
		}
	}()
	if !c.Memory.Config.Hooks.RecordTurns || c.Asked {
		return
	}
	entries := told(t)
	if len(entries) == 0 {
		return
	}
	if err != nil {
		out.note("the turn is not recorded: %v", err)
		return
	}
	s := sessions.Open(c.Memory, sessions.Options{Version: h.Version})
	if _, err := s.Append(ctx, sessions.AppendOptions{Session: t.Session, Client: t.Client.Name, Entries: entries}); err != nil {
		out.note("%v", err)
	}
	if err := s.Close(); err != nil {
		out.note("%v", err)
	}
}

// told is what a payload tells of the conversation.
func told(t *Turn) []transcript.Entry {
	var entries []transcript.Entry
	if t.Prompt != "" && (t.Event == Stop) == t.Client.Together {
		entries = append(entries, transcript.Entry{Role: "user", Text: t.Prompt})
	}
	if t.Event == Stop && t.Answer != "" {
		entries = append(entries, transcript.Entry{Role: "assistant", Text: t.Answer})
	}
	return entries
}
