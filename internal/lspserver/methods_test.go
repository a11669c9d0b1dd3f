package lspserver

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// The newest tag of the module is older than the version that is pinned, and
// cannot create files.
func TestProtocolVersion(t *testing.T) {
	if protocol.Version != "3.18.0" {
		t.Errorf("the protocol is %s", protocol.Version)
	}
	b, err := protocol.Marshal(&protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{&protocol.CreateFile{Kind: "create", URI: "file:///a.md"}}})
	if err != nil || string(b) != `{"documentChanges":[{"kind":"create","uri":"file:///a.md"}]}` {
		t.Errorf("CreateFile is %s, %v", b, err)
	}
}

// Every method that a client can call is served, or there is a reason why not.
func TestEveryMethodIsDecidedOn(t *testing.T) {
	served := map[string]method{}
	for _, m := range methods() {
		if _, twice := served[m.name]; twice {
			t.Errorf("%s is served twice", m.name)
		}
		served[m.name] = m
	}
	known := map[string]bool{}
	for _, info := range protocol.Methods {
		if info.Direction == protocol.DirectionServerToClient || info.Method == protocol.MethodCancelRequest {
			continue // what cancels is handled where requests are
		}
		known[info.Method] = true
		m, ok := served[info.Method]
		switch reason := unserved[info.Method]; {
		case ok == (reason != ""):
			t.Errorf("%s: served %v, and the reason why not is %q", info.Method, ok, reason)
		case ok && m.request != (info.Kind == "request"):
			t.Errorf("%s is a %s", info.Method, info.Kind)
		}
	}
	for name := range served {
		if !known[name] {
			t.Errorf("%s is no method of the protocol", name)
		}
	}
	for name := range unserved {
		if !known[name] {
			t.Errorf("%s is no method of the protocol", name)
		}
	}
}

// announced gives the methods that a part of the capabilities promises to serve.
var announced = map[string][]string{
	"positionEncoding":                   {"initialize"},
	"textDocumentSync.openClose":         {"textDocument/didOpen", "textDocument/didClose"},
	"textDocumentSync.change":            {"textDocument/didChange"},
	"textDocumentSync.save":              {"textDocument/didSave"},
	"diagnosticProvider":                 {"textDocument/diagnostic"},
	"codeActionProvider":                 {"textDocument/codeAction"},
	"codeActionProvider.resolve":         {"codeAction/resolve"},
	"codeLensProvider":                   {"textDocument/codeLens"},
	"codeLensProvider.resolve":           {"codeLens/resolve"},
	"executeCommandProvider":             {"workspace/executeCommand"},
	"workspace.textDocumentContent":      {"workspace/textDocumentContent"},
	"hoverProvider":                      {"textDocument/hover"},
	"completionProvider":                 {"textDocument/completion"},
	"completionProvider.resolve":         {"completionItem/resolve"},
	"definitionProvider":                 {"textDocument/definition"},
	"referencesProvider":                 {"textDocument/references"},
	"documentLinkProvider":               {"textDocument/documentLink"},
	"documentSymbolProvider":             {"textDocument/documentSymbol"},
	"workspace.fileOperations.didCreate": {"workspace/didCreateFiles"},
	"workspace.fileOperations.didRename": {"workspace/didRenameFiles"},
	"workspace.fileOperations.didDelete": {"workspace/didDeleteFiles"},
}

// unannounced are the methods for which the protocol has no capability of servers,
// or that are announced while the connection lives.
var unannounced = []string{"initialized", "shutdown", "exit", "$/setTrace", "workspace/didChangeWatchedFiles"}

func parts(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	var c map[string]any
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	var out []string
	for k, v := range c {
		sub, _ := v.(map[string]any)
		switch k {
		case "textDocumentSync":
			for s := range sub {
				out = append(out, k+"."+s)
			}
		case "workspace":
			operations, _ := sub["fileOperations"].(map[string]any)
			for s := range operations {
				out = append(out, "workspace.fileOperations."+s)
			}
			if sub["textDocumentContent"] != nil {
				out = append(out, "workspace.textDocumentContent")
			}
		case "codeActionProvider", "codeLensProvider", "completionProvider":
			out = append(out, k)
			if sub["resolveProvider"] == true {
				out = append(out, k+".resolve")
			}
		case "documentLinkProvider":
			if sub["resolveProvider"] != nil {
				t.Errorf("%s announces a resolve that is not served", k)
			}
			out = append(out, k)
		default:
			if v == false {
				t.Errorf("%s is announced as not there", k)
			}
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// What is announced is served, and what is served is announced, to a client that
// can do all.
func TestAnnouncedIsServed(t *testing.T) {
	f := features{encoding: "utf-8", pull: true, actions: true, lazyEdits: true, content: true, lazyItems: true, sharedRange: true}
	served := map[string]bool{}
	for _, m := range methods() {
		served[m.name] = true
		var c protocol.ServerCapabilities
		if m.announce != nil {
			m.announce(&f, &c)
		}
		raw, err := protocol.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		got := parts(t, json.RawMessage(raw))
		if m.announce == nil {
			if !slices.Contains(unannounced, m.name) {
				t.Errorf("%s is served and not announced", m.name)
			}
			continue
		}
		if !slices.ContainsFunc(got, func(p string) bool { return slices.Contains(announced[p], m.name) }) {
			t.Errorf("%s announces %v", m.name, got)
		}
	}
	e := start(t, nil)
	var r struct {
		Capabilities json.RawMessage `json:"capabilities"`
	}
	pulling := strings.Replace(capable, `"textDocument":{`, `"textDocument":{"diagnostic":{},`+lazyCompletion+`,`, 1)
	if err := json.Unmarshal(e.initialize(pulling), &r); err != nil {
		t.Fatal(err)
	}
	got := parts(t, r.Capabilities)
	for _, p := range got {
		if announced[p] == nil {
			t.Errorf("%s is announced; which method serves it?", p)
		}
		for _, name := range announced[p] {
			if !served[name] {
				t.Errorf("%s is announced and %s not served", p, name)
			}
		}
	}
	for p := range announced {
		if !slices.Contains(got, p) {
			t.Errorf("%s is not announced", p)
		}
	}
}

// A client that can do nothing is promised nothing that it could not use.
func TestModestClient(t *testing.T) {
	e := start(t, nil)
	var r struct {
		Capabilities map[string]any `json:"capabilities"`
	}
	if err := json.Unmarshal(e.initialize("{}"), &r); err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"diagnosticProvider", "codeActionProvider", "workspace.textDocumentContent"} {
		if r.Capabilities[absent] != nil {
			t.Errorf("%s = %v", absent, r.Capabilities[absent])
		}
	}
	if r.Capabilities["positionEncoding"] != "utf-16" {
		t.Errorf("the encoding is %v", r.Capabilities["positionEncoding"])
	}
}

func TestNegotiate(t *testing.T) {
	for offered, want := range map[string]string{
		"": "utf-16", "utf-16": "utf-16", "utf-8": "utf-8", "utf-16 utf-8": "utf-8", "utf-32": "utf-32",
		"utf-32 utf-16": "utf-16", "utf-32 utf-8 utf-16": "utf-8", "utf-7": "utf-16",
	} {
		var all []protocol.PositionEncodingKind
		for _, o := range strings.Fields(offered) {
			all = append(all, protocol.PositionEncodingKind(o))
		}
		if got := negotiate(all); string(got) != want {
			t.Errorf("negotiate(%q) = %s, want %s", offered, got, want)
		}
	}
}
