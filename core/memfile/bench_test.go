package memfile

import (
	"fmt"
	"strings"
	"testing"
)

func indexOf(lines int) string {
	var b strings.Builder
	b.WriteString("# Memory\n\n")
	for i := range lines {
		b.WriteString(EntryLine(fmt.Sprintf("Topic %d", i), fmt.Sprintf("topic-%d.md", i), "what to know about this part before changing it `now`") + "\n")
	}
	return b.String()
}

func BenchmarkParseIndex(b *testing.B) {
	for _, lines := range []int{200, 10_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			src := indexOf(lines)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if x := ParseIndex(src); len(x.Entries) != lines {
					b.Fatal(len(x.Entries))
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	body := strings.Repeat("**Why:** the tests run against a real server.\n\n", 40)
	for name, src := range map[string]string{
		"nested":  New(FormNested, Meta{Name: "a", Description: "what to know", Type: "user", OriginSessionID: "s"}, body),
		"quoted":  New(FormNested, Meta{Name: "a", Description: "has: colon", Type: "user", OriginSessionID: "s"}, body),
		"invalid": "---\nname: a\ndescription: has: colon\ntype: user\n---\n" + body,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(src)
			}
		})
	}
}

func BenchmarkSetKey(b *testing.B) {
	f := Parse(New(FormNested, Meta{Name: "a", Description: "has: colon", Type: "user", OriginSessionID: "s"}, "body"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.SetKey("description", "other", FormFlat); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOutline(b *testing.B) {
	f := Parse(strings.Repeat("## Heading\n\nSome text with `code` and a [link](a.md) in it.\n\n- item\n", 350)) // 25 KB
	b.SetBytes(int64(f.Text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Links(f.Text, f.Body, f.Outline())
	}
}
