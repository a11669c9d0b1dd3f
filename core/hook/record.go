package hook

import (
	"context"

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
	if !records(t) {
		return
	}
	t.Transcript = ""
	if !c.Memory.Config.Hooks.RecordTurns {
		return
	}
	var entries []transcript.Entry
	switch t.Event {
	case Prompt:
		if !answersTogether(t.Client) && t.Prompt != "" {
			entries = append(entries, transcript.Entry{Role: "user", Text: t.Prompt})
		}
	case Stop:
		if answersTogether(t.Client) && t.Prompt != "" {
			entries = append(entries, transcript.Entry{Role: "user", Text: t.Prompt})
		}
		if t.Answer != "" {
			entries = append(entries, transcript.Entry{Role: "assistant", Text: t.Answer})
		}
	}
	if len(entries) == 0 {
		return
	}
	if err := transcript.ValidID(t.Session); err != nil {
		out.note("the turn is not recorded: %v", err)
		return
	}
	s := sessions.Open(c.Memory, sessions.Options{Version: h.Version})
	r, err := s.Append(ctx, sessions.AppendOptions{Session: t.Session, Client: t.Client.Name, Entries: entries})
	if err != nil {
		out.note("%v", err)
	}
	if r != nil {
		t.Transcript = r.Path
	}
	if err := s.Close(); err != nil {
		out.note("%v", err)
	}
}

// answersTogether reports whether the end of a turn tells the prompt, too.
func answersTogether(c Client) bool { return c.Name == "gemini-cli" }
