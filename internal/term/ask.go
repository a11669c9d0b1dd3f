package term

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Ask asks a person at a terminal a question that is answered with yes or no; anything but
// yes is no. asked is false where nobody is there to answer.
func (p Printer) Ask(question string) (yes, asked bool) {
	if !p.InTerminal || !p.ErrTerminal {
		return false, false
	}
	fmt.Fprintf(p.Err, "%s [y/N] ", question)
	line, _ := bufio.NewReader(io.LimitReader(p.In, 1024)).ReadString('\n') // no answer is no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, true
	}
	return false, true
}
