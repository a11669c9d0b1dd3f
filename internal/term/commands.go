package term

import "strings"

// commands are the commands that people have for what core calls by the names
// of tools.
var commands = strings.NewReplacer(
	"memory_undo with id", "mem-mcp undo", "memory_undo", "mem-mcp undo", "memory_context", "mem-mcp context",
	"memory_list", "mem-mcp list", "memory_read", "mem-mcp read", "memory_search", "mem-mcp search",
	"memory_write", "mem-mcp write", "memory_delete", "mem-mcp delete", "memory_history", "mem-mcp history",
	"memory_stores", "mem-mcp stores", "proposal_list", "mem-mcp proposals", "proposal_show", "mem-mcp proposals show",
	"transcript_list with all", "mem-mcp sessions --all", "transcript_list", "mem-mcp sessions", "transcript_resume", "mem-mcp resume", "transcript_search", "mem-mcp search --transcripts",
	"expected_hash", "--expected-hash",
)

// ForPeople names commands where a text for agents names tools.
func ForPeople(s string) string { return commands.Replace(s) }
