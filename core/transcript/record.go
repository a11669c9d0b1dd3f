package transcript

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/rawjson"
)

// str is a string value as it stands in a line: between its quotes.
type str struct {
	raw     []byte
	escaped bool
	set     bool // the key is there, with a string
}

// bytes gives the text, a part of the line where it can. What is no UTF-8 becomes
// U+FFFD, as when the client reads it.
func (s str) bytes() []byte {
	if s.escaped || !utf8.Valid(s.raw) {
		return rawjson.Unescape(append(append([]byte{'"'}, s.raw...), '"'))
	}
	return s.raw
}

// record is what the reader wants of one line. Its strings are parts of the
// line and only good until the next one.
type record struct {
	typ, subtype, uuid, parent, logical, source   str
	timestamp, cwd, branch, session, version      str
	agent, leaf, content                          str
	sidechain, meta, summary, transcriptOnly, api bool
	messageID, model, text                        str
	blockType                                     str // type of the content block that is read
	blocks                                        Flags
	compact                                       []byte // compactMetadata
}

// walker takes lines apart.
type walker struct {
	rawjson.Scanner
	rec record
	// The methods below as values, made once: a closure for each line would
	// cost more than the walk of a short one.
	onTop, onMessage, onBlock func(key []byte, i int) int
	onElement                 func(i int) int

	line []byte
}

func newWalker() *walker {
	w := &walker{}
	w.onTop, w.onMessage, w.onBlock, w.onElement = w.top, w.message, w.block, w.element
	return w
}

// verdict is what a line turned out to be.
type verdict uint8

const (
	isRecord verdict = iota
	isMalformed
	isForeign // JSON, but no record
)

// walk takes line apart into w.rec. It has no surrounding white space and is
// not empty.
func (w *walker) walk(line []byte) verdict {
	w.rec = record{}
	w.line = line
	if line[0] != '{' {
		if w.Valid(line) {
			return isForeign
		}
		return isMalformed
	}
	if end := w.Object(line, 0, 0, w.onTop); end != len(line) {
		return isMalformed
	}
	if !w.rec.typ.set || len(w.rec.typ.raw) == 0 {
		return isForeign
	}
	return isRecord
}

// str reads the value at i into s, which becomes unset when it is no string.
func (w *walker) str(s *str, i int) int {
	*s = str{}
	if w.line[i] != '"' {
		return w.Value(w.line, i)
	}
	end, escaped := rawjson.ScanString(w.line, i)
	if end >= 0 {
		*s = str{raw: w.line[i+1 : end-1], escaped: escaped, set: true}
	}
	return end
}

// flag reads the value at i into f: whether it is true.
func (w *walker) flag(f *bool, i int) int {
	*f = w.line[i] == 't'
	return w.Value(w.line, i)
}

// top takes a member of the record. Where a key occurs twice the last one
// counts, as in the client's parser.
func (w *walker) top(key []byte, i int) int {
	r := &w.rec
	switch string(key) {
	case "type":
		return w.str(&r.typ, i)
	case "subtype":
		return w.str(&r.subtype, i)
	case "uuid":
		return w.str(&r.uuid, i)
	case "parentUuid":
		return w.str(&r.parent, i)
	case "logicalParentUuid":
		return w.str(&r.logical, i)
	case "sourceToolAssistantUUID":
		return w.str(&r.source, i)
	case "timestamp":
		return w.str(&r.timestamp, i)
	case "cwd":
		return w.str(&r.cwd, i)
	case "gitBranch":
		return w.str(&r.branch, i)
	case "sessionId":
		return w.str(&r.session, i)
	case "version":
		return w.str(&r.version, i)
	case "agentId":
		return w.str(&r.agent, i)
	case "leafUuid":
		return w.str(&r.leaf, i)
	case "content":
		return w.str(&r.content, i)
	case "isSidechain":
		return w.flag(&r.sidechain, i)
	case "isMeta":
		return w.flag(&r.meta, i)
	case "isCompactSummary":
		return w.flag(&r.summary, i)
	case "isVisibleInTranscriptOnly":
		return w.flag(&r.transcriptOnly, i)
	case "isApiErrorMessage":
		return w.flag(&r.api, i)
	case "message":
		r.messageID, r.model, r.text, r.blockType, r.blocks = str{}, str{}, str{}, str{}, 0
		if w.line[i] == '{' {
			return w.Object(w.line, i, 1, w.onMessage)
		}
	case "compactMetadata":
		end := w.Value(w.line, i)
		if end >= 0 {
			r.compact = w.line[i:end]
		}
		return end
	}
	return w.Value(w.line, i)
}

// message takes a member of the API message.
func (w *walker) message(key []byte, i int) int {
	r := &w.rec
	switch string(key) {
	case "id":
		return w.str(&r.messageID, i)
	case "model":
		return w.str(&r.model, i)
	case "content":
		r.text, r.blockType, r.blocks = str{}, str{}, 0
		switch w.line[i] {
		case '"':
			return w.str(&r.text, i)
		case '[':
			return w.Array(w.line, i, 2, w.onElement)
		}
	}
	return w.Value(w.line, i)
}

// element takes an element of the content of the API message.
func (w *walker) element(i int) int {
	if w.line[i] != '{' {
		return w.Value(w.line, i)
	}
	w.rec.blockType = str{}
	i = w.Object(w.line, i, 3, w.onBlock)
	w.rec.blocks |= blockFlag(w.rec.blockType.bytes())
	return i
}

// flagText marks content with text; it never gets into a Row.
const flagText Flags = 1 << 15

func blockFlag(typ []byte) Flags {
	switch string(typ) {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return FlagToolUse
	case "tool_result":
		return FlagToolResult
	case "thinking", "redacted_thinking":
		return FlagThinking
	case "text", "image", "document":
		return flagText
	}
	return 0
}

// block takes a member of a content block.
func (w *walker) block(key []byte, i int) int {
	switch string(key) {
	case "type":
		return w.str(&w.rec.blockType, i)
	case "text":
		if !w.rec.text.set {
			return w.str(&w.rec.text, i)
		}
	}
	return w.Value(w.line, i)
}

// kind says what the record is in the tree; NoKind for one outside of it.
func (r *record) kind() Kind {
	typ, subtype := r.typ.bytes(), r.subtype.bytes()
	collapse := isCollapse(typ) || isCollapse(subtype)
	if !r.uuid.set || len(r.uuid.raw) == 0 {
		if collapse && r.content.set {
			return Collapse
		}
		return NoKind
	}
	switch string(typ) {
	case "user":
		return User
	case "assistant":
		return Assistant
	case "attachment":
		return Attachment
	case "system":
		if string(subtype) == "compact_boundary" {
			return Boundary
		}
		if collapse {
			return Collapse
		}
		return System
	case "progress":
		return Progress
	}
	if collapse {
		return Collapse
	}
	return Other
}

// isCollapse knows markers in the style of context_collapse_snapshot, which
// older descriptions of the client name.
func isCollapse(name []byte) bool {
	return bytes.HasPrefix(name, []byte("context_collapse")) || bytes.HasPrefix(name, []byte("context-collapse"))
}

// flags gives the flags of a message row.
func (r *record) flags(k Kind) Flags {
	var f Flags
	if r.sidechain {
		f |= FlagSidechain
	}
	if r.meta {
		f |= FlagMeta
	}
	if r.transcriptOnly {
		f |= FlagTranscriptOnly
	}
	if k != User && k != Assistant {
		return f
	}
	if r.summary && k == User {
		f |= FlagCompactSummary
	}
	if r.api {
		f |= FlagAPIError
	}
	f |= r.blocks &^ flagText
	if k == User && f&(FlagMeta|FlagTranscriptOnly|FlagCompactSummary|FlagToolResult) == 0 &&
		(r.text.set || r.blocks&flagText != 0) && !isNotice(r.text.raw) {
		f |= FlagPrompt
	}
	return f
}

// notices begin user rows that no person wrote as a prompt: a command of the
// client or of the shell, its output, an interruption.
var notices = [][]byte{
	[]byte("<command-"), []byte("<local-command-"), []byte("<bash-"), []byte("<system-reminder>"),
	[]byte("<task-notification>"), []byte("[Request interrupted"), []byte("Caveat: "),
}

// isNotice takes a text as it stands in the line. Some writers of JSON escape the
// angle brackets.
func isNotice(text []byte) bool {
	if bytes.HasPrefix(text, []byte(`\u003`)) {
		text = []byte(angles.Replace(string(text[:min(len(text), 64)])))
	}
	for _, n := range notices {
		if bytes.HasPrefix(text, n) {
			return true
		}
	}
	return false
}

// angles undoes the escapes of angle brackets.
var angles = strings.NewReplacer(`\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">")

// seconds parses a timestamp, 0 when it is none. The form that clients write is
// read without time.Parse, which would cost as much as the rest of a short row.
func seconds(s []byte) uint32 {
	if len(s) >= 20 && len(s) <= 30 && s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[13] == ':' && s[16] == ':' && s[len(s)-1] == 'Z' {
		year, mon, day := decimal(s[:4]), decimal(s[5:7]), decimal(s[8:10])
		h, m, sec := decimal(s[11:13]), decimal(s[14:16]), decimal(s[17:19])
		if year >= 1970 && mon >= 1 && mon <= 12 && day >= 1 && day <= 31 && h >= 0 && h < 24 && m >= 0 && m < 60 && sec >= 0 && sec < 61 {
			return clampSeconds(time.Date(year, time.Month(mon), day, h, m, sec, 0, time.UTC))
		}
		return 0
	}
	t, err := time.Parse(time.RFC3339, string(s))
	if err != nil {
		return 0
	}
	return clampSeconds(t)
}

func clampSeconds(t time.Time) uint32 {
	if s := t.Unix(); s > 0 && s < 1<<32 {
		return uint32(s)
	}
	return 0
}

func decimal(s []byte) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
