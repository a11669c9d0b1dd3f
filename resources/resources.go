// Package resources owns the MCP resources: the same memory as the tools read,
// under memory:// addresses, and the same sessions, under transcript://.
package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/memfile"
	"mem/core/memory"
)

// Opener gives the memory that a read works on, by the name of its store.
type Opener func(ctx context.Context, store string) (*memory.Memory, error)

// NotFound reports an address that names nothing; the transport gives it the
// protocol's code for that.
type NotFound func(ctx context.Context, uri string, err error) error

const scheme = "memory://"

const (
	markdown = "text/markdown"
	jsonType = "application/json"
)

// kind is one kind of resource of a store.
type kind struct {
	path, name, doc, mime string
	read                  func(ctx context.Context, m *memory.Memory, rest string) (string, error)
}

func kinds() []kind {
	return []kind{
		{"index", "Memory index", "MEMORY.md: one line for each topic.", markdown, readFile(func(string) string { return memfile.IndexName })},
		{"context", "Memory context", "What a conversation starts with: guide, index, warnings.", markdown, readContext},
		{"status", "Memory status", "Where memory lies and why, how much there is, what is wrong.", jsonType, readStatus},
		{"topic/{+path}", "Memory topic", "One topic, by its path in the memory directory.", markdown, readFile(func(p string) string { return p })},
		{"log/{date}", "Daily log", "The log of one day, such as 2026-11-30.", markdown, readFile(func(d string) string { return d })},
	}
}

// All gives the resources of the project's memory and the templates that
// address every part of every store and every session.
func All(open Opener, of SessionsOf, missing NotFound, tell Tell) (fixed []server.ServerResource, templates []server.ServerResourceTemplate) {
	for _, k := range kinds() {
		read := handler(k, open, missing)
		template := mcp.NewResourceTemplate(scheme+"{store}/"+k.path, k.name, mcp.WithTemplateDescription(k.doc), mcp.WithTemplateMIMEType(k.mime))
		templates = append(templates, server.ServerResourceTemplate{Template: template, Handler: server.ResourceTemplateHandlerFunc(read)})
		if strings.Contains(k.path, "{") {
			continue
		}
		r := mcp.NewResource(scheme+memory.StoreAuto+"/"+k.path, k.name, mcp.WithResourceDescription(k.doc), mcp.WithMIMEType(k.mime))
		fixed = append(fixed, server.ServerResource{Resource: r, Handler: server.ResourceHandlerFunc(read)})
	}
	templates = append(templates, transcripts(open, of, missing, tell)...)
	return fixed, append(templates, proposals(open, missing))
}

func handler(k kind, open Opener, missing NotFound) func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	return func(ctx context.Context, req mcp.ReadResourceRequest) (out []mcp.ResourceContents, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("reading %s broke down: %v; the other resources go on", req.Params.URI, r)
			}
		}()
		store, rest, err := parse(req.Params.URI, k)
		if err != nil {
			return nil, missing(ctx, req.Params.URI, err)
		}
		m, err := open(ctx, store)
		if err != nil {
			return nil, missing(ctx, req.Params.URI, err)
		}
		content, err := k.read(ctx, m, rest)
		if err != nil {
			return nil, missing(ctx, req.Params.URI, err)
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: k.mime, Text: content}}, nil
	}
}

// parse takes an address apart. What follows the kind is decoded once; the
// checks of paths come after that, so an encoded ".." is seen for what it is.
func parse(uri string, k kind) (store, rest string, err error) {
	after, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", "", fmt.Errorf("%s is no address of a memory; they start with %s", uri, scheme)
	}
	store, p, _ := strings.Cut(after, "/")
	if store, err = url.PathUnescape(store); err != nil || store == "" {
		return "", "", fmt.Errorf("%s does not name a store as an address does; a store with slashes is written with %%2F, as in memory://agent%%2Freviewer%%2Fproject/index", uri)
	}
	fixed, _, variable := strings.Cut(k.path, "{")
	rest, ok = strings.CutPrefix(p, fixed)
	if !ok || (rest == "") == variable {
		return "", "", fmt.Errorf("%s does not have the form %s{store}/%s", uri, scheme, k.path)
	}
	if rest, err = url.PathUnescape(rest); err != nil {
		return "", "", fmt.Errorf("%s is not encoded as an address is: %w", uri, err)
	}
	return store, rest, nil
}

// readFile reads a memory file. One that is longer than a result may be is
// given in part, with word of how to read on.
func readFile(ref func(rest string) string) func(context.Context, *memory.Memory, string) (string, error) {
	return func(ctx context.Context, m *memory.Memory, rest string) (string, error) {
		r, err := m.Read(ctx, ref(rest), "")
		if err != nil {
			return "", err
		}
		if r.NextCursor != "" {
			return r.Text + fmt.Sprintf("\n… (%d bytes in all; memory_read with cursor %s reads on)\n", r.Size, r.NextCursor), nil
		}
		return r.Text, nil
	}
}

func readContext(ctx context.Context, m *memory.Memory, _ string) (string, error) {
	c, err := m.SessionStartCut(ctx)
	if err != nil {
		return "", err
	}
	return c.Text, nil
}

func readStatus(ctx context.Context, m *memory.Memory, _ string) (string, error) {
	s, err := m.Status(ctx)
	if err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(s, "", "  ")
	return string(b), err
}
