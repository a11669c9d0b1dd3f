package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// stage is what scenes play on. Its error is sticky: once a claim has failed,
// calls give empty results and nothing more is shown or checked.
type stage struct {
	ctx     context.Context
	scratch *scratch
	report  *Report
	print   *printer
	step    *Step
	err     error

	running []*process
	editors []*editor
	// memory is the memory directory of the project, conversation the server
	// that stays attached to it from the second conversation on.
	memory       string
	conversation *process
	command      []string
	// longMemory is the memory directory whose index is too long.
	longMemory     string
	languageServer []string // starts mem-lsp; empty where there is none
	// hooked says that a hook ran, which may have started a process.
	hooked bool
}

// args are the arguments of a call, in the order in which they are shown.
type args []arg

type arg struct {
	name  string
	value any
}

func (a args) object() map[string]any {
	m := map[string]any{}
	for _, x := range a {
		m[x.name] = x.value
	}
	return m
}

// say tells what happens now.
func (s *stage) say(format string, a ...any) {
	if s.err == nil {
		s.print.say(fmt.Sprintf(format, a...))
	}
}

// back shows what came back, or what is on disk.
func (s *stage) back(format string, a ...any) {
	if s.err == nil {
		s.print.back(fmt.Sprintf(format, a...))
	}
}

// show prints lines of a file or a listing.
func (s *stage) show(lines ...string) {
	if s.err != nil {
		return
	}
	s.step.Shown = append(s.step.Shown, lines...)
	for _, l := range lines {
		s.print.line(l)
	}
}

// check holds a claim against what happened. got is what the reader needs to
// see when it fails.
func (s *stage) check(holds bool, claim string, got any) {
	if s.err != nil {
		return
	}
	if !holds {
		s.print.broken(claim)
		s.err = fmt.Errorf("this should hold but does not: %s; got %s", claim, inFull(got))
		return
	}
	s.report.Checks++
	s.step.Checks = append(s.step.Checks, claim)
	s.print.held(claim)
}

func inFull(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// fail ends the demo for another reason than a claim.
func (s *stage) fail(err error) {
	if s.err == nil && err != nil {
		s.err = err
	}
}

// attach starts a server for the project in dir, as a client does that starts
// a conversation.
func (s *stage) attach(label, dir string) *process {
	if s.err != nil {
		return nil
	}
	command := append(slices.Clone(s.command), "serve")
	p, err := start(s.ctx, label, command, s.scratch.env, dir)
	if err != nil {
		s.fail(err)
		return nil
	}
	s.running = append(s.running, p)
	s.report.Servers++
	info, err := p.initialize(s.ctx)
	if err != nil {
		s.fail(err)
		return nil
	}
	s.note(&Call{To: label, Name: "initialize", Result: map[string]any{"protocolVersion": info.ProtocolVersion, "serverInfo": info.ServerInfo}})
	if info.ProtocolVersion != protocolVersion {
		s.fail(fmt.Errorf("%s speaks protocol %q, asked for %q", label, info.ProtocolVersion, protocolVersion))
	}
	return p
}

// leave ends a conversation: its server ends too.
func (s *stage) leave(p *process) {
	if s.err != nil {
		return
	}
	s.running = slices.DeleteFunc(s.running, func(x *process) bool { return x == p })
	s.fail(p.stop())
}

// stopAll ends every server that still runs.
func (s *stage) stopAll() error {
	var err error
	for _, p := range s.running {
		if stopErr := p.stop(); stopErr != nil && s.err == nil {
			err = errors.Join(err, stopErr) // after a failure it is a consequence
		}
	}
	for _, e := range s.editors {
		if stopErr := e.stop(); stopErr != nil && s.err == nil {
			err = errors.Join(err, stopErr)
		}
	}
	s.running, s.editors = nil, nil
	return err
}

func (s *stage) note(c *Call) {
	s.step.Calls = append(s.step.Calls, c)
	s.report.Calls++
}

// call calls a tool that must succeed, and decodes its structured result.
func (s *stage) call(p *process, name string, a args, into any) {
	if r := s.raw(p, name, a); r != nil {
		if r.IsError {
			s.fail(fmt.Errorf("%s failed: %s", name, texts(r)))
			return
		}
		s.decode(name, r, into)
	}
}

// refused calls a tool that must not succeed, and gives what it says.
func (s *stage) refused(p *process, name string, a args) problem {
	var out problem
	if r := s.raw(p, name, a); r != nil {
		if !r.IsError {
			s.fail(fmt.Errorf("%s was to be refused, but succeeded: %s", name, texts(r)))
			return out
		}
		s.decode(name, r, &out)
	}
	return out
}

func (s *stage) raw(p *process, name string, a args) *toolResult {
	if s.err != nil {
		return nil
	}
	s.print.call(p.label, name, a)
	r, err := p.tool(s.ctx, name, a.object())
	if err != nil {
		s.fail(err)
		return nil
	}
	s.note(&Call{To: p.label, Name: name, Arguments: a.object(), IsError: r.IsError, Result: r.StructuredContent})
	return &r
}

func (s *stage) decode(name string, r *toolResult, into any) {
	if len(r.StructuredContent) == 0 {
		s.fail(fmt.Errorf("%s gave no structured content", name))
		return
	}
	if err := json.Unmarshal(r.StructuredContent, into); err != nil {
		s.fail(fmt.Errorf("reading what %s gave: %w", name, err))
	}
}

func texts(r *toolResult) string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, " ")
}

// run runs a command of mem-mcp in dir and decodes the JSON it prints.
func (s *stage) run(dir string, into any, arguments ...string) {
	if s.err != nil {
		return
	}
	name := "mem-mcp " + strings.Join(arguments, " ")
	s.print.command(name, dir)
	if out := s.quietly(dir, into, arguments...); out != nil {
		s.note(&Call{To: "command line", Name: name, Result: json.RawMessage(out)})
	}
}

// quietly runs a command without showing it.
func (s *stage) quietly(dir string, into any, arguments ...string) []byte {
	if s.err != nil {
		return nil
	}
	out, err := s.output(s.ctx, dir, arguments...)
	if err == nil {
		if err = json.Unmarshal(out, into); err != nil {
			err = fmt.Errorf("reading what mem-mcp %s printed: %w", strings.Join(arguments, " "), err)
		}
	}
	if err != nil {
		s.fail(err)
		return nil
	}
	return out
}

func (s *stage) output(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	command := append(slices.Clone(s.command), arguments...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var out, errOut bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.scratch.env, dir, &out, &errOut, endWait
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("mem-mcp %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(errOut.String()))
	}
	return out.Bytes(), nil
}

// endJobs ends what a hook started and waits until it is over, also where the demo was
// told to stop.
func (s *stage) endJobs() {
	if !s.hooked {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), endWait)
	defer cancel()
	for ctx.Err() == nil {
		var l struct {
			Jobs []struct{ ID, State string }
		}
		out, err := s.output(ctx, s.scratch.project, "jobs", "--open", "--json")
		if err != nil || json.Unmarshal(out, &l) != nil || len(l.Jobs) == 0 {
			break // there is nothing more that can be ended
		}
		for _, j := range l.Jobs {
			_, _ = s.output(ctx, s.scratch.project, "jobs", "cancel", j.ID) // it may just be over
		}
	}
	s.hooked = false
}
