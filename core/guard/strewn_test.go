package guard

import (
	"fmt"
	"strings"
	"testing"
)

// TestSecretsWithHiddenCharacters: a secret stays one when characters that nobody sees are strewn into it.
func TestSecretsWithHiddenCharacters(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families[:8] {
		for _, hidden := range []string{"\u200b", "\u200d", "\u00ad", "\ufe0f", "\u2060", "\U000e0041", "\u202e"} {
			n := len(family.secret) / 2
			strewn := family.secret[:2] + hidden + family.secret[2:n] + hidden + hidden + family.secret[n:]
			text := "é " + fmt.Sprintf(family.text, strewn) + " end\n"
			var found bool
			for _, f := range s.Scan([]byte(text)) {
				found = found || f.Kind == KindSecret && text[f.Start:f.End] == strewn && f.Fingerprint == fingerprint(family.secret) && !strings.Contains(f.Reason, family.secret)
			}
			if !found {
				t.Errorf("%s with %U: %+v", family.rule, []rune(hidden)[0], s.Scan([]byte(text)))
			}
			if redacted, _ := s.Redact([]byte(text)); strings.Contains(string(redacted), family.secret[n:]) {
				t.Errorf("%s with %U: redacted %q", family.rule, []rune(hidden)[0], redacted)
			}
		}
	}
	if text, at := withoutHidden("plain é"); at != nil || text != "plain é" {
		t.Errorf("plain text became %q", text)
	}
}
