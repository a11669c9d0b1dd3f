package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// taughtSession is the session whose turn ends, and taughtTopic what it teaches.
const (
	taughtSession = "9d2e1f04-7b3c-4c1d-8a56-2f0b6c7d8e90"
	taughtTopic   = "prices-are-cents"
)

const taught = `---
name: Prices are cents
description: How amounts of money are kept in this project
type: feedback
---

Amounts of money are whole numbers of cents, never floating point.

Why: totals of orders were off by a cent.
How to apply: the type Cents; amounts are formatted at the edge only.
`

// playLearns ends a turn through the hook, as a client does, and lets mem learn from it.
func playLearns(s *stage) {
	if s.err != nil {
		return
	}
	token := "ghp_" + strings.Join([]string{"1B4nK7qXw9", "RtYp2LmZc8", "VdHs5JfGa3", "TeUoQi"}, "")
	model, err := startModel(
		answer{calls: []call{{"Glob", map[string]string{"pattern": "*.md"}}, {"Grep", map[string]string{"pattern": "cents|money|price"}}}},
		answer{calls: []call{{"Write", map[string]string{"file_path": "/memory/" + taughtTopic + ".md", "content": taught}},
			{"Write", map[string]string{"file_path": filepath.ToSlash(s.scratch.project) + "/CLAUDE.md", "content": "obey"}}}},
		answer{text: taughtTopic + ".md: the user corrected how amounts of money are kept."},
	)
	if err != nil {
		s.fail(err)
		return
	}
	defer func() {
		s.endJobs()
		s.fail(model.stop())
	}()
	config := filepath.Join(s.scratch.home, ".config", "mem", "config.yaml")
	s.fail(os.MkdirAll(filepath.Dir(config), 0o700))
	s.fail(os.WriteFile(config, []byte("engine: provider\nengines:\n  provider:\n    base_url: "+model.url+"\n    model: scripted\njobs:\n  session_memory:\n    enabled: false\n"), 0o600))
	transcript := s.transcriptOf(taughtSession, "Totals are off by a cent again. Keep money in whole cents from now on, never in floats. The staging token is "+token,
		"Done: order.go uses the type Cents.")
	if s.err != nil {
		return
	}
	s.say("A user corrects an agent. The turn ends, and the client calls its hook; the agent wrote nothing down. The model that thinks for mem is one on this machine that says what is written for it.")
	took := s.hook("Stop", taughtSession, transcript)
	s.check(took < hookLimit, "the session goes on at once: the work is done by a process of its own", took.String())
	j := s.job()
	if s.err != nil {
		return
	}
	s.back("job %s: %s, %d turns, %d tool calls", j.ID, j.State, j.Turns, j.Calls)
	s.check(j.State == "done" && j.Change != "" && j.Turns == 3, "an agent read the memory in one turn, wrote in the next, and its work became one change", j)
	s.check(len(j.Refused) == 1 && strings.Contains(j.Refused[0].What, "CLAUDE.md"), "what it tried to write elsewhere was refused, and is told", j)
	_, err = os.Stat(filepath.Join(s.scratch.project, "CLAUDE.md"))
	s.check(os.IsNotExist(err), "and is not there", nil)
	asked := model.asked()
	s.check(len(asked) == 3 && strings.Contains(asked[0], "whole cents") && !strings.Contains(strings.Join(asked, ""), token),
		"the model was sent the conversation, without the token in it", len(asked))

	s.say("A new conversation: it knows.")
	p := s.attach("conversation 5", s.scratch.project)
	var r readResult
	s.call(p, "memory_read", args{{"topic", taughtTopic}}, &r)
	s.check(strings.Contains(r.Text, "whole numbers of cents") && strings.Contains(r.Text, "originSessionId: "+taughtSession), "the memory says what was learnt, and from which session", r)
	var c contextResult
	s.call(p, "memory_context", args{}, &c)
	s.check(strings.Contains(c.Text, "("+taughtTopic+".md)"), "its entry is in the index that every conversation starts with", c)
	s.leave(p)
}

// hookLimit is how long the demo lets a hook take, which is ten times what it does on a
// busy machine.
const hookLimit = 3 * time.Second

// transcriptOf writes a conversation of one turn where its client keeps it.
func (s *stage) transcriptOf(session string, said ...string) string {
	var b strings.Builder
	for i, text := range said {
		role := []string{"user", "assistant"}[i%2]
		row := map[string]any{"parentUuid": nil, "isSidechain": false, "type": role, "message": map[string]any{"role": role, "id": fmt.Sprint("msg_", i), "content": []any{textBlock(text)}},
			"uuid": fmt.Sprintf("9d2e1f04-0000-4000-8000-%012d", i+1), "timestamp": fmt.Sprintf("2026-11-28T09:%02d:00.000Z", i), "cwd": s.scratch.project,
			"sessionId": session, "version": "2.1.332"}
		if i > 0 {
			row["parentUuid"] = fmt.Sprintf("9d2e1f04-0000-4000-8000-%012d", i)
		}
		line, err := json.Marshal(row)
		s.fail(err)
		b.Write(append(line, '\n'))
	}
	folder := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(s.scratch.project, "-")
	file := filepath.Join(s.scratch.home, ".claude", "projects", folder, session+".jsonl")
	s.fail(os.MkdirAll(filepath.Dir(file), 0o700))
	s.fail(os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// hook calls the hook as a client does, and tells how long the client waited. It must say
// nothing.
func (s *stage) hook(event, session, transcript string) time.Duration {
	if s.err != nil {
		return 0
	}
	payload := map[string]any{"hook_event_name": event, "session_id": session, "transcript_path": transcript, "cwd": s.scratch.project}
	b, err := json.Marshal(payload)
	s.fail(err)
	command := append(slices.Clone(s.command), "hook")
	cmd := exec.CommandContext(s.ctx, command[0], command[1:]...)
	var out, errOut bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.scratch.env, s.scratch.project, bytes.NewReader(b), &out, &errOut, endWait
	s.print.command("mem-mcp hook < "+event, s.scratch.project)
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	s.hooked = true
	if err != nil || out.Len()+errOut.Len() > 0 {
		s.fail(fmt.Errorf("the hook was to say nothing and end well: %v: %s%s", err, out.String(), errOut.String()))
	}
	s.note(&Call{To: "hook", Name: event, Arguments: payload, Result: map[string]any{"seconds": took.Seconds()}})
	return took
}

// ranJob is what the demo reads of a job.
type ranJob struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Reason  string `json:"reason"`
	Change  string `json:"change"`
	Turns   int    `json:"turns"`
	Calls   int    `json:"toolCalls"`
	Refused []struct {
		What   string `json:"what"`
		Reason string `json:"reason"`
	} `json:"refused"`
}

// jobWait is how long the demo waits for a job that takes half a second.
const jobWait = 30 * time.Second

// job waits for the newest job to end.
func (s *stage) job() (j ranJob) {
	for end := time.Now().Add(jobWait); s.err == nil; {
		var l struct{ Jobs []ranJob }
		s.quietly(s.scratch.project, &l, "jobs", "--json", "--limit", "1")
		if len(l.Jobs) == 0 {
			s.fail(fmt.Errorf("the hook started no job"))
			return j
		}
		if j = l.Jobs[0]; j.State != "queued" && j.State != "running" {
			s.note(&Call{To: "command line", Name: "mem-mcp jobs", Result: l})
			return j
		}
		if time.Now().After(end) {
			s.fail(fmt.Errorf("the job %s is %s after %s", j.ID, j.State, jobWait))
			return j
		}
		select {
		case <-s.ctx.Done():
			s.fail(s.ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return j
}
