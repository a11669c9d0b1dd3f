package mcpserver

import (
	"encoding/json"
	"testing"

	"mem/core/memory"
	"mem/core/settings"
	"mem/tools"
)

// The reply to initialize waits for nothing that it does not tell; each request that comes first finds everything.
func TestInitializeMakesNoTools(t *testing.T) {
	count := 0
	for _, set := range tools.Toolsets() {
		count += len(set.Names())
	}
	for _, first := range []string{
		`"method":"tools/list"`, `"method":"resources/list"`, `"method":"resources/templates/list"`, `"method":"prompts/list"`,
		`"method":"tools/call","params":{"name":"memory_list","arguments":{}}`, `"method":"prompts/get","params":{"name":"none"}`,
		`"method":"resources/read","params":{"uri":"memory://auto/index"}`,
	} {
		home := t.TempDir()
		s := New(Options{Version: "x", Memory: memory.Options{Env: settings.Env{Home: home + "/home", Cwd: home, StateDir: home + "/state", ConfigDir: home + "/config"}, MemoryDir: home + "/memory"}})
		for _, m := range []string{`"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`, `"id":2,"method":"ping"`} {
			reply, err := json.Marshal(s.mcp.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0",`+m+`}`)))
			var got struct{ Error any }
			if err != nil || json.Unmarshal(reply, &got) != nil || got.Error != nil {
				t.Fatalf("%s: %s %v", m, reply, err)
			}
		}
		if n := len(s.mcp.ListTools()); n != 0 {
			t.Errorf("%d tools were made before the reply to initialize", n)
		}
		s.mcp.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":3,`+first+`}`))
		if n := len(s.mcp.ListTools()); n != count {
			t.Errorf("after %s there are %d tools, want %d", first, n, count)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}
