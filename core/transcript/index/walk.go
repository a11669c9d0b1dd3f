package index

import (
	"bytes"

	"mem/core/rawjson"
)

// record is what one line says, as pieces of the line: JSON values with their
// quotes, nil where the key is missing.
type record struct {
	kind, uuid, leaf, timestamp, message, summary []byte
	meta, sidechain, compact, apiError            bool
}

// read walks the keys of the object in line, jumping over values. It checks no
// more than it needs: what is taken out of a value is decoded strictly later. It
// returns false for what is no record that could be indexed; malformed tells
// lines that are no JSON object from those that are of no interest.
func (r *record) read(line []byte) (wanted, malformed bool) {
	*r = record{}
	other := false
	end := rawjson.Members(line, rawjson.Space(line, 0), func(key, value []byte) bool {
		r.take(key, value)
		other = r.kind != nil && !conversation(r.kind)
		return !other
	})
	if other {
		return false, false
	}
	if end < 0 || rawjson.Space(line, end) != len(line) {
		return false, true
	}
	return r.kind != nil, false
}

func (r *record) take(key, value []byte) {
	yes := value[0] == 't'
	switch string(key) {
	case "type":
		r.kind = value
	case "uuid":
		r.uuid = value
	case "leafUuid":
		r.leaf = value
	case "timestamp":
		r.timestamp = value
	case "message":
		r.message = value
	case "summary":
		r.summary = value
	case "isMeta":
		r.meta = yes
	case "isSidechain":
		r.sidechain = yes
	case "isCompactSummary":
		r.compact = yes
	case "isApiErrorMessage":
		r.apiError = yes
	}
}

func conversation(kind []byte) bool {
	switch string(kind) {
	case `"user"`, `"assistant"`, `"summary"`:
		return true
	}
	return false
}

var typePrefix = []byte(`{"type":"`)

// noise reports a line that its beginning shows to be no conversation: rows
// without a parent begin with their type. These are four fifths of all bytes.
func noise(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, typePrefix)
	if !ok {
		return false
	}
	end := bytes.IndexByte(rest, '"')
	return end > 0 && !conversation(line[len(typePrefix)-1:len(typePrefix)+end+1])
}
