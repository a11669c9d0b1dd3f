package term

import (
	"context"
	"io"
)

// Until gives an input whose reads end with the error of ctx once that is done, also one
// that waits for somebody to type. What is typed after that is lost: nothing else may
// read from in then.
func Until(ctx context.Context, in io.Reader) io.Reader { return &until{ctx, in} }

type until struct {
	ctx context.Context
	in  io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	b := make([]byte, len(p)) // p is the caller's again when a read is left behind
	done := make(chan result, 1)
	go func() {
		n, err := u.in.Read(b)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, b[:r.n]), r.err
	case <-u.ctx.Done():
		return 0, u.ctx.Err()
	}
}
