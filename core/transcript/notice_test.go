package transcript

import "testing"

func TestIsNotice(t *testing.T) {
	for text, want := range map[string]bool{
		`<command-name>/clear`:                   true,
		`\u003ccommand-name\u003e/clear`:         true,
		`\u003Clocal-command-stdout\u003Eok`:     true,
		`\u003csystem-reminder\u003eread this`:   true,
		`[Request interrupted by user]`:          true,
		`\u003csystem-reminders are annoying`:    false,
		`\u003cb\u003e is a tag`:                 false,
		`fix the <command-name> tag, please`:     false,
		`\u0041 \u003ccommand-name\u003e inside`: false,
		``:                                       false,
	} {
		if got := isNotice([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
