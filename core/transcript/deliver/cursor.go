package deliver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"

	"mem/core/transcript"
)

// cursor names a place on a chain: what is before Position is still to be
// delivered.
type cursor struct {
	Session  string          `json:"s"` // hash of its id
	Leaf     transcript.UUID `json:"l"`
	Position int             `json:"p"`
	// Rows is a hash of the rows before Position, so that a cursor is not used on
	// what is no longer there.
	Rows string `json:"h"`
}

func (c cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (cursor, error) {
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(s))
	if err != nil || json.Unmarshal(b, &c) != nil || c.Position < 0 || c.Leaf.IsZero() {
		return c, ErrCursor
	}
	return c, nil
}

func hashSession(t *transcript.Transcript) string {
	h := sha256.Sum256([]byte(t.Session + "\x00" + t.Agent))
	return hex.EncodeToString(h[:4])
}

// hashRows names the rows of a chain's beginning.
func hashRows(t *transcript.Transcript, rows []int) string {
	h := sha256.New()
	var b [28]byte
	for _, i := range rows {
		r := t.Rows.At(i)
		copy(b[:], r.UUID[:])
		binary.LittleEndian.PutUint32(b[16:], r.Len)
		binary.LittleEndian.PutUint64(b[20:], uint64(r.Kind))
		h.Write(b[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
