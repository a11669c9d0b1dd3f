package project

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

var errIndex = errors.New("it is damaged, or cut short")

// indexNames returns the path of every entry of a git index, of the versions 2, 3 and 4,
// in a repository whose objects have names of so many bytes. An index that keeps entries
// elsewhere (split or sparse) is an error: what it does not list could still be tracked.
func indexNames(data []byte, bytesOfName int) (names []string, err error) {
	end := len(data) - bytesOfName
	if end < 12 || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("it has version %d, and 2 to 4 are read here", version)
	}
	if err := indexSum(data[:end], data[end:]); err != nil {
		return nil, err
	}
	const stat = 40 // bytes of times, modes, owners and size before the object's name
	rest := data[12:end]
	var last []byte
	for range count {
		head := stat + bytesOfName + 2
		if len(rest) < head+1 {
			return nil, errIndex
		}
		const extended = 1 << 14
		if flags := binary.BigEndian.Uint16(rest[head-2:]); version > 2 && flags&extended != 0 {
			head += 2
		}
		if version == 4 {
			// A name says how much of the end of the one before it goes.
			cut, n := indexVarint(rest[min(head, len(rest)):])
			if n == 0 || cut > uint64(len(last)) {
				return nil, errIndex
			}
			rest = rest[head+n:]
			size := bytes.IndexByte(rest, 0)
			if size < 0 {
				return nil, errIndex
			}
			last = append(last[:len(last)-int(cut):len(last)-int(cut)], rest[:size]...)
			rest = rest[size+1:]
		} else {
			size := bytes.IndexByte(rest[min(head, len(rest)):], 0)
			if size < 0 {
				return nil, errIndex
			}
			last = rest[head : head+size]
			full := (head + size + 8) / 8 * 8 // one to eight zeros fill it up
			if full > len(rest) {
				return nil, errIndex
			}
			rest = rest[full:]
		}
		names = append(names, string(last))
	}
	for len(rest) > 0 {
		if len(rest) < 8 || uint64(binary.BigEndian.Uint32(rest[4:])) > uint64(len(rest)-8) {
			return nil, errIndex
		}
		if kind := rest[:4]; kind[0] < 'A' || kind[0] > 'Z' {
			return nil, fmt.Errorf("it keeps entries elsewhere (extension %q: a split or sparse index), where they are not looked for", kind)
		}
		rest = rest[8+binary.BigEndian.Uint32(rest[4:]):]
	}
	return names, nil
}

// indexSum compares the checksum at the end, which git may be told to leave out.
func indexSum(data, want []byte) error {
	if bytes.Equal(want, make([]byte, len(want))) {
		return nil
	}
	var got []byte
	if len(want) == sha256.Size {
		sum := sha256.Sum256(data)
		got = sum[:]
	} else {
		sum := sha1.Sum(data)
		got = sum[:]
	}
	if !bytes.Equal(got, want) {
		return errIndex
	}
	return nil
}

// indexVarint reads a number of seven bits a byte, and one more for each that follows; n is
// how many bytes it took, 0 where it does not end.
func indexVarint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 9 {
		c := b[n]
		n++
		v = v<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			return v, n
		}
		v++
	}
	return 0, 0
}
