//go:build !linux

package command

// endMarked does nothing: other systems do not tell what a process has in its environment.
// On Windows the job object holds all of them.
func endMarked(string) {}
