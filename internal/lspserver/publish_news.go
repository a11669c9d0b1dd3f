package lspserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"mem/core/agentmem"
	"mem/core/memdir"
)

// The answers to a publish that is shown.
const (
	answerPublish = "Publish"
	answerDiff    = "Show the difference"
	answerCancel  = "Cancel"
)

// publishNews shows what would go to the team and publishes it once somebody said so. The
// snapshot is written on disk, not by the editor: its files and snapshot.json have to
// come in order. The question is asked beside the request, since a person may take long.
func (s *server) publishNews(ctx context.Context, x *side, path, _ string) (any, error) {
	if name := x.unsaved(); name != "" {
		return nil, fmt.Errorf("%s is not saved, and what is on disk would be published: save it first", shown(name))
	}
	o := agentmem.PublishOptions{}
	if path != "" {
		o.Only = []string{path}
	}
	would, err := x.Publish(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(would.Files) == 0 {
		s.message(protocol.MessageTypeInfo, published(would))
		return nil, nil
	}
	s.running.Go(func() {
		if err := s.confirmed(s.ctx, x, o, would); err != nil && s.ctx.Err() == nil {
			s.message(protocol.MessageTypeError, "Nothing was published: "+memdir.Shown(err.Error(), 1_000))
		}
	})
	return nil, nil
}

// confirmed asks until there is an answer, and publishes what was shown. Every client may be
// asked: what a client announces of questions is only what they may hold, and eglot, which
// asks, announces nothing.
func (s *server) confirmed(ctx context.Context, x *side, o agentmem.PublishOptions, would *agentmem.Published) error {
	for {
		answer, err := s.client.ShowMessageRequest(ctx, &protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: published(would),
			Actions: []protocol.MessageActionItem{{Title: answerPublish}, {Title: answerDiff}, {Title: answerCancel}}})
		if err != nil {
			return fmt.Errorf("this editor did not ask whether to publish (%w), and nothing is published unseen: mem-mcp snapshot publish %s shows it and asks", err, x.Agent)
		}
		switch {
		case answer == nil || answer.Title == answerCancel:
			return nil
		case answer.Title == answerDiff:
			if _, err := s.show(ctx, x, madeUp{title: "publish", text: would.Diff}); err != nil {
				return err
			}
			continue
		case answer.Title != answerPublish:
			return fmt.Errorf("the editor answers %.80q, which was not asked", answer.Title)
		}
		now, err := x.Publish(ctx, o)
		if err != nil {
			return err
		}
		if now.Diff != would.Diff || !slices.Equal(now.Files, would.Files) {
			would = now // it is shown again: something else would be published
			continue
		}
		o.Confirm = true
		done, err := x.Publish(ctx, o)
		if err != nil {
			return err
		}
		s.message(protocol.MessageTypeInfo, published(done))
		s.sharedChanged(x)
		return nil
	}
}

func published(p *agentmem.Published) string {
	lines := p.Words()
	if n := len(lines); n > maxLines {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more", n-maxLines))
	}
	for i := range lines {
		lines[i] = memdir.Shown(lines[i], 500)
	}
	return strings.Join(lines, "\n")
}
