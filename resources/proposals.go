package resources

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/memory"
	"mem/core/proposal"
)

const proposalScheme = "proposal://"

// maxProposal bounds the text of a proposal, in characters, as clients bound results.
const maxProposal = 40_000

// proposals gives the template that addresses what waits for a person.
func proposals(open Opener, missing NotFound) server.ServerResourceTemplate {
	t := mcp.NewResourceTemplate(proposalScheme+"{id}", "Proposal", mcp.WithTemplateDescription("What a job proposes to change in memory, as diffs with reasons."), mcp.WithTemplateMIMEType(markdown))
	return server.ServerResourceTemplate{Template: t, Handler: func(ctx context.Context, req mcp.ReadResourceRequest) (out []mcp.ResourceContents, err error) {
		uri := req.Params.URI
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("reading %s broke down: %v; the other resources go on", uri, r)
			}
		}()
		id, ok := strings.CutPrefix(uri, proposalScheme)
		if id, err = url.PathUnescape(id); !ok || err != nil || id == "" || strings.Contains(id, "/") {
			return nil, missing(ctx, uri, fmt.Errorf("%s does not have the form %s{id}", uri, proposalScheme))
		}
		m, err := open(ctx, memory.StoreAuto)
		if err != nil {
			return nil, missing(ctx, uri, err)
		}
		text, err := proposal.Of(m).Text(ctx, id)
		if err != nil {
			return nil, missing(ctx, uri, err)
		}
		if short := memory.Fit(text, maxProposal); short != text {
			text = short + "\n(cut; proposal_show has all of it, page by page)\n"
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: markdown, Text: text}}, nil
	}}
}
