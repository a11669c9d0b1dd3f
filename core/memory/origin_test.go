package memory

import (
	"testing"

	"mem/core/settings"
)

func TestOriginOf(t *testing.T) {
	vars := map[string]string{"MEM_SESSION_ID": "ours"}
	env := settings.Env{Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
	if got := OriginOf(env); got != "ours" {
		t.Errorf("OriginOf = %q", got)
	}
	vars["CLAUDE_CODE_SESSION_ID"] = "the client's"
	if got := OriginOf(env); got != "the client's" {
		t.Errorf("OriginOf = %q", got)
	}
	if a, b := OriginOf(settings.Env{}), OriginOf(settings.Env{}); a == b || len(a) != 36 {
		t.Errorf("OriginOf of two runs = %q, %q", a, b)
	}
}
