package fixes

import (
	"regexp"
	"sync"
)

// compiled gives an expression, which is compiled when it is first used: an editor
// waits for the start of the language server, and most sessions mend nothing.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
