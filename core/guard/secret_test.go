package guard

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mem/internal/need"
)

// families are made-up secrets, one per issuer that a memory is likely to meet: the rule, the text around, the secret.
var families = []struct{ rule, text, secret string }{
	{"github-pat", "the token is %s", githubToken(1)},
	{"github-fine-grained-pat", "%s", "github" + "_pat_" + random(2, alnum, 82)},
	{"github-oauth", "%s", "gh" + "o_" + random(3, alnum, 36)},
	{"github-app-token", "%s", "gh" + "s_" + random(4, alnum, 36)},
	{"gitlab-pat", "%s", "glp" + "at-" + random(5, alnum, 20)},
	{"aws-access-token", "aws_access_key_id = %s", "AK" + "IA" + random(6, base32, 16)},
	{"gcp-api-key", "maps: %s", "AI" + "za" + random(7, alnum, 35)},
	{"slack-bot-token", "%s", "xo" + "xb-" + random(8, "0123456789", 12) + "-" + random(9, "0123456789", 12) + "-" + random(10, alnum, 24)},
	{"slack-webhook-url", "post to %s", "https://hooks.sl" + "ack.com/services/T" + random(11, upperNum, 8) + "/B" + random(12, upperNum, 9) + "/" + random(13, alnum, 24)},
	{"stripe-access-token", "%s", "sk" + "_live_" + random(14, alnum, 24)},
	{"anthropic-api-key", "%s", "sk-" + "ant-api03-" + random(15, alnum, 93) + "AA"},
	{"openai-api-key", "%s", "sk-" + "proj-" + random(16, alnum, 74) + "T3Blbk" + "FJ" + random(17, alnum, 74)},
	{"huggingface-access-token", "%s", "hf" + "_" + random(18, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 34)},
	{"npm-access-token", "%s", "np" + "m_" + random(19, lowerNum, 36)},
	{"pypi-upload-token", "%s", "py" + "pi-AgEIcHlwaS5vcmc" + random(20, alnum, 60)},
	{"rubygems-api-token", "%s", "ruby" + "gems_" + random(21, hexDigits, 48)},
	{"clojars-api-token", "%s", "CLO" + "JARS_" + random(22, lowerNum, 60)},
	{"sendgrid-api-token", "%s", "S" + "G." + random(23, alnum, 66)},
	{"mailgun-private-api-token", "mailgun = %s", "ke" + "y-" + random(24, hexDigits, 32)},
	{"twilio-api-key", "%s", "S" + "K" + random(25, hexDigits, 32)},
	{"telegram-bot-api-token", "telegram_token: %s", random(26, "123456789", 9) + ":A" + random(27, alnum, 34)},
	{"digitalocean-pat", "%s", "do" + "p_v1_" + random(28, hexDigits, 64)},
	{"cloudflare-api-key", "cloudflare_api_key = %s", random(29, alnum, 40)},
	{"heroku-api-key", "heroku key: %s", "1b9a3c77-" + random(30, hexDigits, 4) + "-" + random(31, hexDigits, 4) + "-" + random(32, hexDigits, 4) + "-" + random(33, hexDigits, 12)},
	{"databricks-api-token", "%s", "da" + "pi" + random(34, hexDigits, 32)},
	{"grafana-service-account-token", "%s", "gl" + "sa_" + random(35, alnum, 32) + "_" + random(36, hexDigits, 8)},
	{"hashicorp-tf-api-token", "%s", random(37, alnum, 14) + ".atlas" + "v1." + random(38, alnum, 64)},
	{"vault-service-token", "%s", "hv" + "s." + random(39, alnum, 95)},
	{"linear-api-key", "%s", "lin" + "_api_" + random(40, alnum, 40)},
	{"notion-api-token", "%s", "nt" + "n_" + random(41, "0123456789", 11) + random(42, alnum, 35)},
	{"postman-api-token", "%s", "PM" + "AK-" + random(43, hexDigits, 24) + "-" + random(44, hexDigits, 34)},
	{"shopify-access-token", "%s", "shp" + "at_" + random(45, hexDigits, 32)},
	{"age-secret-key", "%s", "AGE-SEC" + "RET-KEY-1" + random(46, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)},
	{"1password-secret-key", "%s", "A" + "3-" + random(47, upperNum, 6) + "-" + random(48, upperNum, 11) + "-" + random(49, upperNum, 5) + "-" + random(50, upperNum, 5) + "-" + random(51, upperNum, 5)},
	{"jwt", "%s", "ey" + random(52, alnum, 40) + ".ey" + random(53, alnum, 60) + "." + random(54, alnum, 43)},
	{"private-key", "%s", privateKey(55, 12, "\n")},
	{"generic-api-key", "internal_api_key = \"%s\"", random(56, alnum, 40)},
	{"curl-auth-header", "curl -H \"Authorization: Bearer %s\" https://example.test/v1", random(57, alnum, 40)},
	{"kubernetes-secret-yaml", "```yaml\nkind: Secret\nmetadata:\n  name: db\ndata:\n  %s\n```", "password: " + random(58, alnum, 20) + "=="},
}

func TestSecretFamilies(t *testing.T) {
	s := newScanner(t, Options{})
	for _, f := range families {
		t.Run(f.rule, func(t *testing.T) {
			for _, frame := range []struct{ before, after string }{
				{"", ""},
				{"---\nname: a\n---\n# Über 日本\n\n- ", "\n\nMore text.\n"},
				{"\ufeff---\r\nname: a\r\n---\r\n\r\n", "\r\nlast"},
			} {
				at := strings.Index(f.text, "%s")
				text := frame.before + strings.Replace(f.text, "%s", f.secret, 1) + frame.after
				start := len(frame.before) + at
				found := s.Scan([]byte(text))
				if len(found) != 1 {
					t.Fatalf("got %d findings %v, want one of %s", len(found), rulesOf(found), f.rule)
				}
				got := found[0]
				if got.Kind != KindSecret || got.Rule != f.rule || got.Start != start || got.End != start+len(f.secret) {
					t.Errorf("got %s %s [%d,%d), want %s [%d,%d)", got.Kind, got.Rule, got.Start, got.End, f.rule, start, start+len(f.secret))
				}
				if want := 1 + strings.Count(text[:start], "\n"); got.Line != want {
					t.Errorf("line %d, want %d", got.Line, want)
				}
				if want := fingerprint(f.secret); got.Fingerprint != want {
					t.Errorf("fingerprint %s, want %s", got.Fingerprint, want)
				}
				keepsSecret(t, got, f.secret)
			}
		})
	}
}

func rulesOf(found []Finding) []string {
	var ids []string
	for _, f := range found {
		ids = append(ids, f.Rule)
	}
	return ids
}

// keepsSecret fails if anything that is printed of a finding has more of the secret than its public beginning.
func keepsSecret(t *testing.T, f Finding, secret string) {
	t.Helper()
	shown := strings.TrimSuffix(f.Redacted, "…[redacted]")
	if len(shown) > maxPrefix || !strings.HasPrefix(secret, shown) {
		t.Errorf("redacted is %q", f.Redacted)
	}
	all := fmt.Sprintf("%v %+v %#v %s", f, f, f, f.Reason)
	for i := len(shown); i+8 <= len(secret); i++ {
		if part := secret[i : i+8]; strings.Contains(all, part) && !strings.Contains(f.Fingerprint, part) && !strings.HasPrefix(secret, "-----") {
			t.Fatalf("the finding tells %q of the secret", part)
		}
	}
}

func TestNotSecrets(t *testing.T) {
	hash := random(70, hexDigits, 64)
	for name, text := range map[string]string{
		"git SHA":          "fixed in commit " + hash[:40] + " and reverted in " + hash[:9],
		"sha256":           "sha256:" + hash,
		"checksum file":    hash + "  mem-mcp.tar.gz",
		"UUID":             "originSessionId: 3f0c1b7e-5d43-4b65-9a0e-1f5b8f6b8c0d",
		"slug":             "see [the key facts](feedback-prefers-small-functions-and-early-returns.md) for auth",
		"example AWS key":  "aws_access_key_id = AK" + "IAIOSFODNN7EXAMPLE",
		"placeholder":      "api_key = <YOUR_TOKEN>",
		"shell variable":   "export API_TOKEN=$GITHUB_TOKEN and token: ${SECRET_VALUE}",
		"actions secret":   "token: ${{ secrets.GITHUB_TOKEN }}",
		"stars":            "password: ****************",
		"repeated letter":  "api_key: xxxxxxxxxxxxxxxxxxxxxxxx",
		"base64 image":     "![dot](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)",
		"public key":       "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + random(71, alnum, 43) + " me@host",
		"key of a map":     "the primary_key: user_account_identifier_v2 is used as cache key",
		"where it is kept": "The API token is kept in 1Password under engineering/deploy; ask for access.",
		"prose":            "Authentication: the access token lifetime is 3600 seconds, secret rotation is monthly, passwords are never logged.",
		"Japanese":         "トークン: 秘密は保管庫にあります。api_key は環境変数で渡す。",
		"go.sum":           "golang.org/x/sys v0.50.0 h1:" + base64.StdEncoding.EncodeToString([]byte(random(72, alnum, 32))),
		"empty":            "",
	} {
		if found := newScanner(t, Options{}).Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// TestNoBypass: what a text says cannot switch the guard off. Only a person's allow-list can.
func TestNoBypass(t *testing.T) {
	s := newScanner(t, Options{})
	token, key := githubToken(80), random(81, alnum, 40)
	for name, text := range map[string]string{
		"gitleaks:allow":         token + " # gitleaks:allow",
		"gitleaks:allow above":   "<!-- gitleaks:allow -->\n" + token,
		"generic allow":          "api_key = " + key + " // gitleaks:allow",
		"phrase of an exception": "api_key = " + key + "  --mount=type=secret,",
		"base64":                 "see " + base64.StdEncoding.EncodeToString([]byte("the token "+token+" works")),
		"twice base64":           base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("use " + token)))),
		"hexadecimal":            fmt.Sprintf("%x", "key "+token),
		"percent":                "https://example.test/?t=%67" + token[1:2] + "%70_" + token[4:],
		"longer than the rule":   token + "abc",
		"in a link":              "[docs](https://" + token + "@github.test/x)",
	} {
		if found := ofKind(s.Scan([]byte(text)), KindSecret); len(found) == 0 {
			t.Errorf("%s: nothing found", name)
		}
	}
}

func TestAllow(t *testing.T) {
	text := []byte("one " + githubToken(90) + " two " + githubToken(91))
	fp := fingerprint(githubToken(90))
	found := newScanner(t, Options{Allow: []string{" " + strings.ToUpper(fp) + "\n"}}).Scan(text)
	if len(found) != 1 || found[0].Fingerprint != fingerprint(githubToken(91)) {
		t.Errorf("got %v", found)
	}
	for _, bad := range []string{"", "abc", fp[:63], fp + "0", githubToken(90)} {
		_, err := New(Options{Allow: []string{fp, bad}})
		if err == nil {
			t.Errorf("New accepted %q", bad)
		} else if bad != "" && strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "secret 2") {
			t.Errorf("error %q", err)
		}
	}
}

func TestSeveralSecrets(t *testing.T) {
	a, b := githubToken(100), privateKey(101, 20, "\r\n")
	text := "x " + a + "\r\n" + b + "\r\n日本 " + a + "\r\n"
	found := newScanner(t, Options{}).Scan([]byte(text))
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%d %s", f.Line, text[f.Start:f.End]))
	}
	if want := []string{"1 " + a, "2 " + b, "24 " + a}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if found[1].Fingerprint != fingerprint(privateKey(101, 20, "\n")) {
		t.Error("a key has another fingerprint with CRLF")
	}
}

// TestSecretAtChunkEdges moves secrets over the edges at which a large text is cut.
func TestSecretAtChunkEdges(t *testing.T) {
	need.Asked(t, !raceEnabled, "slow, and nothing here is concurrent: make unit runs it without the race detector")
	key, token := privateKey(110, 180, "\n"), githubToken(111) // 12 KB, as long as they get
	for _, eol := range []string{"\n", " "} {
		s := newScanner(t, Options{})
		line := "words that mean nothing, again and again" + eol
		for _, at := range []int{chunkBytes - overlapBytes, chunkBytes - overlapBytes/2, chunkBytes} {
			for _, shift := range []int{-len(key) / 2, -20, 0, 1} {
				fill := strings.Repeat(line, 1+(at+shift)/len(line))[:at+shift-1] + eol
				for _, secret := range []string{key, token} {
					text := fill + secret + eol + strings.Repeat(line, 2000)
					found := s.Scan([]byte(text))
					if len(found) != 1 || found[0].Start != len(fill) || found[0].End != len(fill)+len(secret) {
						t.Fatalf("at %d%+d: got %v", at, shift, found)
					}
				}
			}
		}
	}
}

func TestTooLarge(t *testing.T) {
	token := githubToken(120)
	text := []byte("a " + token + "\n" + strings.Repeat("word ", 1000) + "\n" + token + "\u200b")
	found := newScanner(t, Options{MaxBytes: 1000}).Scan(text)
	if got := rulesOf(found); !slices.Equal(got, []string{"github-pat", "too-large", "zero-width"}) {
		t.Fatalf("got %v", found)
	}
	if f := found[1]; f.Kind != KindIncomplete || f.Start != 1000 || f.End != len(text) {
		t.Errorf("got %+v", f)
	}
	// The limit falls between two changes.
	after := []byte(strings.Repeat("a line of notes\n", 10) + "new\n" + strings.Repeat("a line of notes\n", 1000) + token + "\n")
	first := 10*16 + 4 + 1024 // the first change and the lines around it
	if got := rulesOf(newScanner(t, Options{MaxBytes: first}).Added([]byte(strings.Repeat("a line of notes\n", 1010)), after)); !slices.Equal(got, []string{"too-large"}) {
		t.Errorf("got %v", got)
	}
	redacted, _ := newScanner(t, Options{MaxBytes: 1000}).Redact(text)
	if strings.Contains(string(redacted), token) {
		t.Error("what was not searched is still there")
	}
}

func TestTooMany(t *testing.T) {
	var b strings.Builder
	for i := range MaxFindings + 5 {
		b.WriteString(githubToken(uint64(1000+i)) + "\n")
	}
	found := newScanner(t, Options{}).Scan([]byte(b.String()))
	if n := len(found); n != MaxFindings+1 || found[n-1].Kind != KindIncomplete || found[n-1].Line != MaxFindings+1 {
		t.Errorf("%d findings, last %v", n, found[n-1])
	}
}

func TestRedact(t *testing.T) {
	s := newScanner(t, Options{})
	token, key, value := githubToken(130), privateKey(131, 10, "\n"), random(132, alnum, 40)
	in := "a " + token + "xyz.\napi_key: " + value + "\nagain " + value + "!\n" + key + "\n日本\u200b\n"
	out, found := s.Redact([]byte(in))
	want := "a [redacted github-pat].\napi_key: [redacted generic-api-key]\nagain [redacted generic-api-key]!\n[redacted private-key]\n日本\u200b\n"
	if string(out) != want || len(found) != 4 {
		t.Errorf("got %q, %d findings", out, len(found))
	}
	clean := []byte("nothing here")
	if out, found := s.Redact(clean); &out[0] != &clean[0] || found != nil {
		t.Errorf("clean text: %q %v", out, found)
	}
}
