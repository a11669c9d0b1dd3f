package modeltest

import "fmt"

// created is when all answers were made, as the API says it: seconds since 1970.
const created = 1796083200

func streamOpenAI(req *Request, step Step) [][]byte {
	var out [][]byte
	chunk := func(choices []object, usage any) {
		data := object{"id": fmt.Sprintf("chatcmpl-%d", req.N), "object": "chat.completion.chunk", "created": created,
			"model": modelOf(req, step), "choices": choices}
		if req.AskedUsage && !step.NoUsage {
			data["usage"] = usage
		}
		out = append(out, fmt.Appendf(nil, "data: %s\n\n", marshal(data)))
	}
	delta := func(d object) { chunk([]object{{"index": 0, "delta": d, "finish_reason": nil}}, nil) }
	delta(object{"role": "assistant", "content": ""})
	for _, p := range pieces(step.Text) {
		delta(object{"content": p})
	}
	for i, c := range step.Calls {
		delta(object{"tool_calls": []object{{"index": i, "id": c.id(OpenAI, req.N, i), "type": "function",
			"function": object{"name": c.Name, "arguments": ""}}}})
		for _, p := range pieces(c.input()) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}})
		}
	}
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": finish(step)}}, nil)
	if req.AskedUsage && !step.NoUsage {
		chunk([]object{}, usageOpenAI(req, step))
	}
	return append(out, []byte("data: [DONE]\n\n"))
}

func wholeOpenAI(req *Request, step Step) object {
	message := object{"role": "assistant", "content": step.Text}
	var calls []object
	for i, c := range step.Calls {
		calls = append(calls, object{"id": c.id(OpenAI, req.N, i), "type": "function", "function": object{"name": c.Name, "arguments": c.input()}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	out := object{"id": fmt.Sprintf("chatcmpl-%d", req.N), "object": "chat.completion", "created": created, "model": modelOf(req, step),
		"choices": []object{{"index": 0, "message": message, "finish_reason": finish(step)}}}
	if !step.NoUsage {
		out["usage"] = usageOpenAI(req, step)
	}
	return out
}

func usageOpenAI(req *Request, step Step) object {
	u := used(req, step)
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return object{"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead}}
}

func finish(step Step) string {
	switch {
	case step.Stop == Length:
		return "length"
	case step.Stop == Refused:
		return "content_filter"
	case step.Stop != "":
		return step.Stop
	case len(step.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}
