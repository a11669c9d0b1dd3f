package project

import (
	"strings"
	"testing"
)

func TestParseCoreWorktree(t *testing.T) {
	for _, tc := range []struct{ config, want string }{
		{"[core]\n\tworktree = ../../../sub\n", "../../../sub"},
		{"[Core]\r\nWorkTree=\"../a b\"\r\n", "../a b"},
		{"[core]\nbare = false\n[remote \"core\"]\nworktree = no\n", ""},
		{"[core]\nworktree = a\nworktree = b\n", "b"},
		{"worktree = a\n", ""},
		{"", ""},
	} {
		if got := GitConfig(tc.config, "core", "worktree"); got != tc.want {
			t.Errorf("GitConfig(%q) = %q, want %q", tc.config, got, tc.want)
		}
	}
}

func FuzzGitFiles(f *testing.F) {
	for _, s := range []string{"gitdir: /a/.git/worktrees/b\n", "gitdir:../x\r\n", "gitdir:", "../..", "[core]\nworktree = ../x",
		"ref: refs/heads/main", strings.Repeat("0", 40), "\x00", "[", "[core"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if path, err := parseGitFile(data); err == nil && (path == "" || strings.ContainsRune(path, 0)) {
			t.Errorf("parseGitFile(%q) = %q", data, path)
		}
		if path, err := parsePath(data); err == nil && path == "" {
			t.Errorf("parsePath(%q) is empty", data)
		}
		GitConfig(string(data), "core", "worktree")
		plausibleHead(data)
	})
}
