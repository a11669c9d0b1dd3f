// Package rawjson finds the places of values in JSON that stays bytes: nothing is decoded but what is asked for, so a
// megabyte that nobody wants costs a look at its bytes and no memory.
//
// Places are indexes into the text; -1 stands for "no JSON". There are two ways through a text. A Scanner checks all of it,
// as strictly as encoding/json. Value, Member, First and Next, and what walks with them, jump over values: they
// see where strings end and how brackets nest, and are for texts that somebody else checks, or where what is taken out is
// decoded strictly later. Both agree on every text that is JSON.
package rawjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Space gives the place of the first byte from i on that is no white space, or len(b).
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// Unescape gives the text of a string with its quotes; nil where that is no JSON. What is no UTF-8 in it becomes U+FFFD, as
// with encoding/json.
func Unescape(quoted []byte) []byte {
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return nil
	}
	return []byte(out)
}

// Text gives the text of a value that is a string, "" for any other one and for nil.
func Text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if in := value[1 : len(value)-1]; bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
		return string(in)
	}
	var out string
	if json.Unmarshal(value, &out) != nil {
		return ""
	}
	return out
}
