package guard

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// topic is a memory of ordinary size: 2.3 KB of notes, keywords included.
var topic = "---\nname: Deploy notes\ndescription: How the team deploys, and where secrets are kept\ntype: project\n---\n\n" + strings.Repeat(`## Releases

- Tag on main, then the pipeline builds and signs; see [the checklist](release-checklist.md).
- The staging cluster is rebuilt every night, so nothing may depend on its addresses.
- **Why:** a release in March went out unsigned, and nobody noticed for two days.

Credentials come from the vault at run time. The API answers 429 when more than ten calls are in flight:
back off, with jitter. Do not add retries to the client: the gateway has them already (commit 4f2a9c1).

`, 5)

func BenchmarkFirstScan(b *testing.B) {
	for b.Loop() {
		if found := newScanner(b, Options{}).Scan([]byte(topic)); len(found) > 0 {
			b.Fatal(found)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for name, text := range map[string]string{
		"topic": topic, "prose full of keywords": strings.Repeat(prose, 20), "64KB": strings.Repeat(topic, 28),
		"CJK": strings.Repeat("記憶は目録と主題からなる。秘密を書いてはならない。\n", 40),
	} {
		b.Run(name, func(b *testing.B) {
			s := newScanner(b, Options{})
			s.Scan([]byte(text))
			b.SetBytes(int64(len(text)))
			i := 0
			for b.Loop() {
				i++
				s.Scan(fmt.Appendf(nil, "%s%d", text, i)) // not from the cache
			}
		})
	}
	b.Run("cached topic", func(b *testing.B) {
		s := newScanner(b, Options{})
		b.SetBytes(int64(len(topic)))
		for b.Loop() {
			s.Scan([]byte(topic))
		}
	})
}

func BenchmarkAdded(b *testing.B) {
	for name, before := range map[string][]byte{"topic": []byte(topic), "5MB": bytes.Repeat([]byte(topic), 2200)} {
		b.Run(name, func(b *testing.B) {
			s := newScanner(b, Options{})
			half := bytes.LastIndexByte(before[:len(before)/2], '\n') + 1
			i := 0
			for b.Loop() {
				i++
				after := slices.Concat(before[:half], fmt.Appendf(nil, "- One more thing about tokens, number %d.\n", i), before[half:])
				if found := s.Added(before, after); len(found) > 0 {
					b.Fatal(found)
				}
			}
		})
	}
}

// BenchmarkTyping scans an index of 25 KB again and again while somebody types in the middle of it.
func BenchmarkTyping(b *testing.B) {
	const entry = "- [How the token of service %d is rotated](auth-token-%d.md) — the key is in the vault, ask the API team for the password of %d\n"
	for name, tenth := range map[string]string{ // every tenth entry
		"plain":                  entry,
		"encoded":                strings.Replace(entry, "(auth-token-%d.md)", "(auth%%20token%%20%d.md)", 1),
		"keywords of rare rules": strings.Replace(entry, "ask the API team", "ask the airtable team at facebook", 1),
		"all encoded":            "",
		"of another kind, a lot": strings.Repeat("Do not lose the secret token key of the api password. ", 2) + "%d %d %d\n",
	} {
		b.Run(name, func(b *testing.B) {
			var index []byte
			for i := 0; len(index) < 25_000; i++ {
				line := entry
				if i%10 == 0 && tenth != "" {
					line = tenth
				} else if tenth == "" {
					line = strings.Replace(entry, "(auth-token-%d.md)", "(auth%%20token%%20%d.md)", 1)
				}
				index = fmt.Appendf(index, line, i, i, i)
			}
			half := bytes.LastIndexByte(index[:len(index)/2], '\n') + 1
			s := newScanner(b, Options{})
			s.Scan(index)
			i := 0
			for b.Loop() {
				i++
				s.Secrets(slices.Concat(index[:half], fmt.Appendf(nil, "- [New](new.md) — the token is %d\n", i), index[half:]))
			}
		})
	}
}
