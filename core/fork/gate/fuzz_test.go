package gate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzCall: whatever a call is, nothing outside is read or changed, and nothing breaks.
func FuzzCall(f *testing.F) {
	for _, c := range [][2]string{
		{"Read", `{"file_path":"/memory/../home/notes.md"}`}, {"Read", `{"file_path":"C:\\Users\\Someone\\memory\\..\\x","offset":"1"}`}, {"Read", `{"file_path":"out.md"}`},
		{"Grep", `{"pattern":"CANARY","path":"..","output_mode":"content","-C":3,"multiline":true}`}, {"Grep", `{"pattern":"(?s).*","glob":"{a,b,*}/**"}`},
		{"Glob", `{"pattern":"/**/{.*,[!a]*}"}`}, {"Glob", `{"pattern":"@(a|b)!(c)","path":"/"}`}, {"Bash", `{"command":"cat ../*/* ~/.h* < out.md","timeout":50}`},
		{"Write", `{"file_path":"outdir/x.md","content":"x"}`}, {"Edit", `{"file_path":"hard.md","old_string":"s","new_string":"t","replace_all":true}`},
	} {
		f.Add(c[0], c[1])
	}
	s := newScene(f)
	s.prepare()
	before := s.outsideState()
	n := 0
	f.Fuzz(func(t *testing.T, tool, input string) {
		s.t = t
		if tool == "Bash" && !strings.Contains(input, "timeout") {
			input = strings.Replace(input, "}", `,"timeout":50}`, 1)
		}
		c := s.gate.Call(context.Background(), tool, json.RawMessage(input))
		if strings.Contains(c.Text+c.Refused, canary) && !strings.Contains(input, canary) {
			t.Errorf("it reads what it may not:\n%s", c.Text)
		}
		if strings.Contains(c.Text, "by a fault") {
			t.Error(c.Text)
		}
		if n++; n%64 == 0 || len(c.Touched) > 0 {
			if after := s.outsideState(); after != before {
				t.Errorf("something outside has changed:\n%s\n---\n%s", before, after)
			}
		}
	})
}
