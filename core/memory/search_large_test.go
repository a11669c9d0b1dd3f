package memory

import (
	"context"
	"strings"
	"testing"
	"time"

	"mem/core/recall"
)

// TestReadsDoNotWaitForASearch: a search that reads what changed takes a while.
func TestReadsDoNotWaitForASearch(t *testing.T) {
	w := newWorld(t)
	w.put("a.md", "---\nname: a\ndescription: d\ntype: user\n---\n\na\n")
	m := w.open()
	m.indexing.Lock() // as a search does while it reads
	defer m.indexing.Unlock()
	done := make(chan error, 1)
	go func() {
		_, err := m.List(context.Background(), ListOptions{})
		if err == nil {
			_, err = m.Read(context.Background(), "a", "")
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a list waits for a search")
	}
}

func TestLargeTopicsAreSearchedInPart(t *testing.T) {
	w := newWorld(t)
	head := "---\nname: big\ndescription: d\ntype: user\n---\n\n# The zebra heading\n\n```\n# not a yak heading\n```\n\n### Third ###\n\n"
	w.put("big.md", head+strings.Repeat("* a\n", 1_500_000)+"walrus\n")
	m := w.open()
	b := must(m.store.Load("big.md"))(t)
	if got := headings(b.File); got != "The zebra heading\nThird" {
		t.Errorf("headings = %q", got)
	}
	if n := len(searched(b.File.BodyText())); n > recall.MaxBodyBytes {
		t.Errorf("%d bytes are searched", n)
	}
	if f := must(m.Search(t.Context(), SearchOptions{Query: "zebra"}))(t); f.Total != 1 || f.Hits[0].Matched[0].Field != "headings" {
		t.Errorf("found = %+v", f)
	}
	if f := must(m.Search(t.Context(), SearchOptions{Query: "walrus"}))(t); f.Total != 0 {
		t.Errorf("found = %+v", f)
	}
}
