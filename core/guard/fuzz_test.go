package guard

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	"", "\ufeff", "a\r\n\r\nb", "key:\n\u200b'", "\xff\xfe", "%41%", "\U000E0041", "👩\u200d", strings.Repeat("ey", 50),
	"---\nname: a\ndescription: b\ntype: user\n---\n\n- [x](y.md) — z\n",
}

func checkFindings(t *testing.T, text []byte, found []Finding) {
	t.Helper()
	at := 0
	for _, f := range found {
		if f.Start < at || f.End <= f.Start || f.End > len(text) {
			t.Fatalf("span [%d,%d) after %d in a text of %d: %v", f.Start, f.End, at, len(text), f)
		}
		at = f.Start
		if want := 1 + bytes.Count(text[:f.Start], []byte("\n")); f.Line != want {
			t.Fatalf("line %d, want %d: %v", f.Line, want, f)
		}
		if utf8.Valid(text) && (!utf8.Valid(text[:f.Start]) || !utf8.Valid(text[f.Start:f.End])) {
			t.Fatalf("[%d,%d) cuts a character: %v", f.Start, f.End, f)
		}
		if f.Kind == KindSecret && f.Fingerprint == "" || f.Reason == "" || f.Rule == "" {
			t.Fatalf("incomplete: %+v", f)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	for _, fam := range families {
		f.Add([]byte(strings.Replace(fam.text, "%s", fam.secret, 1)))
	}
	s := newScanner(f, Options{})
	f.Fuzz(func(t *testing.T, text []byte) {
		found := s.Scan(text)
		checkFindings(t, text, found)
		redacted, _ := s.Redact(text)
		for _, x := range ofKind(found, KindSecret) {
			if secret := text[x.Start:x.End]; len(secret) >= minRepeat && bytes.Contains(redacted, secret) && !bytes.Contains([]byte("[redacted "+x.Rule+"]"), secret) {
				t.Fatalf("%q is left in %q", secret, redacted)
			}
		}
	})
}

func FuzzAdded(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[(i+1)%len(seeds)]))
	}
	token := githubToken(400)
	f.Add([]byte("a\n"+token), []byte("a\nb "+token+"\n"+githubToken(401)))
	s := newScanner(f, Options{})
	f.Fuzz(func(t *testing.T, before, after []byte) {
		found := s.Added(before, after)
		checkFindings(t, after, found)
		if same := s.Added(after, after); len(bytes.TrimSpace(after)) > 0 && len(same) > 0 {
			t.Fatalf("no change adds %v", same)
		}
		// What is added is there.
		all := s.Scan(after)
		for _, x := range found {
			if x.Kind != KindSecret {
				continue
			}
			ok := false
			for _, y := range all {
				ok = ok || y.Start < x.End && x.Start < y.End
			}
			if !ok {
				t.Fatalf("Scan does not find %v", x)
			}
		}
	})
}

// forget takes out what a scanner has kept of earlier texts.
func forget(t testing.TB, s *Scanner) {
	set, err := s.rules()
	if err != nil {
		t.Fatal(err)
	}
	set.windows, set.regions, s.cache = newMemo[[][]int32](keptWindows), newMemo[[]hit](keptRegions), newCache(cacheEntries)
}

// FuzzScanAgain: what is kept of a text changes nothing of what is found in the next one, be it much like it.
func FuzzScanAgain(f *testing.F) {
	token := githubToken(410)
	for i, s := range seeds {
		f.Add([]byte(s+token), []byte(seeds[(i+1)%len(seeds)]), uint16(i))
	}
	f.Add([]byte("key: x\nfacebook\n"), []byte("api_key = '"+random(411, alnum, 32)+"'\n"), uint16(7))
	f.Add([]byte("%41 aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=\n"), []byte(token), uint16(3))
	kept, fresh := newScanner(f, Options{}), newScanner(f, Options{})
	f.Fuzz(func(t *testing.T, text, insert []byte, at uint16) {
		n := int(at) % (len(text) + 1)
		after := slices.Concat(text[:n], insert, text[n:])
		kept.Scan(text)
		got := kept.Scan(after)
		forget(t, fresh)
		if want := fresh.Scan(after); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
