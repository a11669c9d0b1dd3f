package lspserver

import "go.lsp.dev/protocol"

// ourFiles are the files and folders whose coming and going in the editor matters.
var ourFiles = protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{
	{Scheme: ptr("file"), Pattern: protocol.FileOperationPattern{Glob: "**/*.md", Matches: protocol.FileOperationPatternKindFile}},
	{Scheme: ptr("file"), Pattern: protocol.FileOperationPattern{Glob: "**", Matches: protocol.FileOperationPatternKindFolder}},
}}

func announceFiles(set func(*protocol.FileOperationOptions)) announcement {
	return func(_ *features, c *protocol.ServerCapabilities) {
		if c.Workspace == nil {
			c.Workspace = &protocol.WorkspaceOptions{}
		}
		if c.Workspace.FileOperations == nil {
			c.Workspace.FileOperations = &protocol.FileOperationOptions{}
		}
		set(c.Workspace.FileOperations)
	}
}

// didCreateFiles has what new files may affect checked.
func (s *server) didCreateFiles(p *protocol.CreateFilesParams) {
	var uris []string
	for _, f := range p.Files {
		uris = append(uris, f.URI)
	}
	s.moved(uris)
}

// didRenameFiles has what both names may affect checked. The editor closes and
// opens the documents themselves.
func (s *server) didRenameFiles(p *protocol.RenameFilesParams) {
	var uris []string
	for _, f := range p.Files {
		uris = append(uris, f.OldURI, f.NewURI)
	}
	s.moved(uris)
}

// didDeleteFiles has what the deleted files may affect checked.
func (s *server) didDeleteFiles(p *protocol.DeleteFilesParams) {
	var uris []string
	for _, f := range p.Files {
		uris = append(uris, f.URI)
	}
	s.moved(uris)
}

func (s *server) moved(uris []string) {
	var paths []string
	for _, u := range uris {
		if path, ok := pathOf(u); ok {
			paths = append(paths, path)
		}
	}
	s.changedOnDisk(paths)
}
