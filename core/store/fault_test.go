package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// takesRoom reports whether an operation can fail because the disk is full.
func takesRoom(op string) bool {
	return slices.Contains([]string{"mkdir", "open", "write", "write rest", "sync"}, op)
}

// TestFaultAtEachInstant lets each operation fail once.
func TestFaultAtEachInstant(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO, syscall.EPERM} {
		for _, sc := range scenarios() {
			t.Run(fmt.Sprintf("%v/%s", fault, sc.name), func(t *testing.T) {
				t.Parallel()
				after, ops := sc.rehearse(t)
				stage := sc.stages(t)
				for k := 1; k <= ops.n; k++ {
					st := stage()
					c := &counter{at: map[int]func() error{k: func() error { return fault }}}
					r, err := sc.act(t, st.open(t, c))
					st.checkFailed(t, after, r, err, fault, "fault at "+ops.op(k))
				}
			})
		}
	}
}

// TestDiskFullFromAnInstantOn lets everything fail that takes room.
func TestDiskFullFromAnInstantOn(t *testing.T) {
	for _, sc := range scenarios() {
		for _, sys := range systems {
			t.Run(sc.name+" by "+sys.name, func(t *testing.T) {
				t.Parallel()
				after, ops := sc.rehearse(t, sys.missing...)
				stage := sc.stages(t)
				for k := 1; k <= ops.n; k++ {
					st := stage()
					c := &counter{}
					c.all = func(op, name string) error {
						if c.n >= k && takesRoom(op) {
							return syscall.ENOSPC
						}
						return without(sys.missing...)(op, name)
					}
					r, err := sc.act(t, st.open(t, c))
					if sys.name == "rename" && err != nil && strings.Contains(err.Error(), "the next use of mem completes") {
						st.checkEither(t, after, "disk full from "+ops.op(k))
						continue // putting the old text back takes room there
					}
					st.checkFailed(t, after, r, err, syscall.ENOSPC, "disk full from "+ops.op(k))
				}
			})
		}
	}
}

// TestBrokenDiskFromAnInstantOn lets everything fail: then the files may need
// the recovery, and the error says so.
func TestBrokenDiskFromAnInstantOn(t *testing.T) {
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			after, ops := sc.rehearse(t)
			stage := sc.stages(t)
			for k := 1; k <= ops.n; k++ {
				st := stage()
				c := &counter{}
				c.all = func(string, string) error {
					if c.n >= k {
						return syscall.EIO
					}
					return nil
				}
				_, err := sc.act(t, st.open(t, c))
				what := "broken disk from " + ops.op(k)
				got := tree(t, st.dir)
				if err != nil && !maps.Equal(got, st.before) && !strings.Contains(err.Error(), "the next use of mem completes") {
					t.Errorf("%s: the files are changed and the error does not tell: %v", what, err)
				}
				st.checkEither(t, after, what)
			}
		})
	}
}

// checkFailed makes sure that a change that failed left every file as it was,
// and that the error says what, where and what to do.
func (st *stage) checkFailed(t *testing.T, after map[string]string, r *Result, err, fault error, what string) {
	t.Helper()
	got := tree(t, st.dir)
	want := st.before
	if err == nil {
		want = after
		// What could not be removed is named, and removed by the next use.
		maps.DeleteFunc(got, func(p, _ string) bool { _, ours := tempID(path.Base(p)); return ours && len(r.Notes) > 0 })
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: error %v, and the files are\n%s", what, err, show(got))
	}
	if err != nil {
		if !errors.Is(err, fault) {
			t.Errorf("%s: error %v does not wrap %v", what, err, fault)
		}
		text := err.Error()
		if !strings.Contains(text, "Nothing was") || !strings.Contains(text, st.dir) {
			t.Errorf("%s: the error does not say where, or that nothing was changed: %s", what, text)
		}
		if errors.Is(fault, fs.ErrPermission) && !strings.Contains(text, "ritable") || errors.Is(fault, syscall.ENOSPC) && !strings.Contains(text, "ree some space") {
			t.Errorf("%s: the error names no way out: %s", what, text)
		}
	}
	st.checkEither(t, after, what)
}
