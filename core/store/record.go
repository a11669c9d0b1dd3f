package store

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

// formatVersion is the version of the journal's records.
const formatVersion = 1

// Record is one applied change in the journal. docs/formats.md specifies how it
// is stored.
type Record struct {
	Version int       `json:"v"`
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Op      string    `json:"op"`
	Title   string    `json:"title"`
	Origin  string    `json:"origin,omitempty"`
	Actor   string    `json:"actor,omitempty"`
	Undoes  string    `json:"undoes,omitempty"` // the change that this one takes back
	Amends  string    `json:"amends,omitempty"` // the change that met an outside write
	// KeepTimes is how the change was applied, for whoever completes it or takes it back.
	KeepTimes bool         `json:"keepTimes,omitempty"`
	Files     []FileRecord `json:"files"`
	Payload   int          `json:"payload"` // bytes that follow the header line
	Sum       uint32       `json:"sum"`     // CRC-32C of them

	at      position // where it stands
	aborted bool
}

// OpVanished is the op of a record that notes what another program's write
// made vanish: undoing it puts that back.
const OpVanished = "vanished"

// OpDisplaced is the op of a record that keeps a text which another program
// wrote at the very moment of a write of ours.
const OpDisplaced = "displaced"

// FileRecord is one file of a record. Its texts follow in the payload: what the
// file was before, then the new text of each edit.
type FileRecord struct {
	Path   string   `json:"path"`
	Kind   string   `json:"kind"`             // create, edit, delete, append
	Before string   `json:"before,omitempty"` // hash, absent where the file did not exist
	After  string   `json:"after,omitempty"`  // hash, absent where it is deleted
	Size   int      `json:"size"`             // bytes of the text before
	Edits  [][3]int `json:"edits,omitempty"`  // start, end, bytes of the new text
	Offset int64    `json:"offset,omitempty"` // where an append starts
	Temp   string   `json:"temp,omitempty"`   // name of the temporary file beside it
	From   string   `json:"from,omitempty"`   // the path it had before, where it was renamed
	Linked []string `json:"linked,omitempty"` // topics whose entries this change wrote
}

// step is one file of a change, as it will be written.
type step struct {
	FileRecord
	before, after string
	exists        bool // before
	stays         bool // after
	edits         []text.Edit

	// While it is made:
	prepared  bool   // the temporary file holds the new text
	held      bool   // the temporary file holds what was displaced …
	displaced string // … and that was this
	without   string // what the file would hold without this change
	merged    bool   // with what another program wrote at the same moment
	stuck     bool   // the temporary file holds what could not be given back
	makesRoom bool   // it is deleted before the same name in another letter case comes
}

func newStep(path string, before string, exists bool, after string, stays bool) step {
	st := step{before: before, after: after, exists: exists, stays: stays}
	st.Path = path
	switch {
	case exists && stays:
		st.Kind = string(change.Edit)
		st.edits = text.Diff(before, after)
	case stays:
		st.Kind = string(change.Create)
		st.edits = []text.Edit{{New: after}}
	default:
		st.Kind = string(change.Delete)
	}
	if exists {
		st.Before, st.Size = text.Hash(before), len(before)
	}
	if stays {
		st.After = text.Hash(after)
	}
	if path == memfile.IndexName {
		st.Linked = linkedBy(before, after, st.edits)
	}
	for _, e := range st.edits {
		st.Edits = append(st.Edits, [3]int{e.Start, e.End, len(e.New)})
	}
	return st
}

// linkedBy gives the targets of the entries that edits wrote: those on the lines
// they touch that were not there before.
func linkedBy(before, after string, edits []text.Edit) []string {
	if len(edits) == 0 {
		return nil
	}
	e := edits[0] // newStep makes one edit
	old := map[string]bool{}
	for _, x := range entriesIn(before, e.Start, e.End) {
		old[x] = true
	}
	var out []string
	for target, x := range entriesIn(after, e.Start, e.Start+len(e.New)) {
		if !old[x] {
			out = append(out, target)
		}
	}
	slices.Sort(out)
	return out
}

// entriesIn gives the entries on the lines of s that a span touches, by target.
func entriesIn(s string, start, end int) map[string]string {
	start = strings.LastIndexByte(s[:start], '\n') + 1
	if i := strings.IndexByte(s[end:], '\n'); i >= 0 {
		end += i
	} else {
		end = len(s)
	}
	out := map[string]string{}
	x := memfile.ParseIndex(s[start:end])
	for _, e := range x.Entries {
		out[e.Target] = strings.TrimRight(x.Text().Slice(e.Span), "\r\n")
	}
	return out
}

// valid reports whether a header can be one of ours.
func (r *Record) valid() bool {
	if r.Version != formatVersion || len(r.ID) != idLength || r.Payload < 0 {
		return false
	}
	for _, f := range r.Files {
		if !fs.ValidPath(f.Path) || f.From != "" && !fs.ValidPath(f.From) || strings.ContainsAny(f.Temp, `/\\`) {
			return false
		}
	}
	return true
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// encode completes a record and gives its bytes: a header line, the payload, a
// newline; header is the length of the line.
func encode(r Record, steps []step) (_ Record, b []byte, header int, err error) {
	n := 0
	r.Files = make([]FileRecord, 0, len(steps))
	for _, st := range steps {
		r.Files = append(r.Files, st.FileRecord)
		n += len(st.before)
		for _, e := range st.edits {
			n += len(e.New)
		}
	}
	payload := make([]byte, 0, n)
	for _, st := range steps {
		payload = append(payload, st.before...)
		for _, e := range st.edits {
			payload = append(payload, e.New...)
		}
	}
	r.Version, r.Payload, r.Sum = formatVersion, n, checksum(payload)
	head, err := json.Marshal(r)
	if err != nil {
		return r, nil, 0, fmt.Errorf("encoding the journal record: %w", err)
	}
	b = make([]byte, 0, len(head)+n+2)
	b = append(append(b, head...), '\n')
	return r, append(append(b, payload...), '\n'), len(head) + 1, nil
}

// damagedError says that a record cannot be read.
type damagedError struct{ id, why string }

func (e *damagedError) Error() string {
	return fmt.Sprintf("the journal record %s is damaged: %s", e.id, e.why)
}

// decodeSteps gives the texts of a record from its payload.
func decodeSteps(r Record, payload []byte) ([]step, error) {
	if checksum(payload) != r.Sum {
		return nil, &damagedError{r.ID, "its checksum does not fit"}
	}
	take := func(n int) (string, bool) {
		if n < 0 || n > len(payload) {
			return "", false
		}
		s := string(payload[:n])
		payload = payload[n:]
		return s, true
	}
	short := &damagedError{r.ID, "a text is cut short"}
	var steps []step
	for _, f := range r.Files {
		st := step{FileRecord: f, exists: f.Before != "", stays: f.After != ""}
		ok := true
		if st.before, ok = take(f.Size); !ok {
			return nil, short
		}
		for _, e := range f.Edits {
			new, ok := take(e[2])
			if !ok {
				return nil, short
			}
			st.edits = append(st.edits, text.Edit{Span: text.Span{Start: e[0], End: e[1]}, New: new})
		}
		if st.stays {
			if st.after, ok = text.Apply(st.before, st.edits); !ok {
				return nil, &damagedError{r.ID, "its edits do not fit"}
			}
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// mark is a line that says how a change ended.
type mark struct {
	Version int    `json:"v"`
	Done    string `json:"done,omitempty"`
	Aborted string `json:"aborted,omitempty"`
}
