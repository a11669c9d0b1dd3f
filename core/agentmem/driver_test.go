package agentmem

import (
	"strings"
	"testing"
)

// TestDriverOfOtherFiles: a .gitattributes of a repository may name the driver for anything.
// What is no memory is never merged by its headings, a file too large for one neither, and
// what only one side changed is that side's.
func TestDriverOfOtherFiles(t *testing.T) {
	large := strings.Repeat("much of it\n", MaxFile/10)
	for _, c := range []struct{ name, base, ours, theirs string }{
		{"main.go", "# a\n1\n# b\n2\n", "# a\n3\n# b\n2\n", "# a\n1\n# b\n4\n"},
		{"test/snapshot.json", `{"a":1,"files":{}}`, `{"a":2,"files":{}}`, `{"a":1,"files":{"x":"y"}}`},
		{"x.md", "# a\n1\n# b\n" + large, "# a\n3\n# b\n" + large, "# a\n1\n# b\n4\n" + large},
		{"x.md", "a\xff", "b\xff", "c\xff"},
	} {
		merged, conflicts := MergeTexts(c.name, c.base, c.ours, c.theirs)
		if len(conflicts) == 0 || !strings.Contains(merged, "<<<<<<< ours") || !strings.Contains(merged, ">>>>>>> theirs") {
			t.Errorf("%s: %d conflicts in %.100q", c.name, len(conflicts), merged)
		}
		for _, one := range [][3]string{{c.base, c.ours, c.base}, {c.base, c.base, c.ours}, {c.base, c.ours, c.ours}} {
			if merged, conflicts := MergeTexts(c.name, one[0], one[1], one[2]); merged != c.ours || len(conflicts) > 0 {
				t.Errorf("%s, changed by one side: %v %.100q", c.name, conflicts, merged)
			}
		}
	}
	// Deep and doubled JSON ends as a conflict or a merge, never as a crash.
	deep := strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000)
	for _, s := range []string{deep, `{"updatedAt":"2026-11-29T10:00:00Z","updatedAt":"2026-11-28T10:00:00Z"}`, "[]", "null", ""} {
		merged, conflicts := MergeTexts(SnapshotsDir+"/x/snapshot.json", `{}`, `{"updatedAt":"2026-11-29T11:00:00Z"}`, s)
		if merged == "" || len(conflicts) == 0 && !strings.Contains(merged, "2026-11-29T11:00:00Z") {
			t.Errorf("%.60q: %v %.100q", s, conflicts, merged)
		}
	}
}
