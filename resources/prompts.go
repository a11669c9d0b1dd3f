package resources

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// dreamPrompt is what a person asks of an agent by the prompt "dream".
const dreamPrompt = `Consolidate the memory of this project now.

Call the tool dream_start. If its result holds a prompt, do what that says. Otherwise it runs by itself: ask dream_status every now and then until it is over, or go on with something else if I asked for it. At the end tell me in a few lines what was merged, corrected and dropped, what waits for me to decide (proposal_show has it), and how to take the rest back (memory_undo).`

// Prompts gives the prompts, which clients offer as commands. Getting one changes nothing.
func Prompts() []server.ServerPrompt {
	return []server.ServerPrompt{{
		Prompt: mcp.NewPrompt("dream", mcp.WithPromptTitle("Consolidate memory"),
			mcp.WithPromptDescription("Merge, correct, date and order the memory of this project; what deletes waits for you.")),
		Handler: func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("Consolidate the memory of this project", []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(dreamPrompt)),
			}), nil
		},
	}}
}
