//go:build !windows

package job

import "os"

// replace renames a file over another one.
func replace(from, to string) error { return os.Rename(from, to) }
