package store

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// idAlphabet is Crockford's base 32 in lower case: no letter is taken for a digit.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// idLength is the number of characters of an id.
const idLength = 13

// newID gives the id of a change: nine characters of time in milliseconds, so
// that ids sort as the changes do, and four of chance. It is later than after.
func newID(now time.Time, after string, random io.Reader) (string, error) {
	var chance [4]byte
	if _, err := io.ReadFull(random, chance[:]); err != nil {
		return "", fmt.Errorf("making a change id: %w", err)
	}
	ms := now.UnixMilli()
	if len(after) == idLength {
		if last := decodeTime(after); ms <= last {
			ms = last + 1
		}
	}
	id := make([]byte, idLength)
	for i := 8; i >= 0; i-- {
		id[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	for i, c := range chance {
		id[9+i] = idAlphabet[c&31]
	}
	return string(id), nil
}

func decodeTime(id string) int64 {
	var ms int64
	for i := range 9 {
		for v := range len(idAlphabet) {
			if idAlphabet[v] == id[i] {
				ms = ms<<5 | int64(v)
				break
			}
		}
	}
	return ms
}

// idAfter gives the first id that is later than id.
func idAfter(id string) string {
	out, err := newID(time.UnixMilli(0), id, strings.NewReader("\x00\x00\x00\x00"))
	if err != nil {
		return id + "0" // cannot happen: the reader has four bytes
	}
	return out
}
