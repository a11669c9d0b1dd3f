package rules_test

import (
	"context"
	"testing"

	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// Of entries whose topics can never be, and of those that stand twice, fixes that need
// judgement take the links when they are made all at once, and none of the words.
func TestAllAtOnceLosesNoWords(t *testing.T) {
	c := diagtest.Parse(t, []byte(`-- MEMORY.md --
# Memory

- [How to start](README.md) — read this first
  - and then this
  - [b](b.md) too
- [For agents](CLAUDE.md)
1. [Hosts](nul.md) — where it runs, see [b](b.md)
   and the rest
2. see [Hidden](.x.md)
- [See [[c]] too](CLAUDE.md)
- [One](CLAUDE.md) and [two](AGENTS.md)
- [b](b.md) — says more
- [Another title](b.md)
-- b.md --
---
name: b
description: It says more
type: user
---
Words.
`))
	want := `# Memory

- How to start — read this first
  - and then this
  - [b](b.md) too
1. Hosts — where it runs, see [b](b.md)
   and the rest
2. see Hidden
- See [[c]] too
- One and two
- b — says more
- Another title
`
	e := c.Engine(rules.All(), fixes.All())
	s, _ := c.Check(t, e)
	fixed, err := e.FixAll(context.Background(), s, diagnostics.FixOptions{Unsafe: true, Rules: []string{"broken-link", "duplicate-entry"}})
	if err != nil {
		t.Fatal(err)
	}
	after, err := fixed.Change.Apply(c.Texts())
	if err != nil {
		t.Fatal(err)
	}
	if got := after["MEMORY.md"]; got != want {
		t.Errorf("got\n%s\nwant\n%s\nleft %v", got, want, fixed.Left)
	}
}
