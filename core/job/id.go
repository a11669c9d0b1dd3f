package job

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// idAlphabet is Crockford's base 32 in lower case: no letter is taken for a digit.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// An id is nine characters of time in milliseconds, so that ids sort as the jobs do, and
// six of chance, 30 bits: a host that was given one id cannot guess another.
const (
	idTime   = 9
	idChance = 6
	idLength = idTime + idChance
)

// newID gives an id that sorts after last, whatever became of the clock.
func newID(now time.Time, last string) (string, error) {
	ms := max(now.UnixMilli(), 0)
	if validID(last) && ms <= idMillis(last) {
		ms = idMillis(last) + 1
	}
	var id [idLength]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", fmt.Errorf("making a job id: %w", err)
	}
	for i := idTime; i < idLength; i++ {
		id[i] = idAlphabet[id[i]&31]
	}
	for i := idTime - 1; i >= 0; i-- {
		id[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	return string(id[:]), nil
}

func validID(s string) bool {
	return len(s) == idLength && strings.Trim(s, idAlphabet) == ""
}

// idMillis is the time in an id.
func idMillis(id string) int64 {
	var ms int64
	for i := range idTime {
		ms = ms<<5 | int64(strings.IndexByte(idAlphabet, id[i]))
	}
	return ms
}
