// Package corpus makes memory directories to measure with: of any size, always the
// same, with what real ones have in about the same shares.
package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// MaxEntries is how many entries the index of a directory has at most, so that it
// is within the limits; the topics that it does not name are linked by others.
const MaxEntries = 190

// Files gives a memory directory of n topics of 2.2 KB: texts by path.
func Files(n int) map[string]string {
	files := make(map[string]string, n+1)
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	for i := range n {
		if i < MaxEntries {
			fmt.Fprintf(&index, "- [Topic %d](%s.md) — what was decided about part %d\n", i, Name(i), i)
		}
		files[Name(i)+".md"] = Topic(i, n)
	}
	files["MEMORY.md"] = index.String()
	return files
}

// IndexFiles gives a memory directory of an index of so many lines and ten topics:
// every tenth entry leads to one of them, the others lead nowhere, as in a copy of a
// part of a large memory.
func IndexFiles(lines int) map[string]string {
	const topics = 10
	files := Files(topics)
	files["MEMORY.md"] = Index(lines, topics)
	return files
}

// Write writes files to dir, as if they had been changed an hour ago.
func Write(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old := time.Now().Add(-time.Hour)
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(file, old, old); err != nil {
			return err
		}
	}
	return nil
}

// Name gives the name of topic i.
func Name(i int) string { return fmt.Sprintf("topic-%05d", i) }

// Topic gives topic i of n: both forms of frontmatter, headings, lists, links to
// others, code, Chinese. One in fifty has a wrong type, one in fifty a broken link.
func Topic(i, n int) string {
	var b strings.Builder
	kind := [...]string{"user", "feedback", "project", "reference"}[i%4]
	if i%50 == 49 {
		kind = "procedural"
	}
	fmt.Fprintf(&b, "---\nname: %s\ndescription: what was decided about part %d of the system, and by whom\n", Name(i), i)
	if i%2 == 0 {
		fmt.Fprintf(&b, "metadata: \n  node_type: memory\n  type: %s\n  originSessionId: 0b0c1c5e-%04d\n", kind, i)
	} else {
		fmt.Fprintf(&b, "type: %s\n", kind)
	}
	fmt.Fprintf(&b, "---\n\n# Part %d\n\nThe part is deployed on Tuesdays by the release team, see [[%s]].\n\n", i, Name((i+MaxEntries)%n))
	if i%50 == 25 {
		fmt.Fprintf(&b, "It replaces [what was there](gone-%d.md).\n\n", i)
	}
	b.WriteString("**Why:** the cache needs warming before people come to work.\n\n**How to apply:** wait for the nightly run, then start `deploy --warm`.\n\n")
	for j := 0; b.Len() < 2200; j++ {
		switch (i + j) % 5 {
		case 0:
			fmt.Fprintf(&b, "## Step %d\n\nWhoever changes part %d tells those who run it, since nothing else does, and writes down what was seen there.\n\n", j, i)
		case 1:
			b.WriteString("- the queue is emptied first; what is left in it is sent again by the sender\n- the *old* workers finish what they began\n- `status` says \"idle\" when all of it is done\n\n")
		case 2:
			fmt.Fprintf(&b, "The figures of part %d are kept for a month and then summed up by day; nobody has asked for more than that so far.\n\n", i)
		case 3:
			if i%10 == 3 {
				b.WriteString("发布之前先清空队列，剩下的消息由发送方重新发送。旧的进程会完成已经开始的工作。\n\n")
			} else {
				b.WriteString("A run takes between ten and twelve minutes (see the log), of which the checks are the larger part.\n\n")
			}
		case 4:
			if i%4 == 0 {
				b.WriteString("```sh\nmake release PART=api # takes a while\n```\n\n")
			}
		}
	}
	return b.String()
}

// Index gives an index of so many lines over so many topics.
func Index(lines, topics int) string {
	var b strings.Builder
	for i := range lines {
		switch {
		case i%100 == 0:
			fmt.Fprintf(&b, "## Section %d\n", i/100)
		case i%10 == 1:
			fmt.Fprintf(&b, "- [Topic %d](%s.md) — what was decided about part %d, see `part %d`\n", i, Name(i/10%topics), i, i)
		default:
			fmt.Fprintf(&b, "- [Topic %d](gone-%d.md) — what was decided about part %d\n", i, i, i)
		}
	}
	return b.String()
}
