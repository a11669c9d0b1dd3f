package recall_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mem/core/recall"
)

// However an index came about, it answers like one that was built at once.
func TestUpdateEqualsBuild(t *testing.T) {
	vocab := strings.Fields("deploy deployed deployment cache caches parseURL parse_url v1.2.1 1.2 the of 本番 本番環境 番 café cafe servre server index.go core/index.go run running x")
	words := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocab), 0, 12).Draw(t, "words"), " ")
	})
	doc := rapid.Custom(func(t *rapid.T) recall.Doc {
		d := recall.Doc{
			ID:   rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "id"),
			Name: words.Draw(t, "name"), Description: words.Draw(t, "description"),
			Headings: words.Draw(t, "headings"), Body: words.Draw(t, "body"),
		}
		if rapid.Bool().Draw(t, "hashed") {
			d.Hash = fmt.Sprint(d)
		}
		return d
	})
	rapid.Check(t, func(t *rapid.T) {
		docs := map[string]recall.Doc{}
		var idx *recall.Index
		for range rapid.IntRange(1, 12).Draw(t, "updates") {
			for _, d := range rapid.SliceOfN(doc, 0, 3).Draw(t, "changed") {
				docs[d.ID] = d
			}
			for _, id := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 2).Draw(t, "gone") {
				delete(docs, id)
			}
			var list []recall.Doc
			for _, d := range docs {
				list = append(list, d)
			}
			before := idx
			answers := answersOf(before, vocab)
			idx = idx.Update(list)
			if diff := cmp.Diff(answers, answersOf(before, vocab)); diff != "" {
				t.Fatalf("the update changed the index before:\n%s", diff)
			}
			if diff := cmp.Diff(answersOf(recall.Build(list), vocab), answersOf(idx, vocab)); diff != "" {
				t.Fatalf("update differs from build:\n%s", diff)
			}
			if idx.Len() != len(docs) {
				t.Fatalf("Len = %d with %d documents", idx.Len(), len(docs))
			}
		}
	})
}

func answersOf(idx *recall.Index, queries []string) []recall.Result {
	var out []recall.Result
	for _, q := range append(queries, "deploying cache", "parseURL 1.2.1", "serveer", "cahce 本番", "runnning") {
		out = append(out, idx.Search(q, recall.Options{}))
	}
	return out
}

// The same with topics of real size, so that postings are shared and the dict
// forks, overflows and is rebuilt.
func TestUpdateEqualsBuildLarge(t *testing.T) {
	c := newCorpus(7)
	docs := c.docs(300)
	idx := recall.Build(docs)
	for round := range 25 {
		for i := range 40 {
			n := (round*31 + i*7) % len(docs)
			docs[n] = recall.Doc{
				ID: docs[n].ID, Hash: fmt.Sprint(round, i),
				Name: c.words(3), Body: fmt.Sprintf("%s unique%c%c%c", c.words(80), 'a'+round, 'a'+i%26, 'a'+i/26),
			}
		}
		docs = slices.Delete(docs, round, round+2)
		docs = append(docs, c.doc(1000+round))
		idx = idx.Update(docs)
	}
	queries := append([]string{"uniqueaaa", "uniqueyab", "uniquezzz"}, benchQueries...)
	if diff := cmp.Diff(answersOf(recall.Build(docs), queries), answersOf(idx, queries)); diff != "" {
		t.Errorf("update differs from build:\n%s", diff)
	}
}

func TestUpdateReuses(t *testing.T) {
	docs := []recall.Doc{
		{ID: "a", Hash: "1", Body: "cache"}, {ID: "b", Hash: "1", Body: "deploy"}, {ID: "c", Body: "server"},
	}
	idx := recall.Build(docs)
	if idx.Update(docs) != idx {
		t.Error("an update without change made a new index")
	}
	if !idx.Has("a", "1") || idx.Has("a", "2") || idx.Has("x", "1") || idx.Has("c", "") {
		t.Error("Has is wrong")
	}
	// The text of what is unchanged may be left out.
	idx = idx.Update([]recall.Doc{{ID: "a", Hash: "1"}, {ID: "b", Hash: "2", Body: "restore"}, {ID: "c", Body: "server"}})
	if got := ids(idx.Search("cache deploy restore server", recall.Options{})); got != "a b c" {
		t.Errorf("found %q", got)
	}
	if r := idx.Search("deploy", recall.Options{}); r.Total != 0 {
		t.Errorf("the old text of b is still found: %+v", r)
	}
	// Of two with one ID the later counts.
	idx = recall.Build([]recall.Doc{body("a", "first"), body("b", "x"), body("a", "second")})
	if got := ids(idx.Search("first second", recall.Options{})); idx.Len() != 2 || got != "a" || idx.Search("first", recall.Options{}).Total != 0 {
		t.Errorf("duplicate ID: %d documents, found %q", idx.Len(), got)
	}
	if idx = idx.Update(nil); idx.Len() != 0 || idx.Search("second", recall.Options{}).Total != 0 {
		t.Error("an update to nothing left something")
	}
}

func TestConcurrentUse(t *testing.T) {
	c := newCorpus(3)
	docs := c.docs(120)
	idx := recall.Build(docs)
	want := answersOf(idx, benchQueries)
	changed := make([][]recall.Doc, 4)
	for i := range changed {
		changed[i] = slices.Clone(docs)
		changed[i][i] = c.doc(i)
		changed[i][i].Body += " newword" + string(rune('a'+i))
	}
	var wg sync.WaitGroup
	for i := range changed {
		wg.Go(func() {
			// Updates of one index at once, each with words of its own.
			next := idx.Update(changed[i])
			if r := next.Search("newword"+string(rune('a'+i)), recall.Options{}); r.Total != 1 || r.Hits[0].ID != docs[i].ID {
				t.Errorf("update %d: %+v", i, r)
			}
		})
		wg.Go(func() {
			if diff := cmp.Diff(want, answersOf(idx, benchQueries)); diff != "" {
				t.Errorf("a search beside updates differs:\n%s", diff)
			}
		})
	}
	wg.Wait()
}

// What is longer than the caps is searched up to them, and Cuts says so.
func TestCaps(t *testing.T) {
	huge := "start " + strings.Repeat("filler. ", 2<<20) + "end"
	many := "start " + strings.Repeat("x ", recall.MaxBodyTerms)
	idx := recall.Build([]recall.Doc{
		{ID: "huge", Name: strings.Repeat("name ", 5000), Body: huge},
		{ID: "many", Body: many + "end"},
		{ID: "short", Body: "start end"},
	})
	if got := ids(idx.Search("end", recall.Options{})); got != "short" {
		t.Errorf("end found in %q", got)
	}
	if got := idx.Search("start", recall.Options{}).Total; got != 3 {
		t.Errorf("start found in %d", got)
	}
	var got []string
	for _, c := range idx.Cuts() {
		if c.Bytes > recall.MaxBodyBytes || c.Bytes < 10_000 {
			t.Errorf("%+v", c)
		}
		got = append(got, c.ID+" "+c.Field.String())
	}
	if diff := cmp.Diff([]string{"huge name", "huge body", "many body"}, got); diff != "" {
		t.Errorf("cuts (-want +got):\n%s", diff)
	}
	if s := idx.Search("start filler", recall.Options{}).Hits; s[0].Snippet.More != true {
		t.Errorf("the snippet does not say that there is more: %+v", s[0].Snippet)
	}
}

// Memory is that of what is indexed, not of everything that ever was.
func TestMemoryBounded(t *testing.T) {
	c := newCorpus(5)
	docs := c.docs(50)
	idx := recall.Build(docs)
	used := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := used()
	for round := range 150 {
		var b strings.Builder
		for i := range 500 {
			fmt.Fprintf(&b, "w%dx%d ", round, i)
		}
		docs[round%50] = recall.Doc{ID: docs[round%50].ID, Hash: fmt.Sprint(round), Body: b.String()}
		idx = idx.Update(docs)
	}
	// 150 × 500 distinct words went through; 50 × 500 are in.
	grown := used() - before
	t.Logf("grew by %d bytes", grown)
	if grown > 8<<20 {
		t.Errorf("grew by %d bytes", grown)
	}
	runtime.KeepAlive(idx)
}

func FuzzSearch(f *testing.F) {
	f.Add("We deploy on Friday, parseURL v1.2.1", "deploy parseurl", 40)
	f.Add("本番環境へデプロイ ｶﾞｲﾄﾞ\xff", "本番 ガイド", 7)
	f.Add("Cafe\u0301 ﬁx 배포", "cafe fixx 배", 0)
	f.Add(strings.Repeat("a_b ", 30), "ab b", 1)
	f.Fuzz(func(t *testing.T, text, query string, width int) {
		idx := recall.Build([]recall.Doc{
			{ID: "a", Name: query, Description: text, Body: text + " " + query + " " + text},
			{ID: "b", Headings: text, Body: text},
		})
		r := idx.Search(query, recall.Options{SnippetBytes: width})
		if (r.Total == 0) != (r.Reason != "") {
			t.Fatalf("total %d, reason %q", r.Total, r.Reason)
		}
		for _, c := range r.Corrections {
			if c.Word != query[c.Start:c.End] {
				t.Fatalf("%+v", c)
			}
		}
		for _, h := range r.Hits {
			s := h.Snippet
			fields := map[recall.Field]string{recall.Name: query, recall.Description: text, recall.Headings: text, recall.Body: text}
			if h.ID == "a" {
				fields[recall.Body] = text + " " + query + " " + text
			}
			source := fields[s.Field]
			if source[s.Start:s.Start+len(s.Text)] != s.Text {
				t.Fatalf("snippet %+v is not at its place", s)
			}
			boundary := map[int]bool{len(source): true}
			for i := range source {
				boundary[i] = true
			}
			if !boundary[s.Start] || !boundary[s.Start+len(s.Text)] {
				t.Fatalf("%+v is cut inside a rune", s)
			}
			end := 0
			for _, m := range s.Matches {
				if m.Start < end || m.End <= m.Start || m.End > len(s.Text) || !boundary[s.Start+m.Start] || !boundary[s.Start+m.End] {
					t.Fatalf("match %v of %+v", m, s)
				}
				end = m.End
			}
			if width >= 0 && len(s.Matches) == 0 {
				t.Fatalf("no match in %+v", s)
			}
			if len(h.Matched) == 0 {
				t.Fatalf("%s matched nowhere", h.ID)
			}
		}
	})
}
