package agentmem

import "testing"

func pipe(t *testing.T, _ string) { t.Fatal("there are no pipes in folders here") }
