package fixes

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/memfile"
)

// otherTypes maps words that people write for a type to the one they mean. The
// first five were seen in real memories.
var otherTypes = map[string]string{
	"semantic": "reference", "procedural": "feedback", "episodic": "project", "infra": "reference", "infrastructure": "reference",
	"preference": "feedback", "rule": "feedback", "convention": "feedback", "style": "feedback", "guideline": "feedback", "correction": "feedback",
	"person": "user", "people": "user", "profile": "user", "persona": "user", "identity": "user",
	"decision": "project", "plan": "project", "goal": "project", "task": "project", "status": "project",
	"fact": "reference", "doc": "reference", "documentation": "reference", "link": "reference", "resource": "reference", "pointer": "reference",
	"用户": "user", "反馈": "feedback", "偏好": "feedback", "项目": "project", "参考": "reference", "资料": "reference",
}

// typeMeant gives the type that an unknown one stands for, "" when that cannot be
// told: another word for it, another case, the start of it, or a slip of the keys.
func typeMeant(unknown string) string {
	t := strings.ToLower(strings.Trim(unknown, " \t\"'[]"))
	if i := strings.IndexAny(t, ",|/"); i > 0 {
		t = strings.TrimSpace(t[:i]) // of several, the first
	}
	for _, w := range []string{t, strings.TrimSuffix(t, "s")} {
		if memfile.KnownType(w) {
			return w
		}
		if other := otherTypes[w]; other != "" {
			return other
		}
	}
	found := ""
	for _, known := range memfile.Types {
		short := len(t) >= 3 && strings.HasPrefix(known, strings.TrimSuffix(t, "s"))
		slip := len(t) >= 4 && len(t) <= 2*len(known) && slips(t, known) <= min(2, len(known)/3)
		if short || slip {
			if found != "" {
				return ""
			}
			found = known
		}
	}
	return found
}

// spells reports whether a word is a known type, shortened or with a slip in it,
// rather than another word for it.
func spells(word, known string) bool {
	word = strings.ToLower(word)
	return len(word) >= 3 && strings.HasPrefix(known, word) || slips(word, known) <= 2
}

// slips counts the characters to insert, remove, replace or swap with their
// neighbour to turn a into b.
func slips(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(s); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(t)]
}

// typeInPath gives the type that the name of a file or its folder starts with, as
// in feedback_testing.md, user-role.md and reference/hosts.md.
func typeInPath(p string) string {
	if t := typeInName(memdir.Stem(p)); t != "" {
		return t
	}
	if dir := strings.ToLower(path.Base(path.Dir(p))); memfile.KnownType(dir) {
		return dir
	}
	return ""
}

func typeInName(name string) string {
	first, _, _ := strings.Cut(memdir.Fold(name), "-")
	if memfile.KnownType(first) {
		return first
	}
	return ""
}

// guessBytes is how much of a body is read for cues, in bytes: what a memory is
// about stands at its start.
const guessBytes = 4 << 10

// cues are the words that speak for a type, in lower case. English ones are found
// as whole words, others anywhere.
var cues = []struct {
	kind  string
	words []string
}{
	{"feedback", []string{
		"prefer", "prefers", "preferred", "never", "always", "don't", "do not", "doesn't want", "instead", "avoid", "stop", "must not",
		"how to apply", "corrected", "asked for", "wants", "likes", "dislikes", "style", "convention",
		"不要", "总是", "从不", "必须", "避免", "偏好", "喜欢", "应该", "改用", "而不是", "如何应用",
	}},
	{"user", []string{
		"user is", "user has", "user works", "works as", "role", "i am", "engineer", "developer", "scientist", "manager", "designer",
		"experience", "background", "years of", "speaks", "timezone", "time zone", "lives in", "new to", "expert in",
		"用户是", "角色", "职位", "工程师", "开发者", "经验", "背景", "时区",
	}},
	{"reference", []string{
		"http://", "https://", "url", "dashboard", "dashboards", "where", "located", "lives at", "docs", "documentation", "wiki", "channel",
		"endpoint", "host", "port", "runbook", "tracked in", "grafana", "linear", "jira", "confluence", "path",
		"链接", "文档", "地址", "仪表盘", "看板", "位于", "在哪",
	}},
	{"project", []string{
		"deadline", "deadlines", "due", "decided", "decision", "we decided", "milestone", "release", "roadmap", "sprint", "migration",
		"launch", "freeze", "blocked", "in progress", "goal", "plan", "planned", "ship", "shipped", "phase", "until",
		"截止", "决定", "里程碑", "发布", "上线", "计划", "迁移", "进度", "目标", "冻结",
	}},
}

// GuessType gives the type that a memory most likely has. A name that starts with a
// type, such as feedback_testing, decides at once; else words in English and Chinese
// do: what somebody wants, never or always, is feedback; who somebody is, user; where
// something stands, reference; what was decided and is due, project, which is also
// the answer where nothing speaks.
func GuessType(name, description, body string) string {
	if t := typeInName(name); t != "" {
		return t
	}
	best, most := "project", 0
	head := strings.ToLower(startOf(body, guessBytes))
	about := strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(name) + "\n" + startOf(description, guessBytes))
	for _, c := range cues {
		score := 0
		for _, w := range c.words {
			// The head says what a memory is about; a word repeated in the body says
			// little more than the word once.
			score += 3*min(countCue(about, w), 2) + min(countCue(head, w), 2)
		}
		if score > most {
			best, most = c.kind, score
		}
	}
	return best
}

// startOf gives the start of s, at most n bytes of whole characters.
func startOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// countCue counts a cue, at most twice.
func countCue(s, w string) int {
	n := 0
	for at := 0; n < 2; {
		i := strings.Index(s[at:], w)
		if i < 0 {
			break
		}
		i += at
		at = i + len(w)
		if w[0] >= utf8.RuneSelf || !partOfWord(s[:i], w, s[at:]) {
			n++
		}
	}
	return n
}

// partOfWord reports whether a cue is only part of a longer word.
func partOfWord(before, w, after string) bool {
	letter := func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	end := rune(w[len(w)-1])
	return letter(last) || letter(end) && letter(next)
}
