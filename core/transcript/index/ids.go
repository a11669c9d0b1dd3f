package index

import (
	"encoding/hex"
	"math"
)

// The rowid of an entry says what ranking needs of it, so that a search looks at
// no table but the index itself: from the top 24 bits of the source, 30 of the
// turn, 6 of the place in the turn, 3 of the role.
//
// A turn is a prompt, an answer or a summary with the tool calls and results
// that follow it; neighbours are neighbouring turns.
type rowID int64

const (
	roleBits   = 3
	withinBits = 6
	turnBits   = 30
	turnShift  = roleBits + withinBits
	srcShift   = turnShift + turnBits

	maxWithin = 1<<withinBits - 1
	maxTurn   = 1<<turnBits - 1
	maxSource = math.MaxInt64 >> srcShift
)

func makeID(source int64, turn, within int, role Role) rowID {
	return rowID(source<<srcShift | int64(turn)<<turnShift | int64(within)<<roleBits | int64(role))
}

func (id rowID) source() int64 { return int64(id) >> srcShift }
func (id rowID) turn() int     { return int(id>>turnShift) & maxTurn }
func (id rowID) role() Role    { return Role(id & (1<<roleBits - 1)) }

// span returns the ids that a source can have, the end exclusive. Only the last
// source of all has an end that is one too low.
func span(source int64) (from, to int64) {
	if source >= maxSource {
		return source << srcShift, math.MaxInt64
	}
	return source << srcShift, (source + 1) << srcShift
}

// place is where the next entry of a source goes.
type place struct{ turn, within int }

// next gives the place of an entry and moves on. ok is false where a source has
// more entries than ids.
func (p *place) next(role Role) (turn, within int, ok bool) {
	switch role {
	case ToolCall, ToolResult:
		p.within++
	default:
		p.turn, p.within = p.turn+1, 0
	}
	if p.within > maxWithin {
		p.turn, p.within = p.turn+1, 0
	}
	return p.turn, p.within, p.turn <= maxTurn
}

// packUUID stores a UUID in its 16 bytes and any other id as it is. A text of 16
// bytes gets a mark so that the two cannot be taken for each other.
func packUUID(s string) []byte {
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		b, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
		if err == nil && unpackUUID(b) == s {
			return b
		}
	}
	if len(s) == 16 {
		return append([]byte{0}, s...)
	}
	return []byte(s)
}

func unpackUUID(b []byte) string {
	switch {
	case len(b) == 16:
		h := hex.EncodeToString(b)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	case len(b) == 17 && b[0] == 0:
		return string(b[1:])
	}
	return string(b)
}
