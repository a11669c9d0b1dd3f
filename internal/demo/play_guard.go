package demo

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// playSecret tries to store a token.
func playSecret(s *stage) {
	// Put together here, so that no scanner takes this file for a leak.
	token := "ghp_" + strings.Join([]string{"1B4nK7qXw9", "RtYp2LmZc8", "VdHs5JfGa3", "TeUoQi"}, "")
	no := s.refused(s.conversation, "memory_write", args{{"name", "ci-access"}, {"type", "reference"}, {"description", "How CI reaches the repository"},
		{"body", "The token is " + token + "\n"}})
	s.back("refused (%s): %s", no.Kind, firstSentence(no.Error))
	s.check(no.Kind == "secret" && len(no.Findings) > 0, "the write is refused and says what was found, and where", no)
	s.check(!strings.Contains(inFull(no), token), "the refusal does not repeat the token", no)
	if s.err != nil {
		return
	}
	holders, err := filesWith(s.scratch.root, token)
	s.fail(err)
	s.check(len(holders) == 0, "no file has it: not in memory, not in the journal", holders)
}

// filesWith gives the files below dir that hold a text.
func filesWith(dir, text string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if bytes.Contains(b, []byte(text)) {
			found = append(found, p)
		}
		return err
	})
	return found, err
}

// playUndo deletes a topic and takes that back.
func playUndo(s *stage) {
	p := s.conversation
	var before, after readResult
	s.call(p, "memory_read", args{{"topic", ownerTopic}}, &before)
	var d changeResult
	s.call(p, "memory_delete", args{{"topic", ownerTopic}}, &d)
	s.back("%s", actions(d))
	gone := s.refused(p, "memory_read", args{{"topic", ownerTopic}})
	s.check(gone.Kind == "not-found", "the topic is gone", gone)
	s.check(len(entriesWith(s, ownerTopic)) == 0, "and so is its entry", nil)

	var u changeResult
	s.call(p, "memory_undo", args{{"change", d.Change}}, &u)
	s.back("%s", actions(u))
	s.call(p, "memory_read", args{{"topic", ownerTopic}}, &after)
	s.check(after.Hash == before.Hash, "the topic is back, byte for byte", after)
	s.check(len(entriesWith(s, ownerTopic)) == 1, "with its entry", nil)
}

func actions(c changeResult) string {
	var all []string
	for _, f := range c.Files {
		all = append(all, f.Action+" "+f.Path)
	}
	return fmt.Sprintf("change %s: %s", c.Change, strings.Join(all, ", "))
}

func entriesWith(s *stage, name string) []string {
	var out []string
	for _, e := range entriesOf(strings.Join(readLines(s, filepath.Join(s.memory, "MEMORY.md")), "\n")) {
		if strings.Contains(e, "("+name+".md)") {
			out = append(out, e)
		}
	}
	return out
}
