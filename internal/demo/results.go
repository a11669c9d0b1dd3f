package demo

// What the demo reads of results. These are a client's own types on purpose:
// they fail to fill where the server's results change their shape.

type fill struct {
	Lines        int    `json:"lines"`
	MaxLines     int    `json:"maxLines"`
	Percent      int    `json:"percent"`
	FirstDropped int    `json:"firstDroppedLine"`
	Dropped      int    `json:"droppedLines"`
	Warning      string `json:"warning"`
}

type loss struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Entry string `json:"entry"`
	Topic bool   `json:"topic"`
}

type contextResult struct {
	Text      string   `json:"text"`
	Directory string   `json:"directory"`
	Topics    int      `json:"topics"`
	Index     fill     `json:"index"`
	Warnings  []string `json:"warnings"`
	Vanished  []loss   `json:"vanished"`
	Notes     []string `json:"notes"`
}

type changeResult struct {
	Change string `json:"change"`
	Files  []struct {
		Path   string `json:"path"`
		Action string `json:"action"`
	} `json:"files"`
	Index fill `json:"index"`
}

type writeResult struct {
	Path    string `json:"path"`
	Hash    string `json:"hash"`
	Created bool   `json:"created"`
	Merged  bool   `json:"merged"`
	Entry   string `json:"entry"`
	changeResult
}

type editResult struct {
	Path   string `json:"path"`
	Hash   string `json:"hash"`
	Merged bool   `json:"merged"`
	changeResult
}

type readResult struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
	Text string `json:"text"`
}

type searchResult struct {
	Hits []struct {
		Path    string `json:"path"`
		Matched []struct {
			Field string   `json:"field"`
			Words []string `json:"words"`
		} `json:"matched"`
	} `json:"hits"`
	Total     int      `json:"total"`
	Corrected []string `json:"corrected"`
	Reason    string   `json:"reason"`
}

type listResult struct {
	Total int `json:"total"`
}

type whereResult struct {
	Directory string `json:"directory"`
	Rule      string `json:"rule"`
	Why       string `json:"why"`
	Memory    struct {
		On  bool   `json:"on"`
		Why string `json:"why"`
	} `json:"memory"`
	Skipped []struct {
		Candidate string `json:"candidate"`
		Rule      string `json:"rule"`
		Source    string `json:"source"`
		Reason    string `json:"reason"`
	} `json:"skipped"`
}

// problem is the structured part of a refused call.
type problem struct {
	Error     string `json:"error"`
	Kind      string `json:"kind"`
	Path      string `json:"path"`
	Hash      string `json:"hash"`
	Text      string `json:"text"`
	Conflicts []struct {
		Path   string `json:"path"`
		Part   string `json:"part"`
		Ours   string `json:"ours"`
		Theirs string `json:"theirs"`
	} `json:"conflicts"`
	Findings []struct {
		Reason string `json:"reason"`
	} `json:"findings"`
}

type sessionList struct {
	Sessions []struct {
		Session     string `json:"session"`
		FirstPrompt string `json:"firstPrompt"`
		Turns       int    `json:"turns"`
	} `json:"sessions"`
	Total int `json:"total"`
}

type saidResult struct {
	Hits []struct {
		Session string `json:"session"`
		UUID    string `json:"uuid"`
		Snippet string `json:"snippet"`
	} `json:"hits"`
	Total int `json:"total"`
}

type resumed struct {
	Messages []struct {
		Role    string `json:"role"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"messages"`
	Text        string `json:"text"`
	ResumePoint string `json:"resumePoint"`
	Problems    string `json:"problems"`
	Secrets     int    `json:"secrets"`
}

type recorded struct {
	Session string   `json:"session"`
	UUIDs   []string `json:"uuids"`
}
