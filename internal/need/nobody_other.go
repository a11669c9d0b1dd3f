//go:build !unix

package need

import "testing"

// AsNobody skips a test of permissions: this system has no modes of files that bind.
func AsNobody(t *testing.T) bool {
	t.Helper()
	System(t, false, "permissions are no modes")
	return true
}
