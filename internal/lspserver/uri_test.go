package lspserver

import (
	"strings"
	"testing"
)

// TestURIsAreTheClients: a client may keep its files by the very spelling of their
// URI, so that what is published for a file and the edits of it bear that spelling.
func TestURIsAreTheClients(t *testing.T) {
	for name, spell := range map[string]func(string) string{
		"canonical":      func(u string) string { return u },
		"plain brackets": func(u string) string { return strings.NewReplacer("%28", "(", "%29", ")").Replace(u) },
		"small escapes":  func(u string) string { return strings.NewReplacer("%2B", "%2b").Replace(u) },
		"more escapes":   func(u string) string { return strings.Replace(u, "MEMORY.md", "%4DEMORY.md", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, map[string]string{"MEMORY.md": "", "a (b+c).md": "---\nname: a\ndescription: b\ntype: oops\n---\n\nc\n"})
			e.initialize(`{"workspace":{"workspaceEdit":{"documentChanges":true}},"textDocument":{"codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":[]}}}}}`)
			for _, file := range []string{"MEMORY.md", "a (b+c).md"} {
				u, text := spell(e.uri(file)), "---\nname: a\ndescription: b\ntype: oops\n---\n\nc\n"
				if file == "MEMORY.md" {
					text = "- [gone](gone.md) — nothing\n"
				}
				e.version++
				e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": u, "languageId": "markdown", "version": e.version, "text": text}})
				var found []diagnostic
				e.wait("diagnostics of "+u, func() bool {
					for _, p := range e.pushed[u] {
						if p.Version == e.version {
							found = p.Diagnostics
							return true
						}
					}
					return false
				})
				var actions []struct {
					Edit *struct {
						DocumentChanges []struct {
							Kind         string `json:"kind"`
							TextDocument struct {
								URI string `json:"uri"`
							} `json:"textDocument"`
						} `json:"documentChanges"`
					} `json:"edit"`
				}
				e.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": u}, "range": found[0].Range,
					"context": map[string]any{"diagnostics": found, "only": []string{"quickfix"}}}, &actions)
				edits := 0
				for _, a := range actions {
					if a.Edit == nil {
						continue
					}
					for _, c := range a.Edit.DocumentChanges {
						if c.Kind == "" && strings.HasSuffix(c.TextDocument.URI, u[len(u)-6:]) {
							edits++
							if c.TextDocument.URI != u {
								t.Errorf("an edit of %s, opened as %s", c.TextDocument.URI, u)
							}
						}
					}
				}
				if edits == 0 {
					t.Errorf("no edit of %s is offered", u)
				}
			}
		})
	}
}
