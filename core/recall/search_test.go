package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/core/recall"
)

func ids(r recall.Result) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

func body(id, text string) recall.Doc { return recall.Doc{ID: id, Body: text} }

func TestRanking(t *testing.T) {
	for _, tc := range []struct {
		name  string
		docs  []recall.Doc
		query string
		want  string
	}{
		{"name beats description beats headings beats body", []recall.Doc{
			{ID: "body", Name: "alpha", Description: "beta", Headings: "gamma", Body: "deploy"},
			{ID: "heading", Name: "alpha", Description: "beta", Headings: "deploy", Body: "gamma"},
			{ID: "description", Name: "alpha", Description: "deploy", Headings: "gamma", Body: "beta"},
			{ID: "name", Name: "deploy", Description: "beta", Headings: "gamma", Body: "alpha"},
		}, "deploy", "name description heading body"},
		{"the typed form beats other forms", []recall.Doc{
			body("a", "deploying"), body("b", "deploy"), body("c", "deployment"),
		}, "deploy", "b a c"},
		{"and so does a typed form that is not the stem", []recall.Doc{
			body("a", "deploy"), body("b", "deployed"),
		}, "deployed", "b a"},
		{"a form that no document has", []recall.Doc{
			body("a", "deployed"), body("b", "unrelated"),
		}, "deployments", "a"},
		{"more of the words beats fewer", []recall.Doc{
			body("a", "cache cache cache"), body("b", "cache invalidation"), body("c", "other"),
		}, "cache invalidation", "b a"},
		{"a rare word beats a common one", []recall.Doc{
			body("a", "common"), body("b", "common"), body("c", "rare"), body("d", "common"),
		}, "common rare", "c a b d"},
		{"a short text beats a long one", []recall.Doc{
			body("a", "cache "+strings.Repeat("filler words ", 50)), body("b", "cache filler"),
		}, "cache", "b a"},
		{"ties by ID", []recall.Doc{
			body("b", "cache"), body("c", "cache"), body("a", "cache"),
		}, "cache", "a b c"},

		{"identifier as a whole", []recall.Doc{
			body("parts", "parse the url"), body("whole", "parseURL it"), body("none", "url"),
		}, "parseURL", "whole parts none"},
		{"identifier in another spelling", []recall.Doc{
			body("camel", "call parseURL"), body("snake", "call parse_url"), body("flat", "call parseurl"), body("x", "call"),
		}, "parse-url", "camel snake flat"},
		{"identifier by a part", []recall.Doc{
			body("a", "see HTTPServer2"), body("b", "see foo_bar-baz"),
		}, "server", "a"},
		{"path by its file", []recall.Doc{
			body("a", "in core/recall/index.go"), body("b", "in core/store/apply.go"),
		}, "index.go", "a b"},
		{"version", []recall.Doc{
			body("a", "needs mcp-go v1.2.1"), body("b", "needs mcp-go v1.3.0"),
		}, "1.2.1", "a"},
		{"beginning of a version", []recall.Doc{
			body("a", "since Go 1.26.8"), body("b", "since Go 1.25.1"),
		}, "1.26", "a"},

		{"Chinese word", []recall.Doc{
			body("a", "本周五不部署生产环境"), body("b", "署名的部分"), body("c", "别的"),
		}, "部署", "a b"},
		{"one character", []recall.Doc{
			body("a", "猫の手も借りたい"), body("b", "犬"),
		}, "猫", "a"},
		{"Korean with a particle", []recall.Doc{
			body("a", "배포는 금요일에 하지 않는다"), body("b", "테스트를 먼저"),
		}, "배포", "a"},
		{"half-width Katakana", []recall.Doc{
			body("a", "ガイドライン"), body("b", "テスト"),
		}, "ｶﾞｲﾄﾞ", "a"},
		{"without diacritics", []recall.Doc{
			body("a", "le café déployé"), body("b", "la tarte"),
		}, "cafe deploye", "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := recall.Build(tc.docs).Search(tc.query, recall.Options{})
			if got := ids(r); got != tc.want {
				t.Errorf("Search(%q) = %s, want %s", tc.query, got, tc.want)
				for _, h := range r.Hits {
					t.Logf("%+v", h)
				}
			}
			if r.Total != len(r.Hits) {
				t.Errorf("Total = %d with %d hits", r.Total, len(r.Hits))
			}
		})
	}
}

func TestCorrections(t *testing.T) {
	idx := recall.Build([]recall.Doc{
		body("a", "deployment of the certificate"),
		body("b", "deploy the registry"),
		body("c", "kubernetes migration"),
		body("d", "parseURL port 8080 развертывание"),
	})
	for _, tc := range []struct {
		name, query string
		want        []recall.Correction
		hits        string
	}{
		{"swapped letters", "delpoy", []recall.Correction{{"delpoy", 0, 6, []string{"deploy"}, 1}}, "b a"},
		{"one missing", "deplyment", []recall.Correction{{"deplyment", 0, 9, []string{"deployment"}, 1}}, "a b"},
		{"one too many", "registtry", []recall.Correction{{"registtry", 0, 9, []string{"registry"}, 1}}, "b"},
		{"one wrong, the first", "tegistry", []recall.Correction{{"tegistry", 0, 8, []string{"registry"}, 1}}, "b"},
		{"two in a long word", "cretificat", []recall.Correction{{"cretificat", 0, 10, []string{"certificate"}, 2}}, "a"},
		{"swapped and wrong", "kubernteis", []recall.Correction{{"kubernteis", 0, 10, []string{"kubernetes"}, 2}}, "c"},
		{"two in a short word", "rgisty", nil, ""},
		{"three", "cretifcat", nil, ""},
		{"too short", "por", nil, ""},
		{"never numbers", "8081", nil, ""},
		{"never a word that is known", "migration registry", nil, "b c"},
		{"nor a form of one", "registries", nil, "b"},
		{"one of two words", "the registry migratoin", []recall.Correction{{"migratoin", 13, 22, []string{"migration"}, 1}}, "b c"},
		{"part of an identifier", "parsUrl", []recall.Correction{
			{"parsUrl", 0, 7, []string{"parseurl"}, 1}, {"pars", 0, 4, []string{"parse"}, 1}}, "d"},
		{"Cyrillic", "развертыванеи", []recall.Correction{{"развертыванеи", 0, 26, []string{"развертывание"}, 1}}, "d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := idx.Search(tc.query, recall.Options{})
			if diff := cmp.Diff(tc.want, r.Corrections); diff != "" {
				t.Errorf("corrections (-want +got):\n%s", diff)
			}
			if got := ids(r); got != tc.hits {
				t.Errorf("hits %q, want %q", got, tc.hits)
			}
		})
	}
}

// Several words may be meant: all are searched, each document counts the best.
func TestCorrectionToSeveral(t *testing.T) {
	idx := recall.Build([]recall.Doc{body("a", "mark park"), body("b", "bark park"), body("c", "work"), body("d", "park")})
	r := idx.Search("parl", recall.Options{})
	if got, want := fmt.Sprint(r.Corrections), "[{parl 0 4 [park] 1}]"; got != want {
		t.Errorf("corrections %s, want %s", got, want)
	}
	r = idx.Search("zark", recall.Options{})
	if got, want := fmt.Sprint(r.Corrections), "[{zark 0 4 [park bark mark] 1}]"; got != want {
		t.Errorf("corrections %s, want %s", got, want)
	}
	if got := ids(r); got != "a b d" {
		t.Errorf("hits %s", got)
	}
}

func TestNothingFound(t *testing.T) {
	idx := recall.Build([]recall.Doc{body("a", "deploy on friday")})
	for _, tc := range []struct {
		query  string
		filter func(string) bool
		reason string
	}{
		{"", nil, "the query is empty"},
		{" \n", nil, "the query is empty"},
		{"?! --", nil, "the query has no words"},
		{"the of The", nil, "the query has only stop words: the, of, The"},
		{"zebra crossing", nil, "no memory contains zebra, crossing"},
		{"the zebra", nil, "no memory contains zebra; not searched: the"},
		{"deploy", func(string) bool { return false }, "the filter excludes every match"},
	} {
		r := idx.Search(tc.query, recall.Options{Filter: tc.filter})
		if r.Reason != tc.reason || r.Total != 0 || len(r.Hits) != 0 {
			t.Errorf("Search(%q) = %+v, want reason %q", tc.query, r, tc.reason)
		}
	}
	if r := (*recall.Index)(nil).Search("deploy", recall.Options{}); r.Reason != "no memory contains deploy" {
		t.Errorf("nil index: %+v", r)
	}
	if r := idx.Search("friday zebra the", recall.Options{}); r.Reason != "" || fmt.Sprint(r.Unknown, r.Ignored) != "[zebra] [the]" {
		t.Errorf("with a hit: %+v", r)
	}
}

func TestLongQuery(t *testing.T) {
	idx := recall.Build([]recall.Doc{body("a", "word63"), body("b", "nothing")})
	var q strings.Builder
	for i := range 200 {
		fmt.Fprintf(&q, "w%c%c ", 'a'+i%26, 'a'+i/26)
	}
	r := idx.Search(q.String(), recall.Options{})
	if got := len(r.Ignored); got != 200-recall.MaxQueryTerms {
		t.Errorf("%d words ignored", got)
	}
}

func TestPaging(t *testing.T) {
	var docs []recall.Doc
	for i := range 50 {
		docs = append(docs, body(fmt.Sprintf("%02d", i), strings.Repeat("cache ", 1+i%7)+strings.Repeat("filler ", i%11)))
	}
	idx := recall.Build(docs)
	all := idx.Search("cache", recall.Options{Limit: recall.MaxLimit})
	if all.Total != 50 || len(all.Hits) != 50 {
		t.Fatalf("%d of %d", len(all.Hits), all.Total)
	}
	even := func(id string) bool { return id[1]%2 == 0 }
	var paged, filtered []string
	for offset := 0; offset < 60; offset += 7 {
		r := idx.Search("cache", recall.Options{Limit: 7, Offset: offset})
		if r.Total != 50 {
			t.Errorf("Total = %d", r.Total)
		}
		for _, h := range r.Hits {
			paged = append(paged, h.ID)
		}
		r = idx.Search("cache", recall.Options{Limit: 7, Offset: offset, Filter: even})
		if r.Total != 25 {
			t.Errorf("filtered Total = %d", r.Total)
		}
		for _, h := range r.Hits {
			filtered = append(filtered, h.ID)
		}
	}
	if diff := cmp.Diff(strings.Fields(ids(all)), paged); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	var want []string
	for _, id := range paged {
		if even(id) {
			want = append(want, id)
		}
	}
	if diff := cmp.Diff(want, filtered); diff != "" {
		t.Errorf("filtered pages (-want +got):\n%s", diff)
	}
	if r := idx.Search("cache", recall.Options{Offset: 1 << 40}); len(r.Hits) != 0 || r.Total != 50 {
		t.Errorf("far offset: %d hits of %d", len(r.Hits), r.Total)
	}
	if r := idx.Search("cache", recall.Options{Limit: -1, Offset: -1}); len(r.Hits) != recall.DefaultLimit {
		t.Errorf("negative limit and offset: %d hits", len(r.Hits))
	}
}
