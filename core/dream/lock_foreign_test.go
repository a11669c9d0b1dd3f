package dream

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// foreign is a program that takes the lock as the seed has it, without an flock: it writes
// its number, and reads again whether that stands there.
type foreign struct {
	b   *bed
	pid string
}

func (f foreign) write() { f.b.put(f.pid, f.b.clock) }

func (f foreign) owns() bool { content, _ := f.b.file(); return content == f.pid }

// TestForeignTakesTheLockMeanwhile: another program takes the lock while we do. On every
// file system at most one of the two dreams, wherever its write falls; with neither an
// exclusive rename nor hard links, all but one that has read again already.
func TestForeignTakesTheLockMeanwhile(t *testing.T) {
	for _, c := range []struct {
		lacks, at string
		ours      bool // we dream, and the other sees that
	}{
		{lackNone, "create: temp", false},
		{lackNone, "create: locked", false},
		{lackRename, "create: locked", false},
		{lackBoth, "create: locked", false},
		{lackBoth, "create: looked", true},
		{lackNone, "create: named", false},
		{lackRename, "create: named", false},
		{lackBoth, "create: named", false},
		{lackNone, "begin: recorded", false},
		{lackNone, "put: truncated", true}, // ours takes its place
		{lackNone, "put: timed", false},
	} {
		t.Run(c.at+", without "+c.lacks, func(t *testing.T) {
			b := newBed(t)
			b.lives[20045] = "s"
			b.lacks = lacking(c.lacks)
			f := foreign{b, "20045"}
			wrote := false
			b.instant = func(at string) {
				if at == c.at && !wrote {
					wrote = true
					f.write()
				}
			}
			h, err := b.Take("job", nil)
			if !wrote {
				t.Fatal("it never came there")
			}
			var busy *BusyError
			switch {
			case c.ours:
				if err != nil || f.owns() {
					t.Fatalf("we: %v; the other believes that it dreams: %t", err, f.owns())
				}
				if err := h.Rollback(); err != nil {
					t.Fatal(err)
				}
				b.want("absent", time.Time{})
			case !errors.As(err, &busy) || busy.PID != 20045:
				t.Fatalf("%v", err)
			default:
				b.want("20045", b.clock)
				if rec, err := readRecord(b.State); err != nil || rec.Run != nil {
					t.Errorf("the record: %+v, %v", rec.Run, err)
				}
			}
			names, err := os.ReadDir(b.Directory)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				if n.Name() != LockName {
					t.Errorf("left behind: %s", n.Name())
				}
			}
		})
	}
}

// TestForeignRemovesTheLockMeanwhile: nothing is begun, and nothing is left of it.
func TestForeignRemovesTheLockMeanwhile(t *testing.T) {
	b := newBed(t)
	before := b.clock.Add(-48 * time.Hour)
	b.put("", before)
	b.instant = func(at string) {
		if at == "begin: recorded" {
			if err := os.Remove(b.path()); err != nil {
				t.Fatal(err)
			}
			b.instant = nil
		}
	}
	if _, err := b.Take("job", nil); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Fatal(err)
	}
	b.want("absent", time.Time{})
	if rec, err := readRecord(b.State); err != nil || rec.Run != nil {
		t.Errorf("the record: %+v, %v", rec.Run, err)
	}
}
