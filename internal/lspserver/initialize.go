package lspserver

import (
	"context"
	"slices"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"mem/core/text"
)

// features is what the client can do, as far as it decides what the server does.
type features struct {
	encoding text.Encoding
	crInLine bool // a lone "\r" is a character of its line for it

	pull    bool // it asks for diagnostics; else they are pushed
	refresh bool // it can be told to ask again
	related bool // related places in diagnostics
	faded   bool // the tag "unnecessary"

	documentChanges bool // edits with the version of the document
	create          bool // edits that create files
	actions         bool // code actions as literals, not as commands
	lazyEdits       bool // the edit of a code action may be asked for later
	preferred       bool
	disabled        bool // code actions that cannot be taken, with the reason

	watch         bool // it can be asked to watch files
	watchAnywhere bool // also below a folder that is none of the workspace's
	// folded is set for a client that puts every diagnostic before a model: what is
	// repeated would push out what matters.
	folded bool

	sharedRange bool // completions that name their range once, and their data
	lazyItems   bool // what stands beside a completion may be asked for later

	markdown    bool // hovers in Markdown
	linkTargets bool // definitions with the range of the link
	symbolTree  bool // document symbols with children

	applyEdit      bool // it makes edits that the server asks for
	rename, remove bool // edits that rename and delete files
	showsDocuments bool
	content        bool // it asks for the text of documents that the server makes up
	lensRefresh    bool // it can be told to ask for lenses again

	folders []string // paths of the workspace
}

// initialize agrees on what both sides can do.
func (s *server) initialize(_ context.Context, _ *documents, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if !s.phase.CompareAndSwap(newborn, initialized) {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is initialized already")
	}
	s.features = featuresOf(p)
	r := &protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "mem-lsp", Version: protocol.NewOptional(s.o.Version)},
	}
	for _, m := range methods() {
		if m.announce != nil {
			m.announce(&s.features, &r.Capabilities)
		}
	}
	return r, nil
}

func announceEncoding(f *features, c *protocol.ServerCapabilities) {
	c.PositionEncoding = protocol.PositionEncodingKind(f.encoding)
}

// announceSync gives what announces a part of the synchronisation of documents.
func announceSync(set func(*protocol.TextDocumentSyncOptions)) announcement {
	return func(_ *features, c *protocol.ServerCapabilities) {
		o, ok := c.TextDocumentSync.(*protocol.TextDocumentSyncOptions)
		if !ok {
			o = &protocol.TextDocumentSyncOptions{}
			c.TextDocumentSync = o
		}
		set(o)
	}
}

func is(b *bool) bool { return b != nil && *b }

// keepCR are parts of the names of clients that keep a lone "\r" in its line: Neovim
// and the clients of Vim (coc.nvim, vim-lsp), and those of Emacs, of which Eglot names
// itself only. VS Code makes line ends of them on loading, and sends none.
var keepCR = []string{"vim", "emacs", "eglot"}

func featuresOf(p *protocol.InitializeParams) features {
	f := features{encoding: text.UTF16}
	c := p.Capabilities
	if g := c.General; g != nil {
		f.encoding = negotiate(g.PositionEncodings)
	}
	client := strings.ToLower(p.ClientInfo.Name)
	f.folded = strings.Contains(client, "claude")
	f.crInLine = slices.ContainsFunc(keepCR, func(name string) bool { return strings.Contains(client, name) })
	f.folders = workspaceFolders(p)
	if w := c.Workspace; w != nil {
		if e := w.WorkspaceEdit; e != nil {
			f.documentChanges = is(e.DocumentChanges)
			can := func(k protocol.ResourceOperationKind) bool { return slices.Contains(e.ResourceOperations, k) }
			f.create = f.documentChanges && can(protocol.ResourceOperationKindCreate)
			// Such operations stand in document changes only, so whoever names them takes these,
			// as Neovim 0.7 does, which does not say so.
			f.rename, f.remove = can(protocol.ResourceOperationKindRename), can(protocol.ResourceOperationKindDelete)
		}
		f.watch = w.DidChangeWatchedFiles != nil && is(w.DidChangeWatchedFiles.DynamicRegistration)
		f.watchAnywhere = f.watch && is(w.DidChangeWatchedFiles.RelativePatternSupport)
		f.applyEdit, f.content = is(w.ApplyEdit), w.TextDocumentContent != nil
		f.lensRefresh = w.CodeLens != nil && is(w.CodeLens.RefreshSupport)
		f.refresh = w.Diagnostics != nil && is(w.Diagnostics.RefreshSupport)
	}
	if w := c.Window; w != nil {
		f.showsDocuments = w.ShowDocument != nil && w.ShowDocument.Support
	}
	t := c.TextDocument
	if t == nil {
		return f
	}
	if t.Diagnostic != nil {
		f.pull = true
		f.take(t.Diagnostic.DiagnosticsCapabilities)
	}
	if t.PublishDiagnostics != nil { // some clients state here what holds for both
		f.take(t.PublishDiagnostics.DiagnosticsCapabilities)
	}
	if a := t.CodeAction; a != nil {
		f.actions = a.CodeActionLiteralSupport.CodeActionKind.ValueSet != nil
		f.preferred, f.disabled = is(a.IsPreferredSupport), is(a.DisabledSupport)
		f.lazyEdits = is(a.DataSupport) && slices.Contains(a.ResolveSupport.Properties, "edit")
	}
	if o := t.Completion; o != nil {
		f.sharedRange = o.CompletionList != nil && slices.Contains(o.CompletionList.ItemDefaults, "editRange") &&
			slices.Contains(o.CompletionList.ItemDefaults, "data")
		f.lazyItems = o.CompletionItem != nil && slices.Contains(o.CompletionItem.ResolveSupport.Properties, "documentation")
	}
	if t.Hover != nil {
		f.markdown = slices.Contains(t.Hover.ContentFormat, protocol.MarkupKindMarkdown)
	}
	f.linkTargets = t.Definition != nil && is(t.Definition.LinkSupport)
	f.symbolTree = t.DocumentSymbol != nil && is(t.DocumentSymbol.HierarchicalDocumentSymbolSupport)
	return f
}

func (f *features) take(d protocol.DiagnosticsCapabilities) {
	f.related = f.related || is(d.RelatedInformation)
	f.faded = f.faded || slices.Contains(d.TagSupport.ValueSet, protocol.DiagnosticTagUnnecessary)
}

// negotiate chooses what positions count: bytes cost nothing to convert, UTF-16 is
// what every client knows.
func negotiate(offered []protocol.PositionEncodingKind) text.Encoding {
	has := func(e text.Encoding) bool { return slices.Contains(offered, protocol.PositionEncodingKind(e)) }
	switch {
	case has(text.UTF8):
		return text.UTF8
	case has(text.UTF32) && !has(text.UTF16):
		return text.UTF32
	}
	return text.UTF16
}

func workspaceFolders(p *protocol.InitializeParams) []string {
	var out []string
	if folders, ok := p.WorkspaceFolders.Get(); ok {
		for _, w := range folders {
			if path, ok := pathOf(string(w.URI)); ok {
				out = append(out, path)
			}
		}
	}
	root := p.RootURI //lint:ignore SA1019 clients older than folders name this
	if len(out) == 0 && root != nil {
		if path, ok := pathOf(string(*root)); ok {
			out = append(out, path)
		}
	}
	return out
}
