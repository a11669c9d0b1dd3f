package project

import (
	"strings"
	"testing"
	"unicode/utf16"
)

func TestSlug(t *testing.T) {
	for _, tc := range []struct{ name, path, want string }{
		{"separators", "/srv/my.app_v2", "-srv-my-app-v2"},
		{"case is kept", "/Srv/ABC", "-Srv-ABC"},
		{"windows", `C:\Users\me`, "C--Users-me"},
		{"a CJK character is one unit", "/日", "--"},
		{"an astral character is two units", "/😀", "---"},
		{"composed and decomposed differ", "/é/e\u0301", "---e-"},
		{"empty", "", ""},
		{"200 characters are kept", "/srv/" + strings.Repeat("a", 195), "-srv-" + strings.Repeat("a", 195)},
		// The hashes were computed by a second implementation.
		{"201 characters get a hash", "/srv/" + strings.Repeat("a", 196), "-srv-" + strings.Repeat("a", 195) + "-c8xgnb"},
		{"the hash covers the original path", "/srv/" + strings.Repeat("x-y.z/", 60), "-srv-" + strings.Repeat("x-y-z-", 32) + "x-y" + "-fphbt7"},
		{"so this one differs in the hash", "/srv/" + strings.Repeat("x.y-z/", 60), "-srv-" + strings.Repeat("x-y-z-", 32) + "x-y" + "-hw07wr"},
		{"long CJK", "/srv/" + strings.Repeat("日本/", 100), "-srv" + strings.Repeat("-", 196) + "-e4i0xz"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Slug(tc.path); got != tc.want {
				t.Errorf("Slug(%q) =\n%s, want\n%s", tc.path, got, tc.want)
			}
		})
	}
}

func FuzzSlug(f *testing.F) {
	for _, s := range []string{"", "/a/b", `C:\x`, "/日/😀", "/\xff\xfe", strings.Repeat("/ab", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		slug := Slug(path)
		for i := range len(slug) {
			if c := slug[i]; c != '-' && !isAlphanumeric(uint16(c)) {
				t.Fatalf("Slug(%q) holds %q", path, c)
			}
		}
		units := len(utf16.Encode([]rune(path)))
		if units <= MaxSlug && len(slug) != units {
			t.Fatalf("Slug(%q) has %d characters for %d units", path, len(slug), units)
		}
		if len(slug) > MaxSlug+1+6 { // 2^31 in base 36 has six digits
			t.Fatalf("Slug(%q) has %d characters", path, len(slug))
		}
		if Slug(slug) != slug && units <= MaxSlug {
			t.Fatalf("Slug(%q) is not stable", path)
		}
	})
}
