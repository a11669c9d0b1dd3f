package memory

import (
	"context"
	"fmt"
	"strings"

	"mem/core/memdir"
)

// Manifest is the list of topics that an agent gets which is to write memory, so that
// it improves what is there instead of writing a second one.
type Manifest struct {
	Text    string // one line a topic, newest first, fenced as data
	Topics  int    // listed
	LeftOut int    // the longest untouched, by the scan's limit or for want of room
}

// maxManifest is what it may weigh: 200 topics with descriptions of 150 characters.
const maxManifest = 60_000

// Manifest lists the topics as the seed's scan sees them: the newest ones, by what their
// first lines say.
func (m *Memory) Manifest(ctx context.Context) (*Manifest, error) {
	v, _, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	seen, leftOut := v.Scan(m.Config.Limits.ScanTopics)
	out := &Manifest{LeftOut: leftOut}
	var b strings.Builder
	room := maxManifest
	for i, s := range seen {
		line := fmt.Sprintf("- [%s] %s (%s): %s\n", orNone(memdir.Shown(s.Meta.Type, maxType)), memdir.ShownName(s.Path),
			s.ModTime.Format("2006-01-02"), memdir.Shown(s.Meta.Description, m.Config.Limits.EntryLength))
		w, _ := weight(line)
		if w > room {
			out.LeftOut += len(seen) - i
			break
		}
		room -= w
		b.WriteString(line)
		out.Topics++
	}
	out.Text = "There is no topic yet."
	if out.Topics > 0 {
		redacted, _ := m.scanner.Redact([]byte(b.String()))
		out.Text = fence("memory topics", string(redacted))
	}
	return out, nil
}
