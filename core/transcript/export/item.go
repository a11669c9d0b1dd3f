package export

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// kind is what an item is.
type kind uint8

const (
	user kind = iota
	client
	assistant
	thinking
	tool
	orphan // a result without its call
	attachment
	notice
	summary
	failure
	unread
)

// item is what is written at one place, ready to be escaped.
type item struct {
	kind  kind
	at    time.Time
	line  int
	model string
	name  string
	text  string
	image *picture
	id    string // of a call
	input string // of a call: its arguments
	about string // the one that says most
	// Of a call: what came of it.
	answered, failed bool
	results          []item
	size             int // characters of the results
}

// picture is an image that a page can hold.
type picture struct{ media, data string }

// maxPicture is the longest image that a page holds, as base64.
const maxPicture = 4 << 20

// texts are all texts of a message that are shown.
func texts(m *transcript.Message) []string {
	var out []string
	var add func([]transcript.Block)
	add = func(list []transcript.Block) {
		for i := range list {
			b := &list[i]
			out = append(out, b.Text, b.Name)
			if b.Input != nil {
				out = append(append(out, string(b.Input)), shown.Strings(b.Input)...)
			}
			if b.Text == "" && b.Type != "image" && b.Type != "tool_result" && b.Type != "tool_use" {
				out = append(append(out, string(b.Raw)), shown.Strings(b.Raw)...)
			}
			add(b.Blocks)
		}
	}
	add(m.Content)
	return append(out, m.Subtype)
}

// exchange makes the items of an answer with its results, or of a prompt.
func (j *job) exchange(s Source, loader *transcript.Loader, rows []int, dirty map[int]bool) ([]item, error) {
	var out []item
	calls := map[string]int{} // where the call with an id stands in out
	for m, err := range loader.Load(j.ctx, rows) {
		if j.ctx.Err() != nil {
			return nil, j.ctx.Err()
		}
		j.step()
		if err != nil {
			j.res.Unreadable++
			out = append(out, item{kind: unread, line: m.Line})
			continue
		}
		c := cleaner{job: j, dirty: dirty[m.Row]}
		for _, it := range c.items(&m, s.Transcript.Rows.At(m.Row).Kind) {
			if it.kind == orphan {
				if at, ok := calls[it.id]; ok && !out[at].answered {
					call := &out[at]
					call.answered, call.failed, call.results, call.size = true, it.failed, it.results, it.size
					continue
				}
			}
			out = append(out, it)
			if it.kind == tool {
				if at, ok := calls[it.id]; !ok || out[at].answered {
					calls[it.id] = len(out) - 1
				}
			}
		}
	}
	return out, nil
}

// cleaner takes the secrets out of one message.
type cleaner struct {
	*job
	dirty bool // it holds some; otherwise only those known from elsewhere are looked for
}

func (c cleaner) text(s string) string {
	s, gone := c.cut(s)
	if gone > 0 {
		c.res.Shortened++
		c.res.Characters += gone
	}
	return s
}

func (c cleaner) cut(s string) (string, int) {
	if c.dirty || len(s) > c.o.MaxText/6 {
		return c.red.Shorten(s, c.o.MaxText)
	}
	return c.red.Again(s), 0
}

func (c cleaner) json(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if !c.dirty && len(raw) <= c.o.MaxText/6 {
		return c.red.AgainJSON(raw)
	}
	raw, gone := c.red.JSON(raw, c.o.MaxText)
	if gone > 0 {
		c.res.Shortened++
		c.res.Characters += gone
	}
	return raw
}

// modelOf is the name of a model, without secrets; most answers are of the one before.
func (j *job) modelOf(name string) string {
	if name != j.model[0] {
		j.model = [2]string{name, shown.Line(j.red.Text(name), 60)}
	}
	return j.model[1]
}

// items takes a message apart.
func (c cleaner) items(m *transcript.Message, k transcript.Kind) []item {
	base := item{at: m.Timestamp, line: m.Line, model: c.modelOf(m.Model)}
	switch {
	case k == transcript.Boundary:
		return nil
	case k == transcript.System || k == transcript.Attachment:
		var parts []string
		for i := range m.Content {
			parts = append(parts, m.Content[i].Text)
		}
		text := strings.Join(parts, "\n")
		if !c.o.Attachments || strings.TrimSpace(text) == "" {
			c.res.Attachments++
			return nil
		}
		base.kind = notice
		if k == transcript.Attachment {
			base.kind = attachment
		}
		base.name, base.text = shown.Line(c.text(m.Subtype), 80), c.text(text)
		return []item{base}
	case k == transcript.Collapse || m.Flags.Has(transcript.FlagCompactSummary):
		base.kind = summary
	case m.Flags.Has(transcript.FlagAPIError):
		base.kind = failure
	case k == transcript.Assistant:
		base.kind = assistant
	case m.Flags.Has(transcript.FlagMeta):
		base.kind = client
	}
	var out []item
	for i := range m.Content {
		if it, ok := c.block(base, &m.Content[i]); ok {
			out = append(out, it)
		}
	}
	return out
}

func (c cleaner) block(it item, b *transcript.Block) (item, bool) {
	switch b.Type {
	case "text":
		it.text = c.text(b.Text)
	case "thinking":
		it.kind, it.text = thinking, c.text(b.Text)
	case "redacted_thinking":
		it.kind, it.text = thinking, "(encrypted by the API)"
	case "tool_use", "server_tool_use", "mcp_tool_use":
		it.kind, it.id = tool, b.ID
		in := c.json(b.Input)
		it.name, it.about, it.input = shown.Line(c.text(b.Name), 120), argument(in), c.text(arguments(in))
		return it, true
	case "tool_result":
		it.kind, it.id, it.failed = orphan, b.ID, b.IsError
		parts := b.Blocks
		if len(parts) == 0 && b.Text != "" {
			parts = []transcript.Block{{Type: "text", Text: b.Text}}
		}
		for i := range parts {
			p := item{}
			if parts[i].Type != "tool_result" { // never nested
				p, _ = c.block(p, &parts[i])
			}
			p.kind = assistant
			it.size += len([]rune(parts[i].Text))
			it.results = append(it.results, p)
		}
		return it, true
	case "image":
		if it.image = pictureOf(b); it.image == nil {
			it.text = "(an image of " + shown.Count(len(b.Raw), "byte", "bytes") + ")"
		}
		return it, true
	case "document":
		it.text = "(a document of " + shown.Count(len(b.Raw), "byte", "bytes") + ")"
	default:
		it.text = c.text(readable(c.json(b.Raw)))
	}
	return it, strings.TrimSpace(it.text) != ""
}

// pictureOf gives an image whose bytes the record holds, in a type that browsers
// take as an image and nothing else.
func pictureOf(b *transcript.Block) *picture {
	var raw struct {
		Source struct {
			Type      string `json:"type"`
			MediaType string `json:"media_type"`
			Data      string `json:"data"`
		} `json:"source"`
	}
	if len(b.Raw) > maxPicture || json.Unmarshal(b.Raw, &raw) != nil || raw.Source.Type != "base64" {
		return nil
	}
	switch raw.Source.MediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return nil
	}
	if raw.Source.Data == "" {
		return nil
	}
	if _, err := base64.StdEncoding.DecodeString(raw.Source.Data); err != nil {
		return nil
	}
	return &picture{media: raw.Source.MediaType, data: strings.NewReplacer("\n", "", "\r", "").Replace(raw.Source.Data)}
}

// head says what the conversation is.
func (j *job) head(s Source, prompts []prompt, more int) head {
	t := s.Transcript
	text := func(v string, most int) string { return shown.Line(j.red.Text(v), most) }
	h := head{title: text(t.Title, 200), turns: prompts, more: more}
	if h.title == "" {
		h.title = text(t.FirstPrompt, 100)
	}
	if h.title == "" {
		h.title = "Session " + text(t.Session, 100)
	}
	fact := func(what, v string) {
		if v != "" {
			h.facts = append(h.facts, [2]string{what, v})
		}
	}
	fact("Session", text(t.Session, 100))
	fact("Subagent", text(t.Agent, 100))
	if n := len(t.Cwds); n > 0 {
		fact("Directory", text(t.Cwds[n-1], 400))
	}
	fact("Branch", text(t.Branch, 200))
	fact("Model", text(t.Model, 100))
	fact("Client", text(t.Version, 60))
	if !t.Start.IsZero() {
		fact("Time", t.Start.UTC().Format("2006-01-02 15:04")+" to "+t.End.UTC().Format("2006-01-02 15:04")+" UTC")
	}
	fact("Compacted", timesWords(j.res.Compactions))
	for i, a := range j.o.Subagents {
		if i == maxSubagents {
			break
		}
		title := a.Title
		if title == "" {
			title = a.ID
		}
		h.agents = append(h.agents, text(title, 120))
	}
	return h
}

func timesWords(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "once"
	}
	return shown.Number(n) + " times"
}

// closing says what was written and what was not, in words.
func closing(r *Result) []string {
	v := r.Coverage
	words := []string{
		shown.Count(r.Turns, "turn", "turns") + " in " + shown.Count(r.Rows, "record", "records") + ". The file has " +
			shown.Count(v.Records, "record", "records") + ", " + shown.Number(v.Messages) + " of messages: " + shown.Number(v.OnChain) +
			" on the chain that a client would resume, " + shown.Number(v.Compacted) + " compacted before it, " +
			shown.Number(v.Sidechain) + " of subagents, " + shown.Number(v.Unreachable) + " unreachable.",
	}
	reasons := map[transcript.Reason]string{
		transcript.OffBranch: "on another branch, as after a rewind", transcript.Detached: "below another beginning", transcript.InCycle: "in a cycle",
	}
	for _, u := range v.Why {
		words = append(words, "Unreachable, "+reasons[u.Reason]+": "+shown.Count(u.Count, "record", "records")+lineWords(u.Lines)+".")
	}
	add := func(n int, one, more, rest string) {
		if n > 0 {
			words = append(words, shown.Count(n, one, more)+rest)
		}
	}
	add(r.Attachments, "attachment or notice of the client is", "attachments and notices of the client are", " left out.")
	add(r.Shortened, "long text is", "long texts are", " shortened, by "+shown.Count(r.Characters, "character", "characters")+".")
	add(r.Unreadable, "record", "records", " cannot be read.")
	add(r.Secrets, "secret is", "secrets are", " not shown.")
	if r.Problems != "" {
		words = append(words, "Problems of the file: "+r.Problems)
	}
	return append(words, r.Failed...)
}

func lineWords(lines []uint32) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" (lines")
	for i, n := range lines {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + shown.Number(int(n)))
	}
	b.WriteString(" and so on)")
	s := b.String()
	if len(lines) < 20 {
		s = strings.TrimSuffix(s, " and so on)") + ")"
	}
	return s
}
