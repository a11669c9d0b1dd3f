package lspserver

import (
	"fmt"
	"strings"
	"testing"
)

// The rules themselves, as an editor shows them: an index that is too long, a
// topic of a wrong type.
func TestRealRules(t *testing.T) {
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	files := map[string]string{}
	for i := range 200 {
		fmt.Fprintf(&index, "- [Topic %d](t%d.md) — about %d\n", i, i, i)
		files[fmt.Sprintf("t%d.md", i)] = fmt.Sprintf("---\nname: t%d\ndescription: about %d\ntype: user\n---\n\nText %d\n", i, i, i)
	}
	files["MEMORY.md"] = index.String()
	files["t3.md"] = strings.Replace(files["t3.md"], "type: user", "type: nonsense", 1)
	e := start(t, files)
	e.initialize(capable)
	e.open("MEMORY.md", index.String())
	long := e.shown("MEMORY.md", 1)
	if !has("index-too-long")(long) {
		t.Fatalf("found %q", codes(long))
	}
	for _, d := range long {
		if d.Code == "index-too-long" && (len(d.Tags) != 1 || d.Range.Start.Line != 200) {
			t.Errorf("the dropped region is %+v", d)
		}
	}

	e.open("t3.md", files["t3.md"])
	if found := e.shown("t3.md", 2); !has("type-unknown")(found) {
		t.Fatalf("found %q", codes(found))
	}
	all := e.lightbulb("t3.md", span{point{3, 0}, point{3, 0}}, "")
	a := titled(t, all, "Set the type to user")
	if got := e.made(e.take(a))["t3.md"]; got != strings.Replace(files["t3.md"], "nonsense", "user", 1) {
		t.Errorf("it makes %q", got)
	}
}

// A secret that comes in while somebody types is shown, and not told.
func TestSecretWhileTyping(t *testing.T) {
	topic := "---\nname: t3\ndescription: about 3\ntype: user\n---\n\nText\n"
	e := start(t, map[string]string{"MEMORY.md": "- [T](t3.md) — about 3\n", "t3.md": topic})
	e.initialize(capable)
	e.open("t3.md", topic)
	secret := "ghp_" + "Zx8Kq2Lw9Rt4Yv7Bn3Mc6Df1Hj5Gs0PaQeUi"
	e.edit("t3.md", replace(6, 0, 6, 0, "token = "+secret+" "))
	e.until("t3.md", "the secret", has("secret"))
	e.mu.Lock()
	for _, d := range e.latest("t3.md") {
		if strings.Contains(d.Message, secret[4:]) {
			t.Errorf("the secret is shown: %s", d.Message)
		}
	}
	e.mu.Unlock()
	all := e.lightbulb("t3.md", span{point{6, 10}, point{6, 10}}, `{"diagnostics":[],"only":["quickfix"]}`)
	if len(all) == 0 {
		t.Fatal("nothing is offered for the secret")
	}
	got := e.made(e.take(all[0]))["t3.md"]
	if strings.Contains(got, secret) || !strings.Contains(got, "token = ") {
		t.Errorf("it makes %q", got)
	}
	e.change("t3.md", got)
	e.until("t3.md", "no secret", lacks("secret"))
}
