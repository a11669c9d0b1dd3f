package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"mem/core/text"
)

// TestEveryTextIsAMergeBase: whatever left or showed a text, a later edit that names its hash is merged with
// what another program changed elsewhere in the file meanwhile.
func TestEveryTextIsAMergeBase(t *testing.T) {
	const body = "## A\n\nold words\n\n## B\n\ntheir words\n"
	for name, leave := range map[string]func(call func(tool string, args map[string]any) map[string]any, file string) (at string){
		"memory_write": nil,
		"memory_write again": func(call func(string, map[string]any) map[string]any, file string) string {
			call("memory_write", map[string]any{"name": "one", "description": "Another.", "type": "project", "body": body, "expected_hash": hashOf(file)})
			return "one.md"
		},
		"memory_edit": func(call func(string, map[string]any) map[string]any, _ string) string {
			call("memory_edit", map[string]any{"topic": "one.md", "key": "description", "value": "Another."})
			return "one.md"
		},
		"memory_move": func(call func(string, map[string]any) map[string]any, _ string) string {
			call("memory_move", map[string]any{"topic": "one.md", "to": "sub/two.md"})
			return "sub/two.md"
		},
		"memory_undo": func(call func(string, map[string]any) map[string]any, _ string) string {
			gone := call("memory_delete", map[string]any{"topic": "one.md"})
			call("memory_undo", map[string]any{"change": gone["change"]})
			return "one.md"
		},
		"memory_undo of an edit": func(call func(string, map[string]any) map[string]any, _ string) string {
			edit := call("memory_edit", map[string]any{"topic": "one.md", "key": "description", "value": "Another."})
			call("memory_undo", map[string]any{"change": edit["change"]})
			return "one.md"
		},
		"memory_fix": func(call func(string, map[string]any) map[string]any, file string) string {
			b, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte(strings.Replace(string(b), "old words", "old words\u200b", 1)), 0o600)
			}
			if err != nil {
				panic(err)
			}
			call("memory_fix", map[string]any{"rules": []string{"hidden-character"}})
			return "one.md"
		},
		"memory_read": func(call func(string, map[string]any) map[string]any, file string) string {
			b, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte(strings.Replace(string(b), "their words", "the user's words", 1)), 0o600)
			}
			if err != nil {
				panic(err)
			}
			call("memory_read", map[string]any{"topic": "one.md"})
			return "one.md"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "memory")
			raw := bound(t, dir)
			call := func(tool string, args map[string]any) map[string]any {
				t.Helper()
				r := raw(tool, mcp.CallToolParams{Arguments: args})
				if r.IsError {
					t.Fatalf("%s: %s", tool, words1(r))
				}
				return structured(t, r)
			}
			call("memory_write", map[string]any{"name": "one", "description": "About one.", "type": "project", "body": body})
			at := "one.md"
			if leave != nil {
				at = leave(call, filepath.Join(dir, at))
			}
			file := filepath.Join(dir, filepath.FromSlash(at))
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(b), "\u200b") {
				t.Fatal("nothing was mended")
			}
			hash := text.Hash(string(b))
			if err := os.WriteFile(file, []byte(string(b)+"and a third line of theirs\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			call("memory_edit", map[string]any{"topic": at, "old": "old words", "new": "new words", "expected_hash": hash})
			if b, err = os.ReadFile(file); err != nil || !strings.Contains(string(b), "new words") || !strings.Contains(string(b), "third line of theirs") {
				t.Errorf("%s, %v", b, err)
			}
		})
	}
}

func hashOf(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return text.Hash(string(b))
}
