package command

import (
	"strings"
	"testing"

	"mem/core/fork"
)

// TestMount: a command is told which folder of its instructions its working directory is.
func TestMount(t *testing.T) {
	for mount, want := range map[string]string{"": "say /memory, that", "session": "say /session, that"} {
		if got := string(stdin(fork.Task{Stage: "/stage", Mount: mount, Prompt: "Do it."})); !strings.Contains(got, want) {
			t.Errorf("%q: %s", mount, got)
		}
	}
}
