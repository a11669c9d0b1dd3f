package language

// What the keys of the frontmatter and the types are for, in the words that a
// hover and a completion show.

// keyWords says of each known key what it holds and who reads it.
var keyWords = map[string]string{
	"name":            "What this memory is called: a short slug of lower-case words with dashes. Links such as `[[name]]` and agents call it by this name.",
	"description":     "One line that tells when this memory matters. An agent judges by it, without opening the file, whether to read the rest.",
	"type":            "What kind of memory this is: `user`, `feedback`, `project` or `reference`. It decides how an agent uses it and how long it is trusted.",
	"metadata":        "The keys below it are the type and what Claude Code stamps on a memory. Other readers look for the type both here and at the top level.",
	"node_type":       "A stamp of Claude Code, always `memory`. Nobody needs to set it.",
	"originSessionId": "The session that wrote this memory first. While it is here, Claude Code leaves the other keys as they are when it edits the file.",
	"modified":        "When this memory was last written, in UTC. Ages and relative dates are counted from it; without it the time of the file counts.",
}

// typeWords says of each type what it is for.
var typeWords = map[string]string{
	"user":      "Who the person is: role, knowledge, preferences, and how they like to work.",
	"feedback":  "How the work should be done: what the person corrected or confirmed, with why, and how to apply it.",
	"project":   "What goes on in the project and is not in its code: decisions, deadlines, people, reasons. It goes stale soonest.",
	"reference": "Where to find something outside: trackers, dashboards, documents, people to ask.",
}
