package agentmem

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mem/core/project"
)

// References that git keeps as a reftable: a stack of tables, of which a newer one hides
// what older ones say. Only what finds one reference is read: blocks of references, in
// order. Git's documentation (reftable) specifies the format.

const (
	maxTables = 1_000    // git joins tables, so that there are a few
	maxTable  = 64 << 20 // bytes; a reference takes some 40
	// tableTries is how often a stack is read anew: git may replace tables meanwhile.
	tableTries = 3
)

var errTable = errors.New("a reftable is damaged")

// tableRef gives what a reference is, as fileRef does. HEAD is the worktree's own.
func tableRef(gitDir, commonDir, name string, bytesOfName int) (string, error) {
	dir := commonDir
	if name == "HEAD" {
		dir = gitDir
	}
	dir = filepath.Join(dir, "reftable")
	var err error
	for range tableTries {
		var value string
		if value, err = stackRef(dir, name, bytesOfName); !errors.Is(err, fs.ErrNotExist) {
			return value, err
		}
	}
	return "", err
}

// stackRef looks through the tables of a folder, the newest first.
func stackRef(dir, name string, bytesOfName int) (string, error) {
	list, err := project.ReadFile(filepath.Join(dir, "tables.list"), 1<<20)
	if err != nil {
		return "", fmt.Errorf("reading the tables of references in %s: %w", dir, project.Reason(err))
	}
	tables := strings.Fields(string(list))
	if len(tables) > maxTables {
		return "", fmt.Errorf("%s has %d tables of references; at most %d are read", dir, len(tables), maxTables)
	}
	for i := len(tables) - 1; i >= 0; i-- {
		if strings.ContainsAny(tables[i], `/\:`) || strings.HasPrefix(tables[i], ".") {
			return "", fmt.Errorf("%s names %.80q, which is no table", filepath.Join(dir, "tables.list"), tables[i])
		}
		file := filepath.Join(dir, tables[i])
		data, err := project.ReadFile(file, maxTable)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, project.Reason(err))
		}
		value, found, err := refInTable(data, name, bytesOfName)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		if found {
			return value, nil
		}
	}
	return "", nil
}

// refInTable finds a reference in one table: found with "" says that it was deleted.
func refInTable(data []byte, name string, bytesOfName int) (value string, found bool, err error) {
	if len(data) < 24 || string(data[:4]) != "REFT" {
		return "", false, errTable
	}
	head, size := 24, int(uint24(data[5:]))
	switch version := data[4]; version {
	case 1:
	case 2:
		head = 28 // the name of the hash stands behind
	default:
		return "", false, fmt.Errorf("it is a reftable of version %d, and 1 and 2 are read here", version)
	}
	at := head
	for at+4 <= len(data) && data[at] == 'r' {
		start := at
		if at == head {
			start = 0 // the header is part of the first block
		}
		end := start + int(uint24(data[at+1:]))
		if end < at+6 || end > len(data) {
			return "", false, errTable
		}
		if value, found, err = refInBlock(data[at+4:end], name, bytesOfName); found || err != nil {
			return value, found, err
		}
		next := end
		// A block is filled up with zeros, unless tables are written without.
		if full := start + size; size > 0 && full > end && (end == len(data) || data[end] == 0) {
			next = full
		}
		at = next
	}
	return "", false, nil
}

// refInBlock looks through the records of a block, which are in the order of their names.
func refInBlock(block []byte, name string, bytesOfName int) (value string, found bool, err error) {
	// Behind the records: places to start at, three bytes each, and their number.
	restarts := int(binary.BigEndian.Uint16(block[len(block)-2:]))
	end := len(block) - 2 - 3*restarts
	if end < 0 {
		return "", false, errTable
	}
	r := tableReader{rest: block[:end]}
	last := []byte{}
	for len(r.rest) > 0 {
		shared, suffix := r.varint(), r.varint()
		kind := suffix & 7
		tail := r.take(suffix >> 3)
		r.varint() // when it was written
		if r.bad || shared > uint64(len(last)) {
			return "", false, errTable
		}
		last = append(last[:shared:shared], tail...)
		var v string
		switch kind {
		case 0: // deleted
		case 1:
			v = hex.EncodeToString(r.take(uint64(bytesOfName)))
		case 2: // a tag, and what it is one of
			v = hex.EncodeToString(r.take(uint64(bytesOfName)))
			r.take(uint64(bytesOfName))
		case 3:
			v = "ref: " + string(r.take(r.varint()))
		default:
			return "", false, errTable
		}
		if r.bad {
			return "", false, errTable
		}
		if string(last) == name {
			return v, true, nil
		}
	}
	return "", false, nil
}

// tableReader reads the parts of records.
type tableReader struct {
	rest []byte
	bad  bool // it ended too early
}

func (r *tableReader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// varint reads a number as git's packs write distances: seven bits a byte, and one more for
// each byte that follows.
func (r *tableReader) varint() uint64 {
	var v uint64
	for i := 0; ; i++ {
		b := r.take(1)
		if r.bad || i > 8 {
			r.bad = true
			return 0
		}
		v = v<<7 | uint64(b[0]&0x7f)
		if b[0]&0x80 == 0 {
			return v
		}
		v++
	}
}

func uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }
