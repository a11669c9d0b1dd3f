// Package transcript reads the transcripts of sessions: JSON lines that a
// client appends while it works, however large or broken they have become. It
// finds the chain of messages that the client itself would resume, decodes
// messages on demand, and rebuilds what the client knew of the user's files.
//
// A transcript is read in one pass that keeps one small Row for each record of
// the conversation's tree and counts the rest, so that memory follows the
// number of messages and not the size of the file. Nothing here writes to a
// client's transcript. docs/formats.md specifies what is relied on.
package transcript

import (
	"errors"
	"time"
)

// Limits of the reader.
const (
	// DefaultMaxRecord is how long a record may be to be kept, in bytes without
	// its line end. Lines of 12 MB occur in the wild.
	DefaultMaxRecord = 16 << 20
	// maxMaxRecord keeps lengths within a Row's Len.
	maxMaxRecord = 1 << 30

	// maxTypes bounds Transcript.Types; further types count under OtherTypes.
	maxTypes = 256
	// maxTypeName is the longest name, in bytes, that a type is counted under.
	maxTypeName = 64
	// maxCwds bounds Transcript.Cwds.
	maxCwds = 64
	// maxText bounds title and first prompt, in bytes.
	maxText = 400
	// maxSummaries, maxCompactions and maxPreserved (uuids) bound what is kept of a file that consists
	// of nothing else; the newest stay.
	maxSummaries   = 1000
	maxCompactions = 4000
	maxPreserved   = 200_000
)

// OtherTypes is the key of Transcript.Types that counts what exceeds the limit
// of distinct types or has a name of more than 64 bytes.
const OtherTypes = "(other)"

// ErrNoRecords says that a file with content has not one line that is a record:
// it is no transcript, or JSON that is not written one record a line.
var ErrNoRecords = errors.New("no line of the file is a record of a transcript")

// ErrChanged says that a file no longer holds the row that was read from it.
var ErrChanged = errors.New("the file changed since it was read")

// Options bound and watch a Read. The zero value has the defaults.
type Options struct {
	// MaxRecord is the longest record that is kept, in bytes; longer ones are
	// skipped and counted. 0 means DefaultMaxRecord.
	MaxRecord int64
	// Workers is how many goroutines read; 0 means GOMAXPROCS. Each needs 1 MiB
	// and, while it meets longer records of the conversation, up to MaxRecord.
	Workers int
	// From is the offset at which reading starts: 0, or the start of a line.
	// Lines count from there, and parents before it are dangling.
	From int64
	// Strict checks the JSON of every record. Otherwise records that are known
	// to be no conversation (80 % of the bytes) are counted by the type
	// that they begin with, and only their ends and NUL bytes are looked at, so
	// that damage inside them can go unnoticed. The rows are the same.
	Strict bool
	// Progress is called with the bytes done so far and those to be done in
	// all, now and then, from several goroutines but never from two at once.
	Progress func(done, total int64)

	// The sizes below, smaller in tests.
	part   int64 // partSize
	window int64 // windowSize
}

// Transcript is what a pass over a file found. It is not changed by its
// methods, so it may be shared once it is there.
type Transcript struct {
	Size  int64 // the bytes that were read, to the end of the last line
	Lines int   // lines from the start of reading, blank ones included
	Types map[string]int
	Rows  Rows // in file order; of a duplicate uuid the last one
	// Problems of the lines and of the tree.
	Problems Problems
	// Shrunk says that the file became shorter while it was read: what was
	// there until then is in the transcript.
	Shrunk bool
	// Base is the offset at which reading started. Where it is not 0, what is
	// before it is pending: it is in no count.
	Base int64

	// Title is what the session is called: as a person named it, else as the
	// client did, else an older summary row; "" without any.
	Title       string
	TitleFrom   TitleSource
	FirstPrompt string // the first prompt of a person, shortened; "" without one
	Session     string // sessionId of the last message row that has one
	Agent       string // agentId, where this is the transcript of a subagent
	Cwds        []string
	Branch      string // of the last message row that has one
	Version     string // of the client, on the last message row that has one
	Model       string // of the last answer
	Start, End  time.Time
	Turns       int // prompts of a person in the main conversation
	// Subagent says that all messages are marked as sidechain: the file is a
	// subagent's own, and its sidechain rows are the conversation.
	Subagent    bool
	Compactions []Compaction
	Summaries   []Summary // older "summary" rows
	// LastPrompt is the leaf that the latest last-prompt record names.
	LastPrompt UUID

	index   index
	links   []int32        // effective parent of each row, or noParent
	last    int            // the last message row, -1 without one
	history []span         // records of the file history
	said    map[UUID]int32 // index in Compactions of what a boundary says
	// What ReadTail left pending.
	pending      *grid
	pendingParts int
	markers      []int32 // rows that are markers without a uuid, in file order
}

// Compaction is what a boundary says: everything before it is dropped, but for
// what it preserves.
type Compaction struct {
	UUID    UUID
	Logical UUID // what came before it; none where unknown
	Trigger string
	// Tokens before and after, as far as they are told.
	PreTokens, PostTokens int
	Anchor                UUID   // the row after which the preserved messages go
	Preserved             []UUID // in order
	AllPreserved          []UUID // with rows that belong to them
	Head, Tail            UUID   // the preserved segment, where there is no list
}

// Summary is a title that older clients wrote for the conversation that ends
// in Leaf, often into another session's file.
type Summary struct {
	Leaf UUID
	Text string
	Line uint32
}

// span is where a record lies.
type span struct {
	offset int64
	len    uint32
	line   uint32
}

// Row returns the index in Rows of the row with this uuid.
func (t *Transcript) Row(u UUID) (int, bool) {
	return t.index.find(&t.Rows, u)
}

// TitleSource says what a title comes from; a greater one is the better title.
type TitleSource uint8

// The sources of titles.
const (
	NoTitle      TitleSource = iota
	TitleSummary             // a summary row of an older client
	TitleAI                  // what the client called the session
	TitleCustom              // what a person called it
)
