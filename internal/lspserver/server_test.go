package lspserver

import (
	"encoding/json"
	"testing"
)

const bom = "\ufeff"

func TestDiagnosticsArePushed(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# Memory\n"})
	e.initialize(capable)
	e.open("MEMORY.md", bom+"# Memory\n")
	found := e.shown("MEMORY.md", 1)
	if !has("encoding")(found) {
		t.Fatalf("found %q", codes(found))
	}
	e.edit("MEMORY.md", replace(0, 0, 0, 1, ""))
	if found := e.shown("MEMORY.md", 2); has("encoding")(found) {
		t.Fatalf("found %q after the mark was removed", codes(found))
	}
	e.close("MEMORY.md")
	e.wait("the clearing", func() bool { return len(e.pushed[e.uri("MEMORY.md")]) == 3 && len(e.latest("MEMORY.md")) == 0 })
	if err := e.quit(); err != nil {
		t.Fatal(err)
	}
}

func TestInitialize(t *testing.T) {
	e := start(t, nil)
	var r struct {
		Capabilities struct {
			PositionEncoding string `json:"positionEncoding"`
		} `json:"capabilities"`
		ServerInfo struct{ Name, Version string } `json:"serverInfo"`
	}
	if err := json.Unmarshal(e.initialize(capable), &r); err != nil {
		t.Fatal(err)
	}
	if r.Capabilities.PositionEncoding != "utf-16" || r.ServerInfo.Name != "mem-lsp" || r.ServerInfo.Version != "test" {
		t.Errorf("initialize = %+v", r)
	}
}
