package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mem/core/transcript"
	"mem/core/transcript/transcripttest"
)

func deliver(t *testing.T, data []byte, o Options) *Delivery {
	t.Helper()
	tr, c := read(t, data)
	d, err := Deliver(context.Background(), bytes.NewReader(data), tr, c, o)
	if err != nil {
		t.Fatal(err)
	}
	if why := invalid(d.Messages); why != "" {
		t.Fatal(why)
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	budget := o.BudgetTokens
	if budget == 0 {
		budget = DefaultBudget
	}
	if len([]rune(string(b))) > 4*budget {
		t.Fatalf("%d characters", len(b))
	}
	return d
}

func said(d *Delivery) string {
	b, _ := json.Marshal(d.Messages)
	return string(b) + d.Text
}

// long is a conversation of some turns, whose results have size characters each.
func long(turns, steps, size int) []byte {
	var c conversation
	for i := range turns {
		c.user(fmt.Sprintf("Prompt number %d.", i+1))
		for s := range steps {
			id := fmt.Sprintf("t%d_%d", i, s)
			c.answer("m"+id, say(fmt.Sprintf("Step %d of turn %d.", s+1, i+1)), use(id, "cat file"))
			c.user(gave(id, strings.Repeat("z", size)))
		}
		c.answer(fmt.Sprintf("m%d_end", i), say(fmt.Sprintf("Turn %d is done.", i+1)))
	}
	return c.Bytes()
}

func TestAllThatFitsIsWhole(t *testing.T) {
	d := deliver(t, long(3, 2, 3000), Options{ToolResults: true})
	if d.NextCursor != "" || d.LeftOut.Shortened > 0 || strings.Count(said(d), "z") != 18_000 {
		t.Errorf("%+v", d.LeftOut)
	}
}

func TestResultsAreShortenedFirst(t *testing.T) {
	d := deliver(t, long(8, 2, 12_000), Options{ToolResults: true})
	if d.NextCursor != "" || d.LeftOut.Turns > 0 || d.LeftOut.Shortened == 0 {
		t.Errorf("%+v", d.LeftOut)
	}
	for i := range 8 {
		if !strings.Contains(said(d), fmt.Sprintf("Prompt number %d.", i+1)) {
			t.Errorf("prompt %d is missing", i+1)
		}
	}
	kept := strings.Count(said(d), "z")
	if gone := d.LeftOut.Characters; kept+gone != 8*2*12_000 {
		t.Errorf("%d characters are kept and %d gone, want %d in all", kept, gone, 8*2*12_000)
	}
	if len(d.LeftOut.Where) == 0 || d.LeftOut.Where[0].Characters == 0 || d.LeftOut.Where[0].Line == 0 {
		t.Errorf("where: %+v", d.LeftOut.Where)
	}
}

func TestOlderTurnsAreLeftOutWhole(t *testing.T) {
	data := long(300, 2, 500)
	for _, f := range []Format{Messages, Brief} {
		d := deliver(t, data, Options{ToolResults: true, Format: f})
		s := said(d)
		for _, want := range []string{"Prompt number 1.", "Prompt number 300.", "Turn 300 is done.", "Prompt number 299."} {
			if !strings.Contains(s, want) {
				t.Errorf("%s: %s is missing", f, want)
			}
		}
		if d.NextCursor == "" || d.LeftOut.Partial || d.LeftOut.Turns < 200 || strings.Contains(s, "Prompt number 2.") {
			t.Errorf("%s: %+v", f, d.LeftOut)
		}
		if !strings.Contains(s, "Left out here: ") {
			t.Errorf("%s does not say what is left out", f)
		}
		if d.Tokens < DefaultBudget/2 {
			t.Errorf("%s: only %d tokens are used", f, d.Tokens)
		}
	}
}

// TestOneLongTurn has a turn that is larger than a page: it is not left out for
// the short one after it.
func TestOneLongTurn(t *testing.T) {
	var c conversation
	c.Write(long(1, 400, 700))
	c.n, c.last = 5000, lastOf(t, c.Bytes())
	c.user("ok")
	c.answer("mlast", say("Good."))
	d := deliver(t, c.Bytes(), Options{ToolResults: true})
	if !d.LeftOut.Partial || d.Tokens < DefaultBudget/2 || !strings.Contains(said(d), "Step 400 of turn 1.") {
		t.Errorf("%d tokens, %+v", d.Tokens, d.LeftOut)
	}
	if !strings.Contains(said(d), "part of a turn that began with the prompt `Prompt number 1.`") {
		t.Error("the prompt of the turn is not told")
	}
}

func lastOf(t *testing.T, data []byte) string {
	tr, c := read(t, data)
	d, err := Deliver(context.Background(), bytes.NewReader(data), tr, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d.ResumePoint
}

func TestSummaryStays(t *testing.T) {
	var c conversation
	c.user("Mend the gate.")
	c.compact()
	for i := range 200 {
		c.user(fmt.Sprintf("Prompt number %d. %s", i, strings.Repeat("word ", 60)))
		c.answer(fmt.Sprintf("m%d", i), say("Done."))
	}
	d := deliver(t, c.Bytes(), Options{BudgetTokens: MinBudget})
	if !strings.Contains(said(d), "What was said before: the gate was mended.") || !strings.Contains(said(d), "Prompt number 199.") {
		t.Error(said(d))
	}
	if d.FirstPrompt != "Mend the gate." {
		t.Errorf("first prompt %q", d.FirstPrompt)
	}
}

func TestOneHugeAnswer(t *testing.T) {
	var c conversation
	c.user(strings.Repeat("long prompt ", 20_000))
	var calls []any
	for i := range 300 {
		calls = append(calls, use(fmt.Sprintf("t%d", i), strings.Repeat("x", 2000)))
	}
	c.answer("m1", calls...)
	for i := range 300 {
		c.user(gave(fmt.Sprintf("t%d", i), strings.Repeat("y", 2000)))
	}
	for _, f := range []Format{Messages, Brief} {
		for _, budget := range []int{MinBudget, DefaultBudget, 200_000} {
			d := deliver(t, c.Bytes(), Options{Format: f, BudgetTokens: budget, ToolResults: true})
			if !strings.Contains(said(d), "long prompt") {
				t.Errorf("%s, %d: no prompt", f, budget)
			}
		}
	}
}

func TestFileThatGrew(t *testing.T) {
	data := long(300, 1, 400)
	d := deliver(t, data, Options{ToolResults: true})
	var more conversation
	more.Write(data)
	more.n, more.last = 9000, d.ResumePoint
	more.user("One more.")
	tr, c := read(t, more.Bytes())
	src := bytes.NewReader(more.Bytes())
	o := Options{ToolResults: true, Cursor: d.NextCursor}
	next, err := Deliver(context.Background(), src, tr, c, o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(next.Notes, " "), "has gone on since") || strings.Contains(said(next), "One more.") {
		t.Errorf("%q", next.Notes)
	}
	if next.ResumePoint != d.ResumePoint {
		t.Errorf("resume point %s, want %s", next.ResumePoint, d.ResumePoint)
	}

	// What the cursor points at is no longer there.
	other := bytes.Replace(data, []byte("Prompt number 7."), []byte("Prompt number seven."), 1)
	tr, c = read(t, other)
	for _, cur := range []string{d.NextCursor, "garbage", "e30", ""} {
		_, err := Deliver(context.Background(), bytes.NewReader(other), tr, c, Options{Cursor: cur})
		if want := cur != ""; errors.Is(err, ErrCursor) != want {
			t.Errorf("cursor %q: %v", cur, err)
		}
	}
	var elsewhere conversation
	elsewhere.row("user", object{"sessionId": "other", "message": object{"role": "user", "content": "hello"}})
	tr, c = read(t, elsewhere.Bytes())
	if _, err := Deliver(context.Background(), bytes.NewReader(elsewhere.Bytes()), tr, c, Options{Cursor: d.NextCursor}); !errors.Is(err, ErrCursor) {
		t.Errorf("the cursor of another session: %v", err)
	}
}

func TestRefused(t *testing.T) {
	tr, c := read(t, long(1, 1, 1))
	for _, o := range []Options{{BudgetTokens: 10}, {BudgetTokens: -1}, {Format: "xml"}} {
		if _, err := Deliver(context.Background(), bytes.NewReader(long(1, 1, 1)), tr, c, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Deliver(ctx, bytes.NewReader(long(1, 1, 1)), tr, c, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	// The file is gone meanwhile.
	d, err := Deliver(context.Background(), bytes.NewReader(nil), tr, c, Options{})
	if err != nil || d.LeftOut.Unreadable == 0 || invalid(d.Messages) != "" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestEmpty(t *testing.T) {
	for _, f := range []Format{Messages, Brief} {
		d := deliver(t, nil, Options{Format: f})
		if d.Messages == nil || len(d.Messages) > 0 || len(d.Notes) == 0 {
			t.Errorf("%+v", d)
		}
	}
}

// TestSecretKnownFromElsewhere has a secret that only its key gives away, and
// that stands bare in an older and in a newer message.
func TestSecretKnownFromElsewhere(t *testing.T) {
	secret := "q8Zr2Lk7Wm4Xn9Bv3Jt6"
	var c conversation
	c.user("Try " + secret + " please.")
	c.answer("m1", object{"type": "tool_use", "id": "t1", "name": "Login", "input": object{"api_key": secret, "n": 1.50}})
	c.user(gave("t1", "sent "+secret))
	c.answer("m2", say("It was "+secret+"."), object{"type": "text", "text": "Done."})
	for _, f := range []Format{Messages, Brief} {
		d := deliver(t, c.Bytes(), Options{Format: f, ToolResults: true, Redact: scanner(t)})
		b, _ := json.Marshal(d)
		if strings.Contains(string(b), secret) || d.Secrets == 0 {
			t.Errorf("%s", b)
		}
		if f == Messages && !strings.Contains(string(b), `"n":1.5`) {
			t.Errorf("%s", b)
		}
		open := deliver(t, c.Bytes(), Options{Format: f, ToolResults: true})
		if !strings.Contains(said(open), secret) {
			t.Error("without a scanner it is to be shown")
		}
	}
}

// TestGenerated goes through all pages of a transcript shaped like real ones.
func TestGenerated(t *testing.T) {
	var b bytes.Buffer
	made, err := transcripttest.Write(&b, transcripttest.Options{Seed: 4, Bytes: 3e6, Noise: 0.5, CompactEvery: 2e6})
	if err != nil {
		t.Fatal(err)
	}
	tr, c := read(t, b.Bytes())
	o := Options{ToolResults: true, Thinking: true, Attachments: true, BudgetTokens: 8000}
	seen, pages := "", 0
	for ; pages < 10_000; pages++ {
		d, err := Deliver(context.Background(), bytes.NewReader(b.Bytes()), tr, c, o)
		if err != nil {
			t.Fatal(err)
		}
		if why := invalid(d.Messages); why != "" {
			t.Fatal(why)
		}
		if d.LeftOut.Unpaired > 0 {
			t.Errorf("page %d: %+v", pages, d.LeftOut)
		}
		seen += said(d)
		if o.Cursor = d.NextCursor; o.Cursor == "" {
			break
		}
	}
	if pages < 3 || pages > made.Messages {
		t.Errorf("%d pages", pages)
	}
	for m, err := range transcript.Load(context.Background(), bytes.NewReader(b.Bytes()), tr, c.Rows) {
		if err != nil {
			t.Fatal(err)
		}
		for _, blk := range m.Content {
			if blk.Type == "tool_use" && strings.Count(seen, `"id":"`+blk.ID+`"`) != 1 {
				t.Errorf("the call %s is on %d pages", blk.ID, strings.Count(seen, `"id":"`+blk.ID+`"`))
			}
		}
	}
}

func FuzzDeliver(f *testing.F) {
	f.Add(long(2, 2, 20), uint16(0), true)
	for _, make := range shapes {
		var c conversation
		make(&c)
		f.Add(c.Bytes(), uint16(100), false)
	}
	g := scanner(f)
	f.Fuzz(func(t *testing.T, data []byte, budget uint16, brief bool) {
		tr, err := transcript.Read(context.Background(), bytes.NewReader(data), int64(len(data)), transcript.Options{MaxRecord: 1 << 20})
		if tr == nil {
			t.Fatal(err)
		}
		o := Options{BudgetTokens: MinBudget + int(budget), ToolResults: true, Thinking: true, Attachments: true, Redact: g}
		if brief {
			o.Format = Brief
		}
		d, err := Deliver(context.Background(), bytes.NewReader(data), tr, tr.Chain(transcript.UUID{}), o)
		if err != nil {
			t.Fatal(err)
		}
		if why := invalid(d.Messages); why != "" {
			t.Fatalf("%s", why)
		}
		if b, err := json.Marshal(d); err != nil || len([]rune(string(b))) > 4*o.BudgetTokens {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
	})
}

// TestLargeFacts has a session whose name, directory and prompt alone would fill
// a small budget.
func TestLargeFacts(t *testing.T) {
	long := strings.Repeat("記憶<", 3000)
	var c conversation
	for i := range 60 {
		c.row("user", object{
			"sessionId": long, "cwd": "/" + long, "gitBranch": long, "version": long, "message": object{"role": "user", "content": long},
			"parentUuid": []any{nil, "gone"}[i%2],
		})
		c.WriteString("{\"type\":\n[1]\n")
	}
	c.row("assistant", object{"uuid": long, "message": object{"id": "m1", "role": "assistant", "model": long, "content": []any{say(long)}}})
	c.WriteString(`{"type":"custom-title","customTitle":"` + long + `"}` + "\n")
	for _, f := range []Format{Messages, Brief} {
		d := deliver(t, c.Bytes(), Options{Format: f, BudgetTokens: MinBudget, Redact: scanner(t)})
		if d.Session == "" || d.Cwd == "" || d.NextCursor == "" && d.LeftOut.Shortened == 0 {
			t.Errorf("%s: %+v", f, d.LeftOut)
		}
		if !strings.Contains(said(d), "記憶") {
			t.Errorf("%s: nothing of the conversation is there: %s", f, said(d))
		}
	}
}
