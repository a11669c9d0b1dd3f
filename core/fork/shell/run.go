package shell

import (
	"context"
	"errors"
	"time"
)

// MaxWall is how long a script may run.
const MaxWall = 5 * time.Second

type Limits struct {
	Wall   time.Duration
	Output int
}

type Options struct {
	Cwd    string
	Home   string
	Now    func() time.Time
	Limits Limits
	Done   func()
}

type Output struct {
	Text    string
	Status  int
	Notes   []string
	Refused []string
}

func Run(ctx context.Context, files Files, script string, o Options) (Output, error) {
	o.Done()
	return Output{}, errors.New("Bash is being built")
}
func Check(script string) error { return nil }
func Commands() []string        { return nil }
