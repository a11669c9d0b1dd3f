package guard

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/detect/codec"
)

// sample returns a random string that the expression matches, most of the time: assertions are ignored.
func sample(r *rand.Rand, re *syntax.Regexp, b *strings.Builder) {
	times := func(lo, hi int) {
		for range lo + r.IntN(hi-lo+1) {
			sample(r, re.Sub[0], b)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		// Printable ASCII where the class has any: a class such as [^"] is mostly Chinese otherwise.
		var ascii []rune
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for c := max(' ', re.Rune[i]); c <= min('~', re.Rune[i+1]); c++ {
				ascii = append(ascii, c)
			}
		}
		if len(ascii) == 0 {
			ascii = []rune{re.Rune[0]}
		}
		b.WriteRune(ascii[r.IntN(len(ascii))])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte('!' + r.IntN(90)))
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 4)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		hi := re.Max
		if hi < 0 {
			hi = re.Min + 4
		}
		times(re.Min, hi)
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(r, sub, b)
		}
	case syntax.OpAlternate:
		sample(r, re.Sub[r.IntN(len(re.Sub))], b)
	}
}

func sampleOf(t testing.TB, r *rand.Rand, pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	sample(r, tree, &b)
	return b.String()
}

// reference is the detector of the library, told to look at everything that we look at.
func reference(t testing.TB) *detect.Detector {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	d.IgnoreGitleaksAllow = true
	for id, use := range pathRules {
		if r := d.Config.Rules[id]; use {
			r.Path = nil
			d.Config.Rules[id] = r
		}
	}
	widened := 0
	for id, r := range d.Config.Rules {
		if r.Regex != nil && spoken(r.Regex.String()) != r.Regex.String() {
			r.Regex = regexp.MustCompile(spoken(r.Regex.String()))
			d.Config.Rules[id] = r
			widened++
		}
	}
	if widened < 50 { // the library has written their end in another way
		t.Errorf("only %d rules are widened", widened)
	}
	return d
}

// A key that stands in a sentence is one, whatever ends it.
func TestSecretsInSpeech(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	var b strings.Builder
	for range 93 {
		b.WriteByte(letters[rnd.IntN(len(letters))])
	}
	key := "sk-ant-" + "api03-" + b.String() + "AA"
	for _, around := range []string{"the key is %s.", "(%s)", "%s, which is old", "**%s**", "<b>%s</b>", "[%s]", "{key:%s}", "| %s|", "Is it %s?", "%s: mine", "%s!"} {
		text := fmt.Sprintf(around, key)
		if clean, found := s.Redact([]byte(text)); len(found) != 1 || strings.Contains(string(clean), key) {
			t.Errorf("%s: %d found", around, len(found))
		}
	}
}

// prose has the keywords of many rules and no secret.
const prose = "The team prefers small functions, and the api token is kept in the vault: see docs/secret.md. They authenticate with a key.\n"

// TestEveryRuleLikeReference makes texts that contain samples of each rule and compares with the library's detector.
func TestEveryRuleLikeReference(t *testing.T) {
	ref := reference(t)
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(set.rules), len(ref.Config.Rules)-2; got != want { // hashicorp-tf-password and the file rule pkcs12-file
		t.Errorf("loaded %d rules, want %d", got, want)
	}
	samples := 8
	if raceEnabled {
		samples = 1
	}
	seen := make(map[string]bool)
	for i, r := range set.rules {
		rnd := rand.New(rand.NewPCG(1, uint64(i)))
		for n := range samples {
			secret := sampleOf(t, rnd, r.pattern)
			if n%3 == 2 {
				secret += " " + sampleOf(t, rnd, set.rules[rnd.IntN(len(set.rules))].pattern)
			}
			text := strings.Repeat(prose, rnd.IntN(3)) + "airtable: value is " + secret + []string{"\n", "", " and more\r\n", "\" 日本\n"}[n%4] + strings.Repeat(prose, rnd.IntN(2))
			for _, f := range compareReference(t, ref, set, text) {
				seen[f] = true
			}
		}
	}
	if len(seen) < 190 && !raceEnabled {
		t.Errorf("samples exercised %d rules only", len(seen))
	}
	t.Logf("%d of %d rules exercised", len(seen), len(set.rules))
}

// compareReference compares the secrets found in text, and returns the rules that found some.
func compareReference(t *testing.T, ref *detect.Detector, set *ruleSet, text string) []string {
	t.Helper()
	occ, present := set.keywords.find(text)
	hits, err := set.pass(text, occ, present, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got, want, rules []string
	for _, h := range hits {
		if h.failed != "" {
			t.Fatal(h.failed)
		}
		got = append(got, fmt.Sprintf("%s %q", h.rule.id, text[h.at.start:h.at.end]))
		rules = append(rules, h.rule.id)
	}
	for _, f := range ref.DetectString(text) {
		secret := strings.TrimRight(f.Secret, "\r")
		if at := strings.Index(text, secret); strings.HasSuffix(f.Match, f.Secret) && at >= 0 { // ours follows the word to its end
			secret = text[at:wordEnd(text, at+len(secret))]
		}
		want = append(want, fmt.Sprintf("%s %q", f.RuleID, secret))
	}
	// The library drops a generic finding beside a specific one; ours does so after this pass.
	for _, g := range slices.Clone(got) {
		if strings.HasPrefix(g, "generic") && !slices.Contains(want, g) && len(got) > 1 {
			got = slices.DeleteFunc(got, func(s string) bool { return s == g })
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got, want := slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("text %q\n got %v\nwant %v", text, got, want)
	}
	return rules
}

// TestMayBeEncoded: what the decoders change is never skipped.
func TestMayBeEncoded(t *testing.T) {
	for _, text := range []string{
		"plain", "%41", "100%", "a\\u0041b", "U+0041 U+0042 ", "see feedback-prefers-small-functions.md", "%zz",
		base64.StdEncoding.EncodeToString([]byte("the words are plain")), base64.RawURLEncoding.EncodeToString([]byte("the ~~~ words??? are plain")),
		fmt.Sprintf("commit %x", "sixteen letters!"), "x" + fmt.Sprintf("%x", "sixteen letters!"), random(9, hexDigits, 64), random(10, alnum, 400),
	} {
		decoded, segments := codec.NewDecoder().Decode(text, nil)
		if changed := len(segments) > 0; changed && !mayBeEncoded(text) {
			t.Errorf("%q is decoded to %q", text, decoded)
		}
	}
	if mayBeEncoded(topic) {
		t.Error("an ordinary topic is decoded")
	}
}

// TestNoRuleIsMissed fails when an update of the library brings what loadRules does not know.
func TestNoRuleIsMissed(t *testing.T) {
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.rules {
		if _, err := r.compile(); err != nil {
			t.Error(err)
		}
		if len(r.keywords) == 0 {
			t.Errorf("rule %s has no keyword: it would never run", r.id)
		}
	}
	for _, w := range set.keywords.words {
		if len(w) < 2 {
			t.Errorf("keyword %q is too short to be found", w)
		}
	}
	for _, used := range []string{"[[rules.required]]", "skipReport", "[extend]", "[[allowlists]]"} {
		if strings.Contains(config.DefaultConfig, "\n"+used) {
			t.Errorf("the rules use %s, which is not supported here", used)
		}
	}
}
