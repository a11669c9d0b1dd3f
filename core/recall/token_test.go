package recall_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mem/core/recall"
)

func terms(text string) []string {
	var t recall.Tokenizer
	var out []string
	for tok := range t.Tokens(text) {
		out = append(out, tok.Term)
	}
	return out
}

func TestTokens(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"words", "Deploy needs two reviewers.", "deploy need two review"},
		{"forms", "deploying deployed deploys deployment", "deploy deploy deploy deploy"},
		{"stop words", "This is the Index of it", "index"},
		{"contractions", "don't the user's we're o’clock", "user o clock"},
		{"only punctuation", " -- ... /_/ ' \t\n", ""},

		{"camel", "parseURL", "parseurl pars url"},
		{"acronym first", "HTTPServer2", "httpserver2 http server 2"},
		{"plural acronym", "the URLs", "url"},
		{"plural acronym inside", "parseURLs", "parseurl pars url"},
		{"snake and kebab", "foo_bar-baz", "foobarbaz foo bar baz"},
		{"screaming", "MAX_RETRY_COUNT", "maxretrycount max retri count"},
		{"dunder", "__init__", "init"},
		{"dotted", "recall.Search", "recallsearch recal search"},
		{"path", "core/recall/index.go", "corerecallindexgo core recal indexgo index go"},
		{"windows path", `docs\api`, "docsapi doc api"},
		{"camel in path", "core/bm25F", "corebm25f core bm25f bm 25 f"},
		{"double joiners separate", "a1--b2 std::vector", "a1 1 b2 b 2 std vector"},
		{"sentence end", "done. Then", "done"},
		{"hash is one word", "3a3c6141e376", "3a3c6141e376"},

		{"number", "port 8080", "port 8080"},
		{"version", "v1.2.1", "v1.2.1 v 1.2.1 1.2"},
		{"short version", "Go 1.26", "go 1.26"},
		{"version in a name", "go1.26.8", "go1.26.8 go 1.26.8 1.26"},
		{"address", "127.0.0.1", "127.0.0.1 127.0"},
		{"date", "2026-11-03", "20261103 2026 11 03"},
		{"file with version", "mem-1.2.tar.gz", "mem1.2targz mem1.2 mem 1.2 tar gz"},

		{"diacritics", "Café naïve Größe Übung", "cafe naiv gross ubung"},
		{"decomposed", "Cafe\u0301", "cafe"},
		{"letters without decomposition", "søren łódź þor", "soren lodz thor"},
		{"full width", "ＡＰＩ＿ｋｅｙ", "apikey api key"},
		{"ligature", "ﬁle", "file"},
		{"soft hyphen", "de\u00adploy", "deploy"},
		{"cyrillic", "Развёртывание йода", "развертывание иода"},
		{"greek", "ΛΌΓΟΣ λόγος", "λογοσ λογοσ"},
		{"cyrillic camel", "моёПоле", "моеполе мое поле"},
		{"hindi keeps vowels", "हिन्दी", "हिन्दी"},

		{"han", "部署", "部 署 部署"},
		{"one character", "猫", "猫"},
		{"kana", "テスト", "テ ス テス ト スト"},
		{"half-width kana", "ｶﾞｲﾄﾞ", "ガ イ ガイ ド イド"},
		{"one character becomes two", "ゟ", "よ り より"},
		{"hangul", "배포 서버", "배 포 배포 서 버 서버"},
		{"hangul jamo", "\u1107\u1162\u1111\u1169", "배 포 배포"},
		{"mixed", "用Go写", "用 go 写"},
		{"ideographic stop", "本番。環境", "本 番 本番 環 境 環境"},

		{"invalid UTF-8", "ab\xffcd \x80", "ab cd"},
		{"NUL", "ab\x00cd", "ab cd"},
		{"unknown symbols", "✓ ok → 100%", "ok 100"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, strings.Join(terms(tc.text), " ")); diff != "" {
				t.Errorf("Tokens(%q) (-want +got):\n%s", tc.text, diff)
			}
		})
	}
}

// Spans lead back to the source, also where folding changed the length.
func TestTokenSpans(t *testing.T) {
	text := "Ｇo ﬁx_Cafe\u0301 v1.2.1 ｶﾞｲ URLs ゟ"
	want := map[string]string{
		"go": "Ｇo", "fixcaf": "ﬁx_Cafe\u0301", "fix": "ﬁx", "cafe": "Cafe\u0301",
		"v1.2.1": "v1.2.1", "v": "v", "1.2.1": "1.2.1", "1.2": "1.2",
		"ガ": "ｶﾞ", "イ": "ｲ", "ガイ": "ｶﾞｲ", "url": "URLs",
		"よ": "ゟ", "り": "ゟ", "より": "ゟ",
	}
	got := map[string]string{}
	var tz recall.Tokenizer
	for tok := range tz.Tokens(text) {
		got[tok.Term] = text[tok.Start:tok.End]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTokenKinds(t *testing.T) {
	var tz recall.Tokenizer
	want := map[string]recall.Kind{
		"plain": recall.Word, "parseURL": recall.Whole, "parse": recall.Part, "URL": recall.Part,
		"本": recall.Ideograph, "番": recall.Ideograph, "本番": recall.Bigram,
	}
	got := map[string]recall.Kind{}
	text := "plain parseURL 本番"
	for tok := range tz.Tokens(text) {
		got[text[tok.Start:tok.End]] = tok.Kind
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTokensStopsEarly(t *testing.T) {
	var tz recall.Tokenizer
	n := 0
	for range tz.Tokens("one two_three four") {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("saw %d tokens after break at 2", n)
	}
}

// One long line takes time in proportion to its length, whatever is in it. 12 MB
// take 1.3 s at most, here a twelfth of that for the sake of the race detector;
// anything quadratic would take hours.
func TestTokensLinear(t *testing.T) {
	const size = 1 << 20
	for name, unit := range map[string]string{
		"letters": "a", "base64": "aGVsbG8gd29ybGQ", "snake": "a_", "dots": "1.", "path": "ab/cD2.e-f/",
		"accents": "é", "marks": "e\u0301", "only marks": "\u0301", "han": "部", "half-width": "ｶﾞ",
		"dakuten": "\u3099", "spaces": " ", "invalid": "\x80", "apostrophes": "'", "capitals": "A",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(unit, size/len(unit))
			var tz recall.Tokenizer
			start, longest := time.Now(), 0
			for tok := range tz.Tokens(text) {
				longest = max(longest, len(tok.Term))
			}
			if longest > 128 {
				t.Errorf("a term of %d bytes", longest)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Logf("%v", took)
			}
		})
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{
		"parseURL foo_bar-baz core/recall.go v1.2.1", "本番ｶﾞテスト 배포\u1107\u1162", "Cafe\u0301 ﬁx ＡＰＩ ½",
		"\xff\xc3\x28 a\u0301\u0301'", "don't o’clock's", "a\u200d\u00ad_b", "\u3099\u3099か\u3099", "हिन्दी ΛΌΓΟΣ", "ゟゟ ヿ", "\u0301/\u032a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		boundary := map[int]bool{len(text): true}
		for i := range text {
			boundary[i] = true
		}
		var tz recall.Tokenizer
		place := 0
		for tok := range tz.Tokens(text) {
			switch {
			case tok.Start < 0 || tok.End > len(text) || tok.Start >= tok.End:
				t.Fatalf("%q: span of %+v", text, tok)
			case !boundary[tok.Start] || !boundary[tok.End]:
				t.Fatalf("%q: %+v is not on rune boundaries", text, tok)
			case tok.Term == "" || tok.Surface == "" || !utf8.ValidString(tok.Surface) || !utf8.ValidString(tok.Term):
				t.Fatalf("%q: term of %+v", text, tok)
			case len(tok.Surface) > 128:
				t.Fatalf("%q: %+v is too long", text, tok)
			}
			// Tokens come in order of chunks, so an end never lies a chunk back.
			if tok.End < place-4096 {
				t.Fatalf("%q: %+v after %d", text, tok, place)
			}
			place = max(place, tok.End)
			// What was found is found again when it is what was searched for.
			if again := terms(tok.Surface); tok.Kind != recall.Whole && len(again) > 0 && !contains(again, tok.Term) {
				t.Fatalf("%q: %+v alone gives %q", text, tok, again)
			}
		}
	})
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
