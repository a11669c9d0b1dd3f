package inherit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mem/core/guard"
	"mem/core/model"
	"mem/core/transcript"
)

// secret is what the guard finds; it is put together so that no scanner finds it here.
var secret = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Xc8"

func row(n int, kind, message string) string {
	parent := "null"
	if n > 1 {
		parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n-1)
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-01T00:00:%02dZ","sessionId":"s","cwd":"/p","version":"1","message":%s}`+"\n", parent, kind, n, n, message)
}

func id(n int) transcript.UUID {
	return transcript.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
}

func take(t *testing.T, text string, o Options) *Conversation {
	t.Helper()
	scan, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Redact = scan
	src := strings.NewReader(text)
	tr, err := transcript.Read(t.Context(), src, int64(src.Len()), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Take(t.Context(), src, tr, tr.Chain(transcript.UUID{}), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func conversation() string {
	return row(1, "user", `{"role":"user","content":"never mock the database"}`) +
		row(2, "assistant", `{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}]}`) +
		row(3, "user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"token `+secret+`"}]}`) +
		row(4, "assistant", `{"id":"m2","role":"assistant","content":[{"type":"text","text":"I will not."}]}`) +
		row(5, "user", `{"role":"user","content":"and use `+secret+` for it\nplease"}`) +
		row(6, "assistant", `{"id":"m3","role":"assistant","content":[{"type":"text","text":"Done."}]}`)
}

func TestTheConversationIsHandedOnWithoutSecrets(t *testing.T) {
	c := take(t, conversation(), Options{})
	if len(c.Messages) != 6 || c.Messages[1].Blocks[0].Call == nil || c.Messages[1].Blocks[0].Call.Name != "Bash" || c.Messages[2].Blocks[0].Result == nil || c.Messages[2].Blocks[0].Result.ID != c.Messages[1].Blocks[0].Call.ID {
		t.Fatalf("messages: %+v", c.Messages)
	}
	all, err := json.Marshal(c)
	if err != nil || strings.Contains(string(all), secret) || c.Secrets != 1 {
		t.Errorf("%d secrets, %v: %s", c.Secrets, err, all)
	}
	if c.Leaf != id(6) || c.Messages[0].Role != model.User || c.LeftOut != "" {
		t.Errorf("leaf %s, left out %q", c.Leaf, c.LeftOut)
	}
	if n := c.New; !n.All || n.Rows != 6 || n.Turns != 2 || n.First != "never mock the database" {
		t.Errorf("new: %+v", n)
	}
}

func TestWhatIsNewSinceAMessage(t *testing.T) {
	n := take(t, conversation(), Options{Since: id(4)}).New
	if n.All || n.Rows != 2 || n.Turns != 1 || !strings.HasPrefix(n.First, "and use ") || strings.Contains(n.First, secret) {
		t.Errorf("since the fourth: %+v", n)
	}
	if n := take(t, conversation(), Options{Since: id(6)}).New; n.All || n.Rows != 0 || n.First != "" {
		t.Errorf("since the last: %+v", n)
	}
	if n := take(t, conversation(), Options{Since: id(99)}).New; !n.All || n.Rows != 6 {
		t.Errorf("since one that is not there: %+v", n)
	}
	if n := take(t, conversation(), Options{Since: id(5)}).New; n.Turns != 0 || n.First != "Done." {
		t.Errorf("since the prompt: %+v", n)
	}
}

// The beginning stays the same while a conversation grows, so that a provider has it in
// its cache.
func TestTheBeginningStaysTheSame(t *testing.T) {
	text := conversation()
	lines := strings.SplitAfter(text, "\n")
	short, err := json.Marshal(take(t, strings.Join(lines[:4], ""), Options{}).Messages)
	if err != nil {
		t.Fatal(err)
	}
	long, err := json.Marshal(take(t, text, Options{}).Messages[:4])
	if err != nil || string(short) != string(long) {
		t.Errorf("%s\n%s", short, long)
	}
}

func TestOverTheBudget(t *testing.T) {
	var b strings.Builder
	for n := 1; n <= 40; n += 2 {
		said, err := json.Marshal(fmt.Sprintf("turn %d %s", n, strings.Repeat("word ", 400)))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(row(n, "user", fmt.Sprintf(`{"role":"user","content":%s}`, said)))
		b.WriteString(row(n+1, "assistant", fmt.Sprintf(`{"id":"m%d","role":"assistant","content":%s}`, n, said)))
	}
	c := take(t, b.String(), Options{Budget: 5000, Since: id(38)})
	if c.Tokens > 5000 || !strings.Contains(c.LeftOut, "are older than what is here") || c.New.Turns != 1 {
		t.Errorf("%d tokens, %q, %+v", c.Tokens, c.LeftOut, c.New)
	}
}
