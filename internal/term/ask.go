package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// SayServing says to a person who started a server by hand what it waits for.
func (p Printer) SayServing(program, protocol string) {
	if p.InTerminal && p.ErrTerminal {
		fmt.Fprintf(p.Err, "%s speaks %s on standard input and output and waits for a client, which starts it itself. Ctrl-C ends it; %s --help lists what it does for people.\n", program, protocol, program)
	}
}

// Ask asks a person at a terminal a question that is answered with yes or no; anything but
// yes is no, an interrupt too. asked is false where nobody is there to answer.
func (p Printer) Ask(ctx context.Context, question string) (yes, asked bool) {
	if !p.InTerminal || !p.ErrTerminal {
		return false, false
	}
	fmt.Fprintf(p.Err, "%s [y/N] ", question)
	line, err := bufio.NewReader(io.LimitReader(Until(ctx, p.In), 1024)).ReadString('\n') // no answer is no
	if err != nil {
		fmt.Fprintln(p.Err) // nobody ended the line of the question
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return ctx.Err() == nil, true
	}
	return false, true
}
