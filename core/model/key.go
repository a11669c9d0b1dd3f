package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"

	"mem/core/settings"
)

// Limits of a key command.
const (
	keyWait = 10 * time.Second
	maxKey  = 16 << 10 // bytes
)

// usualKeys are the variables that clients of each API use.
var usualKeys = map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

// KeyName says where the key of a provider comes from: "the key command", or the name
// of a variable.
func KeyName(p settings.ProviderConfig) string {
	switch {
	case strings.TrimSpace(p.KeyCommand) != "":
		return "the key command"
	case p.KeyEnv != "":
		return p.KeyEnv
	}
	return usualKeys[p.API]
}

// Key gets the key of a provider: from the command in our configuration where there is
// one, else from the variable. It is "" where the variable is not set. Both names come from
// our configuration file alone. Errors hold nothing of what the command printed.
func Key(p settings.ProviderConfig, env settings.Env) (string, error) {
	if strings.TrimSpace(p.KeyCommand) == "" {
		return strings.TrimSpace(env.Getenv(KeyName(p))), nil
	}
	const name = "engines.provider.key_command"
	// Words are split, quoted and filled in as a shell does, but no shell runs: command
	// substitution, pipes and redirections are errors.
	words, err := shell.Fields(p.KeyCommand, env.Getenv)
	if err != nil {
		return "", fmt.Errorf("%s cannot be read as words: %w; write a program and its arguments, or a script of your own", name, err)
	}
	if len(words) == 0 {
		return "", fmt.Errorf("%s names no program", name)
	}
	if filepath.Base(words[0]) != words[0] && !filepath.IsAbs(words[0]) {
		return "", fmt.Errorf("%s: %s would be another program in each directory; write its whole path", name, words[0])
	}
	out, err := runKeyCommand(words, env.Home, keyWait)
	if err != nil {
		return "", fmt.Errorf("%s: %s %w", name, words[0], err)
	}
	key := strings.TrimSpace(string(out))
	switch {
	case key == "":
		return "", fmt.Errorf("%s: %s printed nothing; it has to print the key", name, words[0])
	case strings.ContainsAny(key, "\r\n"):
		return "", fmt.Errorf("%s: %s printed more than one line; it has to print the key alone", name, words[0])
	}
	return key, nil
}

// runKeyCommand runs a program in a directory and gives what it prints. At its end, and
// when the time is over, its whole process group is ended.
func runKeyCommand(words []string, dir string, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	var out limited
	c.Stdout, c.Dir = &out, dir
	c.WaitDelay = time.Second
	end := ownGroup(c)
	err := c.Run()
	end()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("gave no key within %v; run it in a terminal to see what it waits for", wait)
	case out.over:
		return nil, fmt.Errorf("printed more than %d bytes; it has to print the key alone", maxKey)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("failed (%s); run it in a terminal to see why", exit.ProcessState)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("left a process behind that kept its output open")
	case err != nil:
		return nil, fmt.Errorf("cannot be run: %w", err)
	}
	return out.b.Bytes(), nil
}

// limited keeps what is written, up to the longest key.
type limited struct {
	b    bytes.Buffer
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if len(p) > maxKey-l.b.Len() {
		l.over = true
		return 0, errors.New("too much") // which closes the pipe, so that the program ends
	}
	return l.b.Write(p)
}
