package stage

import "testing"

func pipe(t *testing.T, _ string) { t.Skip("pipes have no names in folders here") }
