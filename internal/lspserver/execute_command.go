package lspserver

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/diagnostics"
)

// The commands. The first argument of each is the URI of a memory directory, the second
// a file in it, the third a part of that.
const (
	commandStatus  = "mem.snapshot.status"
	commandReview  = "mem.snapshot.review"
	commandTakeAll = "mem.snapshot.takeAll"
	commandPublish = "mem.snapshot." + string(diagnostics.Publish)
	commandKeep    = "mem.snapshot." + string(diagnostics.KeepMine)
	commandSkip    = "mem.snapshot." + string(diagnostics.SkipNews)
	commandDiff    = "mem.snapshot." + string(diagnostics.ShowDiff)
)

var commands = map[string]func(s *server, ctx context.Context, x *side, path, part string) (any, error){
	commandStatus:  (*server).tellStatus,
	commandReview:  (*server).openReview,
	commandTakeAll: (*server).takeAll,
	commandPublish: (*server).publishNews,
	commandKeep:    (*server).keepMine,
	commandSkip:    (*server).skipNews,
	commandDiff:    (*server).openReview,
}

func announceCommands(_ *features, c *protocol.ServerCapabilities) {
	o := protocol.ExecuteCommandOptions{}
	for name := range commands {
		o.Commands = append(o.Commands, name)
	}
	sort.Strings(o.Commands)
	c.ExecuteCommandProvider = o
}

// executeCommand does what a lens or an action stands for.
func (s *server) executeCommand(ctx context.Context, docs *documents, p *protocol.ExecuteCommandParams) (any, error) {
	do := commands[p.Command]
	if do == nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("there is no command %.80q", p.Command))
	}
	var args [3]string
	for i, raw := range p.Arguments {
		var v protocol.String
		if i >= len(args) || protocol.Unmarshal(raw, &v) != nil {
			return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("the arguments of %s are at most three texts", p.Command))
		}
		args[i] = string(v)
	}
	x, err := s.sideOf(docs, args[0])
	if err != nil {
		return nil, err
	}
	if x.first && p.Command != commandStatus && p.Command != commandPublish {
		return nil, fmt.Errorf("the team has nothing of %s yet: publish it first", x.Agent)
	}
	return do(s, ctx, x, args[1], args[2])
}

// commandOf gives the command that an offer without a change stands for.
func commandOf(dir string, c diagnostics.Command, o diagnostics.Offer) (protocol.Command, error) {
	path, part := diagnostics.PartOf(o.Arg)
	out := protocol.Command{Title: o.Title, Command: "mem.snapshot." + string(c)}
	for _, v := range []string{string(uri.File(dir)), path, part} {
		raw, err := protocol.Marshal(protocol.String(v))
		if err != nil {
			return out, err
		}
		out.Arguments = append(out.Arguments, raw)
	}
	return out, nil
}

// tellStatus says how both sides stand to each other, file by file.
func (s *server) tellStatus(ctx context.Context, x *side, _, _ string) (any, error) {
	r, err := x.review(ctx)
	if err != nil {
		return nil, err
	}
	lines := statusLines(r)
	held, err := r.FirstHeld(ctx)
	if err != nil {
		return nil, err
	}
	for i, h := range held {
		if len(lines) >= maxLines {
			lines = append(lines, fmt.Sprintf("and %d more held back", len(held)-i))
			break
		}
		lines = append(lines, "- a publish would hold back: "+h.Words(x.Agent))
	}
	s.message(protocol.MessageTypeInfo, strings.Join(lines, "\n"))
	return nil, nil
}

// maxLines bounds what a message lists.
const maxLines = 20

func statusLines(r *agentmem.Review) []string {
	st := r.Status
	lines := []string{memdir.Shown(st.Words(), 500)}
	if st.UpdatedAt != "" {
		line := "The snapshot is of " + st.UpdatedAt
		if st.Author != "" {
			line += ", by " + st.Author
		}
		lines = append(lines, line+".")
	}
	if st.State == agentmem.StateInvalid {
		for _, p := range st.Problems {
			lines = append(lines, "- "+memdir.Shown(p.String(), 300))
		}
	}
	for _, f := range st.Files {
		lines = append(lines, "- "+f.Words())
	}
	for _, n := range st.Notes {
		lines = append(lines, memdir.Shown(n, 300))
	}
	if n := len(lines); n > maxLines {
		lines = append(lines[:maxLines], fmt.Sprintf("and %d more", n-maxLines))
	}
	return lines
}

// keepMine remembers that what is here stays.
func (s *server) keepMine(ctx context.Context, x *side, path, part string) (any, error) {
	return nil, s.decide(ctx, x, agentmem.Wish{Path: path, Part: part, Choice: agentmem.TakeMine})
}

// skipNews remembers that this version of the team's is not wanted.
func (s *server) skipNews(ctx context.Context, x *side, path, _ string) (any, error) {
	return nil, s.decide(ctx, x, agentmem.Wish{Path: path, Choice: agentmem.Skip})
}

func (s *server) decide(ctx context.Context, x *side, w agentmem.Wish) error {
	if err := x.Decide(ctx, w); err != nil {
		return err
	}
	s.sharedChanged(x)
	return nil
}

// takeAll takes all that neither conflicts with anything here nor deletes something. The
// editor makes the change, so that it can be looked at, undone and saved there. A memory
// that does not exist yet is copied: there is nothing open in it.
func (s *server) takeAll(ctx context.Context, x *side, _, _ string) (any, error) {
	r, err := x.review(ctx)
	if err != nil {
		return nil, err
	}
	if r.Status.State == agentmem.StateInitialize && len(x.docs.in(x.store)) == 0 {
		done, err := x.Pull(ctx, agentmem.PullOptions{Apply: true})
		if err != nil {
			return nil, err
		}
		s.message(protocol.MessageTypeInfo, fmt.Sprintf("%s copied to %s. mem-mcp undo takes it back.", count(len(done.Files), "file"), shown(x.Store)))
		s.sharedChanged(x)
		return nil, nil
	}
	c, err := r.Take(ctx, "*", "", agentmem.TakeTheirs)
	if err != nil {
		return nil, err
	}
	if c.Empty() {
		s.message(protocol.MessageTypeInfo, "There is nothing to take that conflicts with nothing: "+memdir.Shown(r.Status.Words(), 500))
		return nil, nil
	}
	if err := s.guarded(c); err != nil {
		return nil, err
	}
	if !s.features.applyEdit {
		return nil, fmt.Errorf("this editor does not let a server edit: mem-mcp snapshot pull %s --apply takes it", x.Agent)
	}
	edit, err := s.workspaceEdit(x.docs, x.store, c)
	if err != nil {
		return nil, err
	}
	done, err := s.client.ApplyEdit(ctx, &protocol.ApplyWorkspaceEditParams{Label: ptr("Take the team's news for " + x.Agent), Edit: *edit})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the editor did not take the news: %w", err)
	case done == nil || !done.Applied:
		why := "it gives no reason"
		if done != nil && done.FailureReason != nil {
			why = memdir.Shown(*done.FailureReason, 300)
		}
		return nil, fmt.Errorf("the editor did not take the news: %s", why)
	}
	s.sharedChanged(x)
	return nil, nil
}
