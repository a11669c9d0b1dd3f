package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mem/core/recall"
)

// TestRelevance: small conversations; the turn that a person would want is first.
func TestRelevance(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{}

	pay := newSession(t, dir, "payments")
	want["why are refunds charged twice"] = pay.prompt("Customers report that refunds are charged twice since Tuesday, can you look into it?")
	pay.answer("I will look at the refund worker first.")
	want["grep idempotency"] = pay.call("Grep", map[string]any{"pattern": "idempotencyKey", "path": "services/refunds"})
	pay.result("services/refunds/worker.go:88: key := uuid.New()", false)
	want["cause of the double refund"] = pay.answer("The cause of the double refund: the worker makes a new idempotency key for each retry, so the bank takes every retry for a new refund.")
	pay.prompt("ok, fix it and add a regression test")
	pay.answer("Done: the key is derived from the order now.")

	ci := newSession(t, dir, "ci")
	want["pipeline slow"] = ci.prompt("The pipeline takes 40 minutes, it is too slow. What can we cache?")
	ci.answer("The module cache and the build cache are both thrown away between jobs.")
	ci.call("Bash", map[string]any{"command": "time go test ./..."})
	want["undefined: newClient"] = ci.result("# shop/api\napi/client_test.go:12:9: undefined: newClient\nFAIL shop/api [build failed]", true)
	want["remote cache for build artifacts"] = ci.answer("With a remote cache for build artifacts the pipeline goes down to nine minutes.")

	db := newSession(t, dir, "database")
	want["customerRef"] = db.prompt("We need to rename the column customer_ref to client_ref")
	want["zero downtime rename"] = db.answer("A rename without downtime takes three steps: add the new column, write both, drop the old one. Zero downtime means never renaming in place.")
	want["models/order.go"] = db.call("Edit", map[string]any{"file_path": "models/order.go", "old_string": "CustomerRef string", "new_string": "ClientRef string"})
	db.answer("Edited the model.")

	cjk := newSession(t, dir, "cjk")
	want["登录超时"] = cjk.prompt("用户登录超时怎么办？")
	want["会话令牌过期"] = cjk.answer("原因是会话令牌过期时间太短，改成三十分钟即可。")
	want["デプロイ 失敗"] = cjk.prompt("デプロイが失敗しました")
	cjk.answer("認証情報が期限切れです。")
	want["로그인"] = cjk.prompt("로그인 오류를 고쳐 주세요")

	want["refnud twcie"] = want["why are refunds charged twice"] // two slips
	want["artefacts pipelin"] = want["remote cache for build artifacts"]

	x := open(t, Options{})
	update(t, x, pay.source("shop"), ci.source("shop"), db.source("shop"), cjk.source("cn"))
	for query, uuid := range want {
		h := first(t, x, query, uuid)
		if h.UUID == "" {
			continue
		}
		if len(h.Matched) == 0 || len(h.Snippet.Matches) == 0 || !utf8.ValidString(h.Snippet.Text) {
			t.Errorf("%s: matched %q, snippet %+v", query, h.Matched, h.Snippet)
		}
	}
	r := search(t, x, Query{Text: "refnud"})
	if len(r.Corrections) != 1 || r.Corrections[0].Word != "refnud" {
		t.Errorf("corrections are told: %+v", r.Corrections)
	}
	if r := search(t, x, Query{Text: "refund qqqzzzvvvxxx"}); !slices.Equal(r.Unknown, []string{"qqqzzzvvvxxx"}) || len(r.Hits) == 0 {
		t.Errorf("unknown words are told: %q", r.Unknown)
	}
	for _, q := range []string{"", " \t", "the of and", "qqqzzzvvvxxx", "!!! ??? ..."} {
		if r := search(t, x, Query{Text: q}); len(r.Hits) != 0 {
			t.Errorf("%q finds %d", q, len(r.Hits))
		}
	}
}

// TestUserCountsDouble and what else decides between entries that match alike.
func TestRanking(t *testing.T) {
	dir := t.TempDir()
	a := newSession(t, dir, "a")
	a.answer("kestrel flies over the hill")
	want := a.prompt("kestrel flies over the hill")
	a.call("Bash", map[string]any{"command": "kestrel flies over the hill"})
	x := open(t, Options{})
	update(t, x, a.source("p"))
	first(t, x, "kestrel", want)

	// The better of two equal turns is the one whose neighbours match too.
	b := newSession(t, dir, "b")
	b.answer("osprey alone")
	b.answer("filler text")
	b.answer("filler text")
	b.answer("filler text")
	b.answer("a river runs there")
	near := b.answer("osprey alone")
	b.answer("a river runs here")
	update(t, x, b.source("p"))
	first(t, x, "osprey river", near)
}

func TestFilters(t *testing.T) {
	dir := t.TempDir()
	x := open(t, Options{})
	var sources []Source
	at := map[string]time.Time{}
	for i := range 6 {
		s := newSession(t, dir, fmt.Sprint("s", i))
		s.at = start.AddDate(0, 0, i)
		at[s.prompt("common word")] = s.at
		at[s.answer("common word")] = s.at
		s.call("Bash", map[string]any{"command": "common word"})
		sources = append(sources, s.source(fmt.Sprint("p", i%2)))
	}
	odd := newSession(t, dir, "timeless")
	odd.append(`{"type":"user","uuid":"timeless","message":{"content":"common word"}}` + "\n")
	update(t, x, append(sources, odd.source("p0"))...)
	check := func(name string, q Query, total int, ok func(Hit) bool) {
		t.Helper()
		q.Text, q.Limit = "common", 50
		r := search(t, x, q)
		if r.Total != total || len(r.Hits) != total {
			t.Errorf("%s: %d of %d hits; want %d", name, len(r.Hits), r.Total, total)
		}
		for _, h := range r.Hits {
			if !ok(h) {
				t.Errorf("%s: %+v", name, h)
			}
		}
	}
	check("all", Query{}, 19, func(Hit) bool { return true })
	check("project", Query{Project: "p1"}, 9, func(h Hit) bool { return h.Project == "p1" })
	check("sessions", Query{Sessions: []string{"s2", "s5", "none"}}, 6, func(h Hit) bool { return h.Session == "s2" || h.Session == "s5" })
	check("roles", Query{Roles: []Role{Prompt, ToolCall}}, 13, func(h Hit) bool { return h.Role == Prompt || h.Role == ToolCall })
	check("from", Query{From: start.AddDate(0, 0, 4)}, 6, func(h Hit) bool { return h.Session == "s4" || h.Session == "s5" })
	check("to", Query{To: start.AddDate(0, 0, 1)}, 3, func(h Hit) bool { return h.Session == "s0" })
	check("minute", Query{From: start.Add(2 * time.Minute), To: start.Add(3 * time.Minute)}, 1, func(h Hit) bool { return h.Role == Answer })
	check("together", Query{Project: "p1", Roles: []Role{Answer}, From: start.AddDate(0, 0, 2)}, 2, func(h Hit) bool { return h.Project == "p1" && h.Role == Answer })
	check("nothing", Query{Project: "p9"}, 0, nil)
	check("no such time", Query{From: start.AddDate(1, 0, 0)}, 0, nil)
	check("upside down", Query{From: start.AddDate(0, 0, 3), To: start}, 0, nil)
	if r := search(t, x, Query{Text: "common", Limit: 2}); len(r.Hits) != 2 || r.Total != 19 {
		t.Errorf("%+v", r)
	}
	if r := search(t, x, Query{Text: "common", Limit: 1 << 40}); len(r.Hits) != 19 {
		t.Errorf("%+v", r)
	}
	h := search(t, x, Query{Text: "common", Roles: []Role{Prompt}, Sessions: []string{"s3"}}).Hits[0]
	if want := start.AddDate(0, 0, 3).Add(time.Minute); !h.Time.Equal(want) || !at[h.UUID].Add(0).Equal(start.AddDate(0, 0, 3).Add(time.Minute)) {
		t.Errorf("time %v, want %v", h.Time, want)
	}
}

// TestCopies: older clients copied the records of a session that was resumed.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	a, b := newSession(t, dir, "a"), newSession(t, dir, "b")
	line := `{"type":"user","uuid":"same","message":{"content":"copied words"}}` + "\n"
	a.append(line + line)
	b.append(line)
	own := b.prompt("other words")
	x := open(t, Options{})
	update(t, x, a.source("p"), b.source("p"))
	r := search(t, x, Query{Text: "words"})
	got := uuids(r)
	slices.Sort(got)
	if !slices.Equal(got, []string{own, "same"}) {
		t.Errorf("%q", got)
	}
}

// TestManyEntries: a word that is everywhere does not make a search slow, and the
// result says so.
func TestManyEntries(t *testing.T) {
	dir := t.TempDir()
	var sources []Source
	for i := range 4 {
		s := newSession(t, dir, fmt.Sprint("s", i))
		for k := range 3000 {
			s.answer(fmt.Sprintf("everywhere %d", k))
		}
		if i == 0 {
			s.answer("everywhere and rareword")
		}
		sources = append(sources, s.source("p"))
	}
	x := open(t, Options{})
	update(t, x, sources...)
	if r := search(t, x, Query{Text: "everywhere"}); !r.Newest || r.Total != rankEntries || len(r.Hits) == 0 || r.Hits[0].Session == "s0" {
		t.Errorf("total %d, newest %v", r.Total, r.Newest)
	}
	r := search(t, x, Query{Text: "everywhere rareword"})
	if len(r.Hits) != 1 || !slices.Equal(r.Hits[0].Matched, []string{"everywhere", "rareword"}) || !r.Newest {
		t.Errorf("%+v", r)
	}
	if r := search(t, x, Query{Text: "everywhere", Sessions: []string{"s0"}}); r.Newest || r.Total != 3001 {
		t.Errorf("total %d, newest %v", r.Total, r.Newest)
	}
}

func TestSecrets(t *testing.T) {
	s := newSession(t, t.TempDir(), "s")
	token := "ghp_" + "Zk3Vq8Lm2Xw9Rt5Yb7Nc4Hd6Jf1Gs0PaQeUi"
	key := "AKIA" + "Q4ZN7XKD2VJH5WLP"
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAx7Jd0aPq3sVbYfT9kLmNw2eRzUcXoHgIjKlMnOpQrStUvWxY\n", 25) + "-----END RSA PRIVATE KEY-----"
	s.prompt("Please use the token " + token + " for the upload. peregrine")
	s.call("Bash", map[string]any{"command": "export X=" + token, "env": map[string]any{"password": "hV9#kQ2$wL5nRt8x"}, "note": strings.Repeat("pad ", 120) + token + " merlin"})
	s.result("line\n"+pem+"\n"+strings.Repeat("more output ", 30)+key+" hobby", true)
	x := open(t, Options{})
	update(t, x, s.source("p"))
	for _, q := range []string{token, "Zk3Vq8Lm2Xw9Rt5Yb7Nc4Hd6Jf1Gs0PaQeUi", key, "MIIEowIBAAKCAQEAx7Jd0aPq3sVbYfT9kLmNw2eRzUcXoHgIjKlMnOpQrStUvWxY"} {
		if r := search(t, x, Query{Text: q}); len(r.Hits) != 0 && len(r.Corrections) == 0 {
			t.Errorf("the secret is in the index: %q finds %q", q, r.Hits[0].Matched)
		}
	}
	secrets := []string{"Zk3Vq8Lm", "Q4ZN7XKD", "MIIEowIBAAKC"}
	for _, q := range []string{"peregrine", "bash", "hobby", "upload"} {
		r := search(t, x, Query{Text: q, SnippetBytes: recall.MaxSnippetBytes})
		if len(r.Hits) == 0 {
			t.Errorf("%s is not found", q)
			continue
		}
		for _, secret := range secrets {
			if strings.Contains(r.Hits[0].Snippet.Text, secret) {
				t.Errorf("%s shows %s", q, secret)
			}
		}
	}
	rows, err := x.db.Query("SELECT text FROM word")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var w string
		if err := rows.Scan(&w); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(strings.Join(append(secrets, token, key, pem), " ")), w) && len(w) > 8 {
			t.Errorf("%q is a word of the index", w)
		}
	}
}

func FuzzQuery(f *testing.F) {
	s := newSession(f, f.TempDir(), "s")
	s.prompt("alpha AND beta OR NOT gamma NEAR delta 登录超时 café 1.26.0 parseURL")
	s.answer(`quotes " ' and * ^ + - ( ) { } : columns terms`)
	x := open(f, Options{})
	update(f, x, s.source("p"))
	for _, q := range []string{
		`"`, `""`, `'`, `" OR "`, "AND", "NOT", "NEAR(alpha beta)", "terms:alpha", "al*", "^alpha", "-alpha", "(", "alpha)", "a\x00b", "\x00",
		"\xff\xfe", "登录", "登", "é", "1.26", "parse_url", "alpha; DROP TABLE term", "{alpha}", strings.Repeat("alpha ", 5000), strings.Repeat("x", 1<<16), "½ ﷺ ⑴ ㏂",
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		r, err := x.Search(context.Background(), Query{Text: q})
		if err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		for _, h := range r.Hits {
			if len(h.Matched) == 0 || !utf8.ValidString(h.Snippet.Text) {
				t.Errorf("%q: %+v", q, h)
			}
		}
	})
}

func FuzzExtract(f *testing.F) {
	for _, line := range []string{
		`{"type":"user","uuid":"u","message":{"content":"text"}}`,
		`{"message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","name":"n","input":{"a":["b",{"c":"d"}]}}]},"type":"assistant"}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"x"}],"is_error":true}]}}`,
		`{"type":"summary","summary":"s","leafUuid":"l"}`, `{"type":"user"`, `{"a":"\\\"","type":"user","message":{}}`, `{`, ``, `[1]`, `{"type":"user","message":[`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		_, entries, _ := extract(line, func(s string) string { return s })
		for _, e := range entries {
			if len(e.text) > MaxEntryBytes || e.text == "" || e.role >= numRoles {
				t.Errorf("%v %d bytes", e.role, len(e.text))
			}
		}
	})
}
