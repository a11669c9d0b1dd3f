package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
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
	Version int          `json:"v"`
	ID      string       `json:"id"`
	Time    time.Time    `json:"time"`
	Op      string       `json:"op"`
	Title   string       `json:"title"`
	Origin  string       `json:"origin,omitempty"`
	Actor   string       `json:"actor,omitempty"`
	Undoes  string       `json:"undoes,omitempty"` // the change that this one takes back
	Amends  string       `json:"amends,omitempty"` // the change that met an outside write
	Files   []FileRecord `json:"files"`
	Payload int          `json:"payload"` // bytes that follow the header line
	Sum     uint32       `json:"sum"`     // CRC-32C of them

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
	Linked []string `json:"linked,omitempty"` // topics whose entries this change wrote
}

// step is one file of a change, as it will be written.
type step struct {
	FileRecord
	before, after string
	exists        bool // before
	stays         bool // after
	edits         []text.Edit
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
		st.Linked = linkedBy(after, st.edits)
	}
	for _, e := range st.edits {
		st.Edits = append(st.Edits, [3]int{e.Start, e.End, len(e.New)})
	}
	return st
}

// linkedBy gives the targets of the entries on the lines that edits touch: those
// that the change wrote.
func linkedBy(after string, edits []text.Edit) []string {
	if len(edits) == 0 {
		return nil
	}
	start := strings.LastIndexByte(after[:edits[0].Start], '\n') + 1
	end := edits[0].Start + len(edits[0].New)
	if i := strings.IndexByte(after[end:], '\n'); i >= 0 {
		end += i
	} else {
		end = len(after)
	}
	var out []string
	for _, e := range memfile.ParseIndex(after[start:end]).Entries {
		out = append(out, e.Target)
	}
	return out
}

// encode gives the bytes of a record: a header line, the payload, a newline.
func encode(r Record, steps []step) ([]byte, error) {
	var payload bytes.Buffer
	for _, st := range steps {
		payload.WriteString(st.before)
		for _, e := range st.edits {
			payload.WriteString(e.New)
		}
	}
	r.Files = r.Files[:0:0]
	for _, st := range steps {
		r.Files = append(r.Files, st.FileRecord)
	}
	r.Version = formatVersion
	r.Payload = payload.Len()
	r.Sum = crc32.Checksum(payload.Bytes(), crc32.MakeTable(crc32.Castagnoli))
	head, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the journal record: %w", err)
	}
	out := make([]byte, 0, len(head)+payload.Len()+2)
	out = append(append(out, head...), '\n')
	return append(append(out, payload.Bytes()...), '\n'), nil
}

// decodeSteps gives the texts of a record from its payload.
func decodeSteps(r Record, payload []byte) ([]step, error) {
	if crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli)) != r.Sum {
		return nil, fmt.Errorf("the journal record %s is damaged: its checksum does not fit", r.ID)
	}
	take := func(n int) (string, bool) {
		if n < 0 || n > len(payload) {
			return "", false
		}
		s := string(payload[:n])
		payload = payload[n:]
		return s, true
	}
	var steps []step
	for _, f := range r.Files {
		st := step{FileRecord: f, exists: f.Before != "", stays: f.After != ""}
		ok := true
		if st.before, ok = take(f.Size); !ok {
			return nil, fmt.Errorf("the journal record %s is damaged: a text is cut short", r.ID)
		}
		for _, e := range f.Edits {
			new, ok := take(e[2])
			if !ok {
				return nil, fmt.Errorf("the journal record %s is damaged: a text is cut short", r.ID)
			}
			st.edits = append(st.edits, text.Edit{Span: text.Span{Start: e[0], End: e[1]}, New: new})
		}
		if st.stays {
			if st.after, ok = text.Apply(st.before, st.edits); !ok {
				return nil, fmt.Errorf("the journal record %s is damaged: its edits do not fit", r.ID)
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
