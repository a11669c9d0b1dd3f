package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mem/core/memdir"
)

// Entry is one message of a conversation, as a client that keeps no transcript tells
// it. It travels as JSON; other keys than these are refused.
type Entry struct {
	// Role is "user", "assistant", or "summary": what a compaction kept of everything
	// before, which is dropped when the session is resumed.
	Role string `json:"role"`
	// Text is the message where it is only text.
	Text string `json:"text,omitempty"`
	// Content is the message as content blocks of the API, in the place of Text.
	Content json.RawMessage `json:"content,omitempty"`
	Model   string          `json:"model,omitempty"`     // that answered
	Time    string          `json:"timestamp,omitempty"` // RFC 3339; the time of recording where it is empty
}

// ParseEntries reads entries, one or an array of them. An unknown key is an error that
// names it.
func ParseEntries(data []byte) ([]Entry, error) {
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '{' {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var list []Entry
	if err := d.Decode(&list); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return nil, fmt.Errorf("an entry has no key %s; the keys are role, text, content, model and timestamp", memdir.Shown(name, 100))
		}
		return nil, fmt.Errorf("the entries are not as they should be: %w", err)
	}
	if d.More() {
		return nil, errors.New("something follows the entries; give one array")
	}
	return list, nil
}

// recordRow is a row of the minimal form that clients load, its keys in the order in
// which they write them.
type recordRow struct {
	Parent    *string `json:"parentUuid"`
	Logical   *string `json:"logicalParentUuid,omitempty"`
	Sidechain bool    `json:"isSidechain"`
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype,omitempty"`
	Content   string  `json:"content,omitempty"` // of a system row
	Message   any     `json:"message,omitempty"`
	Summary   bool    `json:"isCompactSummary,omitempty"`
	Only      bool    `json:"isVisibleInTranscriptOnly,omitempty"`
	Compact   any     `json:"compactMetadata,omitempty"`
	UUID      string  `json:"uuid"`
	Timestamp string  `json:"timestamp"`
	Cwd       string  `json:"cwd"`
	Session   string  `json:"sessionId"`
	Version   string  `json:"version"`
	Branch    string  `json:"gitBranch,omitempty"`
}

type titleRow struct {
	Type    string `json:"type"`
	Title   string `json:"customTitle"`
	Session string `json:"sessionId"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type userMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type assistantMessage struct {
	ID           string   `json:"id"`
	Type         string   `json:"type"`
	Role         string   `json:"role"`
	Model        string   `json:"model"`
	Content      any      `json:"content"`
	StopReason   *string  `json:"stop_reason"`
	StopSequence *string  `json:"stop_sequence"`
	Usage        struct{} `json:"usage"`
}

// line is the row as it is written, below a parent.
func (r *pendingRow) line(parent string) ([]byte, error) {
	f := r.fields
	if parent != "" {
		if f.Subtype == "compact_boundary" {
			f.Logical = &parent // a boundary begins a new tree
		} else {
			f.Parent = &parent
		}
	}
	line, err := marshal(f)
	if err == nil && len(line) > MaxRow {
		err = fmt.Errorf("a row of %d bytes is longer than %d; shorten the message", len(line), MaxRow)
	}
	return line, err
}

// marshal writes JSON on one line as clients do: without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// timestamp is a time as the client writes it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// entry turns an entry into rows: one for each content block, as the client does, which
// an answer's message.id joins.
func (w *recorder) entry(e Entry) error {
	at := w.now
	if e.Time != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, e.Time); err != nil {
			return fmt.Errorf("timestamp %s is no time; write it like 2026-11-30T11:42:25Z", memdir.ShownName(e.Time))
		}
		if at.Year() < 1970 || at.Year() > 9999 {
			return fmt.Errorf("timestamp %s is out of bounds", memdir.ShownName(e.Time))
		}
	}
	if len(e.Model) > 200 {
		return errors.New("model is too long")
	}
	blocks, err := w.blocks(e)
	if err != nil {
		return err
	}
	base := recordRow{Timestamp: timestamp(at), Cwd: w.in.Cwd, Session: w.in.Session, Version: w.in.Version, Branch: w.in.Branch}
	switch e.Role {
	case "user":
		for _, b := range groupUser(blocks) {
			base.Type, base.Message = "user", userMessage{"user", b}
			if err := w.add(base); err != nil {
				return err
			}
		}
	case "assistant":
		id, err := w.newUUID()
		if err != nil {
			return err
		}
		id = "msg_" + strings.ReplaceAll(id, "-", "")
		for _, b := range blocks {
			base.Type, base.Message = "assistant", assistantMessage{ID: id, Type: "message", Role: "assistant", Model: e.Model, Content: []json.RawMessage{b}}
			if err := w.add(base); err != nil {
				return err
			}
		}
	case "summary":
		boundary := base
		boundary.Type, boundary.Subtype, boundary.Content = "system", "compact_boundary", "Conversation compacted"
		boundary.Compact = map[string]string{"trigger": "manual"}
		if err := w.add(boundary); err != nil {
			return err
		}
		base.Type, base.Message, base.Summary, base.Only = "user", userMessage{"user", blocks}, true, true
		return w.add(base)
	}
	return nil
}

// groupUser gives the contents of the rows of a user message: each result of a tool
// has one, and the rest has one together.
func groupUser(blocks []json.RawMessage) []any {
	var rows []any
	var words []json.RawMessage
	for _, b := range blocks {
		if blockType(b) == "tool_result" {
			rows = append(rows, []json.RawMessage{b})
		} else {
			words = append(words, b)
		}
	}
	if len(words) > 0 {
		rows = append(rows, words)
	}
	return rows
}

func blockType(b json.RawMessage) string {
	var t struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(b, &t) // checked before
	return t.Type
}

func (w *recorder) add(f recordRow) error {
	uuid, err := w.newUUID()
	if err != nil {
		return err
	}
	f.UUID = uuid
	r := pendingRow{uuid: uuid, fields: f}
	if _, err := r.line(uuid); err != nil { // as long as it will be
		return err
	}
	w.rows = append(w.rows, r)
	return nil
}

// blocks checks the message of an entry and gives its content blocks, secrets taken out.
func (w *recorder) blocks(e Entry) ([]json.RawMessage, error) {
	switch e.Role {
	case "user", "assistant", "summary":
	case "":
		return nil, errors.New("role is missing; it is user, assistant or summary")
	default:
		return nil, fmt.Errorf("role %s is none of user, assistant and summary", memdir.ShownName(e.Role))
	}
	content := bytes.TrimSpace(e.Content)
	if len(content) > 0 && content[0] == '"' { // as the API takes it
		if e.Text != "" {
			return nil, errors.New("give text or content, not both")
		}
		if err := json.Unmarshal(content, &e.Text); err != nil {
			return nil, fmt.Errorf("content: %w", err)
		}
		content = nil
	}
	switch {
	case len(content) == 0 && strings.TrimSpace(e.Text) == "":
		return nil, errors.New("there is neither text nor content")
	case len(content) > 0 && e.Text != "":
		return nil, errors.New("give text or content, not both")
	case len(content) > MaxRow || len(e.Text) > MaxRow:
		return nil, fmt.Errorf("the message is longer than %d bytes; shorten it", MaxRow)
	}
	w.text = 0
	if len(content) == 0 {
		b, err := marshal(textBlock{"text", e.Text})
		if err != nil {
			return nil, err
		}
		content = slices.Concat([]byte("["), b, []byte("]"))
	}
	var list []json.RawMessage
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, errors.New("content is no array of content blocks, and no text")
	}
	if len(list) == 0 {
		return nil, errors.New("content is empty")
	}
	for i, b := range list {
		if err := checkBlock(e.Role, b); err != nil {
			return nil, fmt.Errorf("content block %d: %w", i+1, err)
		}
		clean, err := w.redactBlock(b)
		if err != nil {
			return nil, fmt.Errorf("content block %d: %w", i+1, err)
		}
		list[i] = clean
	}
	return list, nil
}

// checkBlock asks of a content block what a client that resumes the session relies on.
// Types that we do not know pass as they are.
func checkBlock(role string, b json.RawMessage) error {
	var block struct {
		Type  *string         `json:"type"`
		Text  *string         `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
		Of    string          `json:"tool_use_id"`
	}
	if err := json.Unmarshal(b, &block); err != nil {
		return fmt.Errorf("it is not as it should be: %w", err)
	}
	if block.Type == nil || *block.Type == "" {
		return errors.New("it has no type")
	}
	only := func(want string) error {
		if role != want {
			return fmt.Errorf("%s stands in messages of the %s only", *block.Type, want)
		}
		return nil
	}
	switch *block.Type {
	case "text":
		if block.Text == nil {
			return errors.New("text is missing")
		}
	case "tool_use":
		if block.ID == "" || block.Name == "" || len(block.Input) == 0 || block.Input[0] != '{' {
			return errors.New("tool_use needs id, name, and an object as input")
		}
		return only("assistant")
	case "thinking", "redacted_thinking":
		return only("assistant")
	case "tool_result":
		if block.Of == "" {
			return errors.New("tool_result needs tool_use_id")
		}
		return only("user")
	}
	return nil
}
