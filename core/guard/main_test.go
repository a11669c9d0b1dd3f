package guard

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newScanner(t testing.TB, opts Options) *Scanner {
	t.Helper()
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	hexDigits = "0123456789abcdef"
	lowerNum  = "abcdefghijklmnopqrstuvwxyz0123456789"
	upperNum  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	base32    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alnum     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// random returns n characters of the alphabet, always the same ones for a seed. The secrets of these tests are made
// at run time: they belong to nobody, and the repository holds nothing that looks like one.
func random(seed uint64, alphabet string, n int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// githubToken is a made-up token of the form that most tests use.
func githubToken(seed uint64) string { return "gh" + "p_" + random(seed, alnum, 36) }

// privateKey is a made-up key block with lines that end in eol.
func privateKey(seed uint64, lines int, eol string) string {
	dashes := strings.Repeat("-", 5)
	b := []string{dashes + "BEGIN RSA " + "PRIVATE KEY" + dashes}
	for i := range lines {
		b = append(b, random(seed+uint64(i), alnum+"+/", 64))
	}
	return strings.Join(append(b, dashes+"END RSA "+"PRIVATE KEY"+dashes), eol)
}

// ofKind returns the findings of a kind.
func ofKind(found []Finding, k Kind) []Finding {
	var out []Finding
	for _, f := range found {
		if f.Kind == k {
			out = append(out, f)
		}
	}
	return out
}
