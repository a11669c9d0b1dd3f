package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/core/recall"
)

// marked shows a snippet with its matches in brackets.
func marked(s recall.Snippet) string {
	var out strings.Builder
	at := 0
	for _, m := range s.Matches {
		out.WriteString(s.Text[at:m.Start] + "[" + s.Text[m.Start:m.End] + "]")
		at = m.End
	}
	return out.String() + s.Text[at:]
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("lorem ipsum dolor sit amet ", 40)
	for _, tc := range []struct {
		name  string
		doc   recall.Doc
		query string
		width int
		want  string // field, more, text
	}{
		{"short body", body("", "We deploy on Tuesday; deployments on Friday break."), "deploy", 0,
			"body false We [deploy] on Tuesday; [deployments] on Friday break."},
		{"the window with most words", body("", "cache here. "+filler+"the cache was stale after a restart. "+filler), "stale cache", 40,
			"body true amet the [cache] was [stale] after a"},
		{"far down a long body", body("", strings.Repeat(filler, 200)+"needle in it"), "needle", 30,
			"body false dolor sit amet [needle] in it"},
		{"identifier as one", body("", "call parseURL first"), "parseURL", 0, "body false call [parseURL] first"},
		{"a part of it", body("", "call parseURL first"), "url", 0, "body false call parse[URL] first"},
		{"pairs of characters as one", body("", "金曜日に本番環境へデプロイしない"), "本番環境", 0, "body false 金曜日に[本番環境]へデプロイしない"},
		{"cut between characters", body("", strings.Repeat("あいうえお", 30)+"本番"+strings.Repeat("かきくけこ", 30)), "本番", 20, "body true うえお[本番]か"},
		{"description matches best", recall.Doc{Name: "n", Description: "stale cache", Body: "cache"}, "stale cache", 0,
			"description false [stale] [cache]"},
		{"body before name when alike", recall.Doc{Name: "cache", Body: "about the cache"}, "cache", 0, "body false about the [cache]"},
		{"only the name", recall.Doc{Name: "cache rules", Body: "about it"}, "cache", 0, "name false [cache] rules"},
		{"the corrected word", body("", "the certificate expires"), "certifcate", 0, "body false the [certificate] expires"},
		{"inside an identifier longer than the snippet", body("", "x "+strings.Repeat("ab-", 20)+"end y"), "end", 10, "body false b-ab-[end] y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := recall.Build([]recall.Doc{tc.doc}).Search(tc.query, recall.Options{SnippetBytes: tc.width})
			if len(r.Hits) != 1 {
				t.Fatalf("%d hits", len(r.Hits))
			}
			s := r.Hits[0].Snippet
			if got := fmt.Sprint(s.Field, " ", s.More, " ", marked(s)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestNoSnippet(t *testing.T) {
	r := recall.Build([]recall.Doc{body("a", "cache")}).Search("cache", recall.Options{SnippetBytes: -1})
	if diff := cmp.Diff(recall.Snippet{}, r.Hits[0].Snippet); diff != "" {
		t.Error(diff)
	}
}

func TestMatchedFields(t *testing.T) {
	idx := recall.Build([]recall.Doc{{
		ID: "a", Name: "parseURL", Description: "URL parsing for 本番環境", Body: "certificates and caches",
	}})
	r := idx.Search("parseURL 本番 certifcate Cache the", recall.Options{})
	want := []recall.FieldMatch{
		{Field: recall.Name, Terms: []string{"parseURL"}},
		{Field: recall.Description, Terms: []string{"parse", "URL", "本番"}},
		{Field: recall.Body, Terms: []string{"Cache", "certificates"}},
	}
	if diff := cmp.Diff(want, r.Hits[0].Matched); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
