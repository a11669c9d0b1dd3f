package extract

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"mem/core/transcript"
)

// fileTools are the tools of clients that write a file, with the argument that names it.
var fileTools = map[string][]string{
	"Write": {"file_path"}, "Edit": {"file_path"}, "MultiEdit": {"file_path"}, "Update": {"file_path"},
	"write_file": {"path", "file_path"}, "edit_file": {"path", "file_path"}, "create_file": {"path", "filePath"},
	"replace": {"file_path"}, "str_replace_based_edit_tool": {"path"}, "apply_patch": {"path"},
}

// ownTools are our tools that write what is worth keeping. Those that mend or take back do
// not count: they say nothing of the conversation.
var ownTools = map[string]bool{"memory_write": true, "memory_edit": true, "memory_log": true, "memory_delete": true, "memory_move": true}

// wroteMemory reports whether the main agent wrote memory itself in these rows of a
// transcript: with a file tool of its client, in one of dirs, or with one of our tools. A
// call that failed does not count.
func wroteMemory(ctx context.Context, src io.ReaderAt, t *transcript.Transcript, rows []int, dirs []string) (string, error) {
	var look []int
	for _, i := range rows {
		if r := t.Rows.At(i); r.Flags.Has(transcript.FlagToolUse) || r.Flags.Has(transcript.FlagToolResult) {
			look = append(look, i)
		}
	}
	calls := map[string]string{} // id of a call that writes memory → what it is
	var order []string
	for m, err := range transcript.Load(ctx, src, t, look) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			continue // the reader of the transcript tells of it
		}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				if what := memoryCall(b.Name, b.Input, m.Cwd, dirs); what != "" {
					calls[b.ID] = what
					order = append(order, b.ID)
				}
			case "tool_result":
				if b.IsError {
					delete(calls, b.ID)
				}
			}
		}
	}
	for _, id := range order {
		if what, ok := calls[id]; ok {
			return what, nil
		}
	}
	return "", nil
}

// memoryCall says what a call writes to memory, "" where it does not.
func memoryCall(name string, input json.RawMessage, cwd string, dirs []string) string {
	base := name
	if i := strings.LastIndex(name, "__"); strings.HasPrefix(name, "mcp__") && i >= 0 {
		base = name[i+2:]
	}
	if ownTools[base] {
		return base
	}
	keys, ok := fileTools[name]
	if !ok {
		return ""
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, k := range keys {
		var p string
		if json.Unmarshal(args[k], &p) != nil || p == "" {
			continue
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(cwd, p)
		}
		for _, dir := range dirs {
			if within(dir, p) {
				return name + " of " + filepath.Base(p)
			}
		}
	}
	return ""
}

// within reports whether a path lies in a directory, by their names.
func within(dir, p string) bool {
	rel, err := filepath.Rel(filepath.Clean(dir), filepath.Clean(p))
	return dir != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) && rel != "."
}
