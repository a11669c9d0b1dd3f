package deliver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	callName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// invalid says why the Messages API would refuse messages, "" when it would not.
// They are looked at as JSON, as it would get them.
func invalid(messages []APIMessage) string {
	b, err := json.Marshal(messages)
	if err != nil {
		return err.Error()
	}
	var ms []struct {
		Role    string           `json:"role"`
		Content []map[string]any `json:"content"`
	}
	if err := json.Unmarshal(b, &ms); err != nil {
		return err.Error()
	}
	ids := map[string]bool{}
	var open []string // ids of the last message's calls
	for i, m := range ms {
		if m.Role != []string{"user", "assistant"}[i%2] {
			return fmt.Sprintf("message %d has the role %q", i, m.Role)
		}
		if len(m.Content) == 0 {
			return fmt.Sprintf("message %d is empty", i)
		}
		answered := map[string]bool{}
		var calls []string
		others := false
		for k, c := range m.Content {
			where := fmt.Sprintf("message %d, block %d (%v): ", i, k, c["type"])
			switch c["type"] {
			case "text":
				if why := badText(c); why != "" {
					return where + why
				}
				others = true
			case "image", "document":
				if m.Role != "user" {
					return where + "in an answer"
				}
				if why := badSource(c); why != "" {
					return where + why
				}
				others = true
			case "thinking", "redacted_thinking":
				if m.Role != "assistant" || k == len(m.Content)-1 {
					return where + "where it may not be"
				}
				if c["type"] == "thinking" && (c["signature"] == nil || c["signature"] == "") {
					return where + "unsigned"
				}
				if c["type"] == "redacted_thinking" && c["data"] == nil {
					return where + "without data"
				}
			case "tool_use":
				id, _ := c["id"].(string)
				name, _ := c["name"].(string)
				_, object := c["input"].(map[string]any)
				if m.Role != "assistant" || !callID.MatchString(id) || ids[id] || !callName.MatchString(name) || !object {
					return where + fmt.Sprintf("bad call %v", c)
				}
				ids[id] = true
				calls = append(calls, id)
			case "tool_result":
				id, _ := c["tool_use_id"].(string)
				if m.Role != "user" || others {
					return where + "not first"
				}
				if answered[id] || !strings.Contains(" "+strings.Join(open, " ")+" ", " "+id+" ") {
					return where + "answers no call"
				}
				answered[id] = true
				list, _ := c["content"].([]any)
				for _, p := range list {
					part := p.(map[string]any)
					if part["type"] == "text" {
						if why := badText(part); why != "" {
							return where + why
						}
					} else if why := badSource(part); why != "" {
						return where + why
					}
				}
			default:
				return where + "an unknown type"
			}
		}
		for _, id := range open {
			if !answered[id] {
				return fmt.Sprintf("message %d: the call %s has no result", i, id)
			}
		}
		open = calls
	}
	if len(open) > 0 {
		return "the last message has calls without results"
	}
	if n := len(ms); n > 0 && ms[n-1].Role == "assistant" {
		last := ms[n-1].Content[len(ms[n-1].Content)-1]
		if s, _ := last["text"].(string); strings.TrimSpace(s) == "" || strings.TrimRight(s, " \n\t") != s {
			return "the last answer ends with white space"
		}
	}
	return ""
}

func badText(c map[string]any) string {
	s, _ := c["text"].(string)
	if strings.TrimSpace(s) == "" {
		return "without text"
	}
	if !utf8.ValidString(s) {
		return "no UTF-8"
	}
	return ""
}

func badSource(c map[string]any) string {
	src, _ := c["source"].(map[string]any)
	if src["type"] != "base64" || src["media_type"] == "" || src["data"] == "" {
		return fmt.Sprintf("bad source %v", src)
	}
	return ""
}
