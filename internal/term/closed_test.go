package term

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// Only a reader of our own output makes an error not worth telling.
func TestOutputClosed(t *testing.T) {
	broken := func(name string) error {
		return fmt.Errorf("printing: %w", &os.PathError{Op: "write", Path: name, Err: syscall.EPIPE})
	}
	for _, l := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New("another"), false}, {syscall.EPIPE, true},
		{broken(os.Stdout.Name()), true}, {broken(os.Stderr.Name()), true}, {broken("|1"), false},
	} {
		if got := OutputClosed(l.err); got != l.want {
			t.Errorf("%v: %v", l.err, got)
		}
	}
}
