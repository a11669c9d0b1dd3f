package modeltest

import (
	"encoding/json"
	"fmt"
)

// signature stands on what the scripted model thinks.
const signature = "c2lnbmVkIGJ5IHRoZSBzY3JpcHQ="

func streamAnthropic(req *Request, step Step) [][]byte {
	var out [][]byte
	event := func(name string, data object) {
		data["type"] = name
		out = append(out, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, marshal(data)))
	}
	message := wholeAnthropic(req, step)
	usage := message["usage"].(object)
	total := usage["output_tokens"]
	usage["output_tokens"] = 1
	content := message["content"].([]object)
	stop := message["stop_reason"]
	message["content"], message["stop_reason"] = []object{}, nil
	event("message_start", object{"message": message})
	event("ping", object{})
	for i, b := range content {
		start, deltas := object{"type": b["type"]}, []object{}
		switch b["type"] {
		case "text":
			start["text"] = ""
			for _, p := range pieces(b["text"].(string)) {
				deltas = append(deltas, object{"type": "text_delta", "text": p})
			}
		case "thinking":
			start["thinking"], start["signature"] = "", ""
			for _, p := range pieces(b["thinking"].(string)) {
				deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
			}
			deltas = append(deltas, object{"type": "signature_delta", "signature": b["signature"]})
		case "tool_use":
			start["id"], start["name"], start["input"] = b["id"], b["name"], object{}
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": ""})
			for _, p := range pieces(b["sent"].(string)) {
				deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
			}
		}
		event("content_block_start", object{"index": i, "content_block": start})
		for _, d := range deltas {
			event("content_block_delta", object{"index": i, "delta": d})
		}
		event("content_block_stop", object{"index": i})
	}
	event("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": total}})
	event("message_stop", object{})
	return out
}

func wholeAnthropic(req *Request, step Step) object {
	content := []object{}
	if step.Thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": step.Thinking, "signature": signature})
	}
	if step.Text != "" {
		content = append(content, object{"type": "text", "text": step.Text})
	}
	for i, c := range step.Calls {
		b := object{"type": "tool_use", "id": c.id(Anthropic, req.N, i), "name": c.Name}
		if in := json.RawMessage(c.input()); req.Stream || !json.Valid(in) {
			b["sent"], b["input"] = c.input(), object{}
		} else {
			b["input"] = in
		}
		content = append(content, b)
	}
	stop := "end_turn"
	switch {
	case step.Stop == Length:
		stop = "max_tokens"
	case step.Stop == Refused:
		stop = "refusal"
	case step.Stop != "":
		stop = step.Stop
	case len(step.Calls) > 0:
		stop = "tool_use"
	}
	usage := object{"input_tokens": 0, "output_tokens": 0}
	if !step.NoUsage {
		u := used(req, step)
		usage = object{"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}
	}
	return object{
		"id": fmt.Sprintf("msg_%d", req.N), "type": "message", "role": "assistant", "model": modelOf(req, step),
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
}
