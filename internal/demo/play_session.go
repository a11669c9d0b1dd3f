package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// leftSession is the session that another client left: it called two tools at once, and
// its process died while it wrote the last row.
const leftSession = "7c1e5b52-4a0d-4f3e-9d57-0c5f2f6f3a10"

// rowID is the id of its n-th row.
func rowID(n int) string { return fmt.Sprintf("7c1e5b52-0000-4000-8000-%012d", n) }

// leftRows are the rows of its transcript, as a client writes them: one for each block of
// an answer, each result behind its own call, so that the two calls branch.
func leftRows(dir, token string) string {
	said := []struct {
		parent     int
		role, id   string
		block      any
		answerFrom int
	}{
		{0, "user", "", textBlock("Why is checkout slow since Monday? The token for the metrics is " + token), 0},
		{1, "assistant", "msg_1", callBlock("tool_1", "Read", map[string]string{"file_path": "checkout.go"}), 0},
		{2, "assistant", "msg_1", callBlock("tool_2", "Read", map[string]string{"file_path": "tax.go"}), 0},
		{2, "user", "", resultBlock("tool_1", "calls tax.Rate for each line of the order"), 2},
		{3, "user", "", resultBlock("tool_2", "Rate asks the tax service, without a cache"), 3},
		{4, "assistant", "msg_2", textBlock("Each line of an order asks the tax service anew: cache the rates for a minute."), 0},
	}
	var b strings.Builder
	for i, s := range said {
		message := map[string]any{"role": s.role, "content": []any{s.block}}
		if s.id != "" {
			message["id"] = s.id
		}
		row := map[string]any{"parentUuid": nil, "isSidechain": false, "type": s.role, "message": message, "uuid": rowID(i + 1),
			"timestamp": fmt.Sprintf("2026-11-27T09:%02d:00.000Z", i), "cwd": dir, "sessionId": leftSession, "version": "2.1.332", "gitBranch": "main"}
		if s.parent > 0 {
			row["parentUuid"] = rowID(s.parent)
		}
		if s.answerFrom > 0 {
			row["sourceToolAssistantUUID"] = rowID(s.answerFrom)
		}
		line, err := json.Marshal(row)
		if err != nil {
			return "" // maps of strings always encode
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String() + `{"type":"user","message":{"role":"user","content":"And if a ra`
}

func textBlock(s string) any { return map[string]string{"type": "text", "text": s} }

func callBlock(id, name string, input map[string]string) any {
	return map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}
}

func resultBlock(id, s string) any {
	return map[string]string{"type": "tool_result", "tool_use_id": id, "content": s}
}

// playSession takes up what another client left.
func playSession(s *stage) {
	if s.err != nil {
		return
	}
	token := "ghp_" + strings.Join([]string{"1B4nK7qXw9", "RtYp2LmZc8", "VdHs5JfGa3", "TeUoQi"}, "")
	folder := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(s.scratch.project, "-")
	file := filepath.Join(s.scratch.home, ".claude", "projects", folder, leftSession+".jsonl")
	rows := leftRows(s.scratch.project, token)
	s.say("On Friday somebody asked an agent in a terminal; its process died in the middle of a row. Another agent looks what there is.")
	s.fail(os.MkdirAll(filepath.Dir(file), 0o700))
	s.fail(os.WriteFile(file, []byte(rows), 0o600))

	var l sessionList
	s.call(s.conversation, "transcript_list", args{}, &l)
	if s.err == nil && len(l.Sessions) == 1 {
		s.back("%s, %d turns: %s", l.Sessions[0].Session, l.Sessions[0].Turns, l.Sessions[0].FirstPrompt)
	}
	s.check(len(l.Sessions) == 1 && l.Sessions[0].Session == leftSession && l.Sessions[0].Turns == 1, "the session is found by what its records say", l)

	var f saidResult
	s.call(s.conversation, "transcript_search", args{{"query", "slow checkouts tax"}}, &f)
	holds := len(f.Hits) > 0 && f.Hits[0].Session == leftSession
	if s.err == nil && holds {
		s.back("%d hits; first: %s", f.Total, firstSentence(f.Hits[0].Snippet))
	}
	s.check(holds, "search finds what was said in it", f)

	var r resumed
	s.call(s.conversation, "transcript_resume", args{{"session", "latest"}, {"format", "messages"}}, &r)
	if s.err != nil {
		return
	}
	var order []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			order = append(order, m.Role+" "+b.Type)
		}
	}
	s.show(order...)
	s.check(strings.Join(order, ", ") == "user text, assistant tool_use, assistant tool_use, user tool_result, user tool_result, assistant text",
		"the conversation is whole: both results of tools that ran at once are back in their places", order)
	s.check(r.ResumePoint == rowID(6), "it ends where the client would go on", r.ResumePoint)
	s.check(strings.Contains(r.Problems, "truncated") || strings.Contains(r.Problems, "cut"), "the row that was cut is left out, and told: "+r.Problems, r.Problems)
	s.check(!strings.Contains(inFull(r), token) && r.Secrets == 1, "the token that it holds is not shown", r)
	now, err := os.ReadFile(file)
	s.fail(err)
	s.check(string(now) == rows, "the client's file is as it was, byte for byte", nil)

	s.say("A client that keeps no transcripts records its own, and an agent in a new process takes it up.")
	var a recorded
	s.call(s.conversation, "transcript_append", args{{"title", "Caching tax rates"}, {"entries", []map[string]string{
		{"role": "user", "text": "Cache the tax rates for a minute."}, {"role": "assistant", "text": "Done: rates.go keeps them by country."}}}}, &a)
	p := s.attach("conversation 4", s.scratch.project)
	var again resumed
	s.call(p, "transcript_resume", args{{"session", a.Session}}, &again)
	s.check(len(a.UUIDs) == 2 && strings.Contains(again.Text, "rates.go keeps them by country"), "it knows what was said", again)
	s.leave(p)
}
