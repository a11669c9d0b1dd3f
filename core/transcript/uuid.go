package transcript

import (
	"crypto/sha256"
	"encoding/hex"
)

// UUID identifies a row. The zero value is none.
type UUID [16]byte

// ParseUUID returns the id that s stands for in a transcript. A UUID in its
// usual form, lower case with dashes, is itself. Anything else is hashed, since
// clients compare ids as text: the result is a UUID of version 8 (RFC 9562:
// free for any use), which no client writes. "" is none.
func ParseUUID(s string) UUID { return parseUUID([]byte(s)) }

func parseUUID(s []byte) UUID {
	var u UUID
	if len(s) == 0 {
		return u
	}
	if canonical(s, &u) {
		return u
	}
	sum := sha256.Sum256(s)
	copy(u[:], sum[:16])
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return u
}

// nibbles maps lower-case hexadecimal digits to their value; others to 0xff.
var nibbles = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range 10 {
		t['0'+i] = byte(i)
	}
	for i := range 6 {
		t['a'+i] = byte(10 + i)
	}
	return t
}()

func canonical(s []byte, u *UUID) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	at, bad := 0, byte(0)
	for i := 0; i < 36; i += 2 {
		if s[i] == '-' {
			i++
		}
		hi, lo := nibbles[s[i]], nibbles[s[i+1]]
		bad |= hi | lo
		u[at] = hi<<4 | lo&0x0f
		at++
	}
	if bad&0xf0 != 0 || *u == (UUID{}) {
		*u = UUID{}
		return false
	}
	return true
}

// IsZero reports whether u is none.
func (u UUID) IsZero() bool { return u == UUID{} }

// String returns the usual form, or "" for none. For an id that was hashed it is
// not what the transcript says; Message.UUID is.
func (u UUID) String() string {
	if u.IsZero() {
		return ""
	}
	var b [36]byte
	hex.Encode(b[:8], u[:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:], u[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// MarshalText gives String, so that ids read well in JSON.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText is ParseUUID.
func (u *UUID) UnmarshalText(b []byte) error {
	*u = parseUUID(b)
	return nil
}

// key shortens an id to what tells it apart from the others of a file; 0 is
// none.
func (u UUID) key() uint64 {
	var k uint64
	for i := range 8 {
		k = k<<8 | uint64(u[i]^u[i+8])
	}
	return k
}
