package tools

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// TestFindingsOfTheNewState lets several writers, of two servers, make faults in topics of their own and mend
// them: each result tells of the fault while it is there, and of none that an earlier call mended.
func TestFindingsOfTheNewState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	servers := []func(string, mcp.CallToolParams) *mcp.CallToolResult{bound(t, dir), bound(t, dir)}
	var writers sync.WaitGroup
	for w := range 6 {
		writers.Go(func() {
			n := w
			call := func(tool string, args map[string]any) map[string]bool {
				n++
				r := servers[n/2%2](tool, mcp.CallToolParams{Arguments: args})
				if r.IsError {
					t.Errorf("%s %v: %s", tool, args, words1(r))
					return nil
				}
				rules := map[string]bool{}
				for _, f := range structured(t, r)["findings"].([]any) {
					rules[f.(map[string]any)["rule"].(string)] = true
				}
				return rules
			}
			want := func(what string, got map[string]bool, rule string, is bool) {
				if got[rule] != is {
					t.Errorf("writer %d: %s: %v", w, what, got)
				}
			}
			write := func(name, body string) map[string]bool {
				return call("memory_write", map[string]any{"name": name, "description": "About " + name + ".", "type": "reference", "body": body})
			}
			for i := range 6 {
				one, two := fmt.Sprintf("one-%d-%d", w, i), fmt.Sprintf("two-%d-%d", w, i)
				want("a link to nothing", write(one, "See [two]("+two+".md). Old.\n"), "broken-link", true)
				write(two, "Text.\n")
				edit := func(old, new string) map[string]bool {
					return call("memory_edit", map[string]any{"topic": one + ".md", "old": old, "new": new})
				}
				want("what it leads to came", edit("Old.", "New."), "broken-link", false)
				want("it leads elsewhere", edit(two+".md", "gone.md"), "broken-link", true)
				want("and back", edit("gone.md", two+".md"), "broken-link", false)
				want("what it leads to moved", call("memory_move", map[string]any{"topic": two + ".md", "to": "sub/" + two + ".md"}), "broken-link", false)
				want("after the move", edit("New.", "Newer."), "broken-link", false)
			}
		})
	}
	writers.Wait()
}
