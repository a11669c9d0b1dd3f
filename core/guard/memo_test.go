package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTyping edits a text line by line, with secrets among the lines, and holds each scan against one that has kept
// nothing.
func TestTyping(t *testing.T) {
	lines := []string{
		"A line of notes.", "", "- the token is in the vault", "api_key:", "  '" + random(500, alnum, 32) + "'", githubToken(501),
		"airtable", "facebook", "日本 😀 key=", "see a%20b.md and %41%42", strings.Repeat("x", 300), "kind: Secret", "data:", "  a: " + random(502, alnum, 24),
		"wo\u200brd", "curl -u user:" + random(503, alnum, 12) + " https://x", privateKey(504, 12, "\n"),
	}
	kept, fresh := newScanner(t, Options{}), newScanner(t, Options{})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom(lines), 0, 40).Draw(t, "text")
		for range rapid.IntRange(1, 5).Draw(t, "edits") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			if at < len(text) && rapid.Bool().Draw(t, "remove") {
				text = slices.Delete(text, at, at+1)
			} else {
				text = slices.Insert(text, at, rapid.SampledFrom(lines).Draw(t, "line"))
			}
			src := []byte(strings.Join(text, "\n"))
			got := kept.Scan(src)
			set, err := fresh.rules()
			if err != nil {
				t.Fatal(err)
			}
			set.windows, set.regions, fresh.cache = newMemo[[][]int32](keptWindows), newMemo[[]hit](keptRegions), newCache(cacheEntries)
			if want := fresh.Scan(src); !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	})
}

func TestMemoForgets(t *testing.T) {
	m := newMemo[int](10)
	for i := range 100 {
		m.put(keyOf(nil, fmt.Sprint(i)), i)
		if v, ok := m.get(keyOf(nil, "0")); !ok || v != 0 { // used, so kept
			t.Fatal(v, ok)
		}
	}
	if len(m.young)+len(m.old) > 20 {
		t.Errorf("%d and %d entries", len(m.young), len(m.old))
	}
	if _, ok := m.get(keyOf(nil, "50")); ok {
		t.Error("an old one is still there")
	}
	if v, ok := m.get(keyOf(nil, "99")); !ok || v != 99 {
		t.Error(v, ok)
	}
	if _, ok := m.get(keyOf(&rule{}, "99")); ok {
		t.Error("rules share what they keep")
	}
}

// TestEncodedNearAKeyword: what is encoded is searched with the lines around it, and with the keywords of the whole text.
func TestEncodedNearAKeyword(t *testing.T) {
	s := newScanner(t, Options{})
	encoded := strings.ReplaceAll(githubToken(510), "_", "%5F")
	far := strings.Repeat("A line of notes.\n", 400)
	for _, text := range []string{encoded, far + encoded + "\n" + far, "name%20x\n" + far + "t " + encoded + "\nb%20c\n"} {
		found := ofKind(s.Scan([]byte(text)), KindSecret)
		if len(found) != 1 || found[0].Rule != "github-pat" || !strings.Contains(text[found[0].Start:found[0].End], "%5F") {
			t.Errorf("%d bytes: %v", len(text), found)
		}
	}
}
