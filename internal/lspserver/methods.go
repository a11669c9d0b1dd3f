package lspserver

import "go.lsp.dev/protocol"

// methods gives what the server serves. What it announces is made of this list.
// Order is that of the protocol: life, documents, diagnostics, edits, places.
func methods() []method {
	return []method{
		inline(request(protocol.MethodInitialize, (*server).initialize, announceEncoding)),
		notification(protocol.MethodInitialized, (*server).initialized, nil),
		inline(request(protocol.MethodShutdown, (*server).shutdown, nil)),
		notification(protocol.MethodExit, (*server).leave, nil),
		notification(protocol.MethodSetTrace, (*server).setTrace, nil),

		notification(protocol.MethodTextDocumentDidOpen, (*server).didOpen, announceSync(func(o *protocol.TextDocumentSyncOptions) { o.OpenClose = ptr(true) })),
		notification(protocol.MethodTextDocumentDidChange, (*server).didChange, announceSync(func(o *protocol.TextDocumentSyncOptions) {
			o.Change = ptr(protocol.TextDocumentSyncKindIncremental)
		})),
		notification(protocol.MethodTextDocumentDidSave, (*server).didSave, announceSync(func(o *protocol.TextDocumentSyncOptions) { o.Save = protocol.Boolean(true) })),
		notification(protocol.MethodTextDocumentDidClose, (*server).didClose, announceSync(func(o *protocol.TextDocumentSyncOptions) { o.OpenClose = ptr(true) })),

		notification(protocol.MethodWorkspaceDidChangeWatchedFiles, (*server).didChangeWatchedFiles, nil),
		notification(protocol.MethodWorkspaceDidCreateFiles, (*server).didCreateFiles, announceFiles(func(o *protocol.FileOperationOptions) { o.DidCreate = ourFiles })),
		notification(protocol.MethodWorkspaceDidRenameFiles, (*server).didRenameFiles, announceFiles(func(o *protocol.FileOperationOptions) { o.DidRename = ourFiles })),
		notification(protocol.MethodWorkspaceDidDeleteFiles, (*server).didDeleteFiles, announceFiles(func(o *protocol.FileOperationOptions) { o.DidDelete = ourFiles })),

		request(protocol.MethodTextDocumentDiagnostic, (*server).diagnostic, announcePull),

		request(protocol.MethodTextDocumentCodeAction, (*server).codeAction, announceActions),
		request(protocol.MethodCodeActionResolve, (*server).resolveAction, announceResolve),

		request(protocol.MethodTextDocumentCodeLens, (*server).codeLens, announceLenses),
		request(protocol.MethodCodeLensResolve, (*server).resolveLens, announceLensResolve),
		request(protocol.MethodWorkspaceExecuteCommand, (*server).executeCommand, announceCommands),
		request(protocol.MethodWorkspaceTextDocumentContent, (*server).textDocumentContent, announceContent),

		request(protocol.MethodTextDocumentHover, (*server).hover, announceHover),
		request(protocol.MethodTextDocumentCompletion, (*server).completion, announceCompletion),
		request(protocol.MethodCompletionItemResolve, (*server).resolveCompletion, announceCompletionResolve),
		request(protocol.MethodTextDocumentDefinition, (*server).definition, announceDefinition),
		request(protocol.MethodTextDocumentReferences, (*server).references, announceReferences),
		request(protocol.MethodTextDocumentDocumentLink, (*server).documentLink, announceLinks),
		request(protocol.MethodTextDocumentDocumentSymbol, (*server).documentSymbol, announceSymbols),
	}
}
