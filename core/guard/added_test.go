package guard

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAdded(t *testing.T) {
	token, other := githubToken(200), githubToken(201)
	key := privateKey(202, 40, "\n")
	lines := strings.Split(key, "\n")
	long := strings.Repeat("a line of notes\n", 300)
	zw := "wo\u200brd"
	for _, tt := range []struct {
		name, before, after string
		want                []string // "line rule"
	}{
		{"new file", "", token, []string{"1 github-pat"}},
		{"only white space before", " \n", token, []string{"1 github-pat"}},
		{"same", "a " + token + "\n" + zw, "a " + token + "\n" + zw, nil},
		{"added line", "a\nb\n", "a\n" + token + "\nb\n", []string{"2 github-pat"}},
		{"added at the end without line end", "a\nb", "a\nb\n" + token, []string{"3 github-pat"}},
		{"beside an old one", token + "\nb\n", token + "\n" + other + "\nb\n", []string{"2 github-pat"}},
		{"old one quoted again", token + "\n", token + "\n\nas I said: " + token + "\n", nil},
		{"old one moved", "a\nb\n" + token + "\n", token + "\na\nb\n", nil},
		{"old one in a changed line", "the token " + token + "\n", "our token " + token + "\n", nil},
		{"replaced", "t " + token + "\n", "t " + other + "\n", []string{"1 github-pat"}},
		{"removed", "t " + token + "\n" + zw + "\n", "t\n", nil},
		{"generic key on the line after its name", long + "api_key:\n" + long, long + "api_key:\n  '" + random(203, alnum, 32) + "'\n" + long, []string{"302 generic-api-key"}},
		{"end of a key", long + strings.Join(lines[:30], "\n") + "\n" + long, long + strings.Join(lines, "\n") + "\n" + long, []string{"301 private-key"}},
		{"beginning of a key", long + strings.Join(lines[3:], "\n") + "\n" + long, long + key + "\n" + long, []string{"301 private-key"}},
		{"key with other line ends", long + key + "\n", strings.ReplaceAll(long+key+"\nmore\n", "\n", "\r\n"), nil},
		{"hidden character", "a\n", "a\n" + zw + "\n", []string{"2 zero-width"}},
		{"hidden character on an old line", zw + "\n", zw + "\nb\n", nil},
		{"old line twice", zw + "\n", zw + "\n" + zw + "\n", []string{"2 zero-width"}},
		{"old line moved", "a\n" + zw + "\nb\n", zw + "\na\nb\n", nil},
		{"hidden character on a changed line", zw + "\n", zw + "!\n", []string{"1 zero-width"}},
		{"CRLF instead of LF", zw + "\n" + token + "\n", zw + "\r\n" + token + "\r\n", nil},
		{"BOM added", zw + "\nb\n", "\ufeff" + zw + "\nb\n", nil},
		{"BOM inside", "a\nb\n", "a\n\ufeffb\n", []string{"2 zero-width"}},
		{"joined from two lines", token[:20] + "\n" + token[20:] + "\n", token + "\n", []string{"1 github-pat"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range newScanner(t, Options{}).Added([]byte(tt.before), []byte(tt.after)) {
				got = append(got, fmt.Sprintf("%d %s", f.Line, f.Rule))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAddedSpan(t *testing.T) {
	token := githubToken(210)
	before := []byte("\ufeff# 日本\r\n" + strings.Repeat("Zeile\r\n", 500))
	after := bytes.Replace(before, []byte("日本\r\n"), []byte("日本\r\n- é "+token+"\r\n"), 1)
	found := newScanner(t, Options{}).Added(before, after)
	if len(found) != 1 || string(after[found[0].Start:found[0].End]) != token || found[0].Line != 2 {
		t.Errorf("got %+v", found)
	}
}

// TestAddedSearchesLittle: a change in a large text is searched, not the text.
func TestAddedSearchesLittle(t *testing.T) {
	before := bytes.Repeat([]byte(prose), 40_000)
	after := slices.Concat(before[:len(prose)*20_000], []byte("one more line: "+githubToken(220)+"\n"), before[len(prose)*20_000:])
	s := newScanner(t, Options{MaxBytes: 8 << 10})
	if found := s.Added(before, after); len(found) != 1 || found[0].Rule != "github-pat" || found[0].Line != 20_001 {
		t.Errorf("got %v", found)
	}
}

func TestChangedLines(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          []string
	}{
		{"a\nb\nc\n", "a\nb\nc\n", nil},
		{"a\nb\nc\n", "a\nx\nc\n", []string{"x\n"}},
		{"a\nb\nc", "a\nb\nc\nd", []string{"d"}},
		{"a\nb\nc", "c\nb\na", nil},
		{"a\na\n", "a\na\na\n", []string{"a\n"}},
		{"ab\n", "b\n", []string{"b\n"}},
		{"b\n", "ab\n", []string{"ab\n"}},
		{"x\nb\n", "ab\n", []string{"ab\n"}},
		{"a\nb", "a\nbb", []string{"bb"}},
		{"a", "a\n\n", []string{"\n"}},
		{"", "a\nb", []string{"a\nb"}},
		{"a\nb\n", "", nil},
		{"1\n2\n3\n", "x\n2\ny\n", []string{"x\n", "y\n"}},
	} {
		var got []string
		for _, s := range changedLines([]byte(tt.before), []byte(tt.after)) {
			got = append(got, tt.after[s.start:s.end])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q to %q: got %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}
