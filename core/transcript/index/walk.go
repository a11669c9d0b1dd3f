package index

import "bytes"

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
	end := members(line, skipSpace(line, 0), func(key, value []byte) bool {
		r.take(key, value)
		other = r.kind != nil && !conversation(r.kind)
		return !other
	})
	if other {
		return false, false
	}
	if end < 0 || skipSpace(line, end) != len(line) {
		return false, true
	}
	return r.kind != nil, false
}

// members calls f with the keys and values of the object that begins at b[i],
// keys without their quotes, until f returns false. It returns the place after
// the object; -1 where there is none, or where f ended it.
func members(b []byte, i int, f func(key, value []byte) bool) int {
	if i >= len(b) || b[i] != '{' {
		return -1
	}
	i = skipSpace(b, i+1)
	for i < len(b) && b[i] == '"' {
		end := skipString(b, i)
		if end < 0 {
			return -1
		}
		key := b[i+1 : end-1]
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return -1
		}
		i = skipSpace(b, i+1)
		end = skipValue(b, i)
		if end <= i || !f(key, b[i:end]) {
			return -1
		}
		if i = skipSpace(b, end); i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
			continue
		}
		break
	}
	if i >= len(b) || b[i] != '}' {
		return -1
	}
	return i + 1
}

// elements calls f with the values of the array raw until f returns false.
func elements(raw []byte, f func(value []byte) bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return
	}
	i = skipSpace(raw, i+1)
	for i < len(raw) && raw[i] != ']' {
		end := skipValue(raw, i)
		if end <= i || !f(raw[i:end]) {
			return
		}
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
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

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the place after the string that begins at b[i], -1 where it
// does not end.
func skipString(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		at := i + n
		slashes := 0
		for at-slashes > i && b[at-slashes-1] == '\\' {
			slashes++
		}
		i = at + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// skipValue returns the place after the value that begins at b[i], -1 where it
// does not end.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				if i = skipString(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	case ',', ':', '}', ']':
		return -1
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	return i
}
