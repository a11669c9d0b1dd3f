package tools

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// rootsID names the question which directories the client works in.
const rootsID = "roots"

// ErrNeedRoots is what an Opener gives when it has to know the client's roots
// and, in the stateless era of the protocol, only the result of a call can ask
// for them. The call is then made again with the answer.
var ErrNeedRoots = errors.New("the project is not known before the client has named its roots")

type rootsKey struct{}

// withRoots keeps the client's answer to that question for the Opener.
func withRoots(ctx context.Context, req mcp.CallToolRequest) context.Context {
	answer, ok := req.Params.InputResponses[rootsID]
	if !ok {
		return ctx
	}
	var roots []mcp.Root
	if err := answer.DecodeFor(mcp.MethodListRoots); err == nil && answer.Roots != nil {
		roots = answer.Roots.Roots
	}
	return context.WithValue(ctx, rootsKey{}, roots)
}

// Roots gives the roots that came with this call; ok is false when it brought
// no answer.
func Roots(ctx context.Context) (roots []mcp.Root, ok bool) {
	roots, ok = ctx.Value(rootsKey{}).([]mcp.Root)
	return roots, ok
}

func askRoots() *mcp.CallToolResult {
	return server.NewInputRequestBuilder("").Roots(rootsID).ToolResult()
}
