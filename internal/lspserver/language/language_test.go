package language_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/internal/lspserver/language"
)

var update = flag.Bool("update", false, "write what is said into the cases")

// mark shows in a case where the cursor stands. It is taken out before the memory
// is read; a case has one or more, in any of its files.
const mark = "‸"

// place is one cursor.
type place struct {
	path   string
	offset int
}

// ask gives what a method says of a place, as "want" has it.
var ask = map[string]func(*session, *diagnostics.Doc, int) string{
	"hover":      (*session).hover,
	"complete":   (*session).complete,
	"definition": (*session).definition,
	"references": (*session).references,
	"links":      (*session).links,
	"symbols":    (*session).symbols,
}

// askConfig is ask for places in a .mem.yaml.
var askConfig = map[string]func(*session, *text.Text, int) string{
	"hover":    (*session).hoverConfig,
	"complete": (*session).completeConfig,
}

// TestPlaces runs testdata/<method>/*.txtar: memory directories as package diagtest
// reads them, with what the method says at each mark.
func TestPlaces(t *testing.T) {
	for method := range ask {
		cases, err := filepath.Glob(filepath.Join("testdata", method, "*.txtar"))
		if err != nil || len(cases) == 0 {
			t.Fatalf("%s has no case (%v)", method, err)
		}
		for _, file := range cases {
			t.Run(method+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, method, file) })
		}
	}
}

func runCase(t *testing.T, method, file string) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, places := open(t, src)
	if len(places) == 0 {
		t.Fatalf("no place is marked with %s", mark)
	}
	var b strings.Builder
	for _, p := range places {
		tx := text.New(s.c.Config)
		said := func() string { return askConfig[method](s, tx, p.offset) }
		if p.path != diagnostics.ConfigName {
			d, err := s.Doc(p.path)
			if err != nil {
				t.Fatal(err)
			}
			tx, said = d.File.Text, func() string { return ask[method](s, d, p.offset) }
		}
		at := tx.Position(p.offset, s.c.Encoding)
		if back, err := tx.Offset(at, s.c.Encoding); err != nil || back != p.offset {
			t.Fatalf("%s: offset %d is %+v, and that is %d (%v)", p.path, p.offset, at, back, err)
		}
		fmt.Fprintf(&b, "== %s:%d:%d\n%s", p.path, at.Line+1, at.Character+1, said())
	}
	got := b.String()
	if !*update {
		if diff := cmp.Diff(s.c.Want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return
	}
	a := txtar.Parse(src)
	if n := len(a.Files); n == 0 || a.Files[n-1].Name != "want" {
		a.Files = append(a.Files, txtar.File{Name: "want"})
	}
	a.Files[len(a.Files)-1].Data = []byte(got)
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// session is the memory of a case.
type session struct {
	*diagnostics.Snapshot
	c *diagtest.Case
}

func open(t testing.TB, src []byte) (*session, []place) {
	c := diagtest.Parse(t, src)
	var places []place
	unmarked := func(p, data string) string {
		for {
			i := strings.Index(data, mark)
			if i < 0 {
				return data
			}
			data = data[:i] + data[i+len(mark):]
			places = append(places, place{p, i})
		}
	}
	for _, f := range txtar.Parse(src).Files { // in the order of the case
		if file := c.Files[f.Name]; file != nil {
			file.Data = []byte(unmarked(f.Name, string(file.Data)))
		} else if f.Name == diagnostics.ConfigName {
			c.Config = unmarked(f.Name, c.Config)
		}
	}
	return &session{c.Snapshot(t, c.Engine(nil, nil), c.Files), c}, places
}

// span prints a span, and the text in it.
func (s *session) span(t *text.Text, at text.Span) string {
	from, to := t.Position(at.Start, s.c.Encoding), t.Position(at.End, s.c.Encoding)
	return fmt.Sprintf("%d:%d-%d:%d %q", from.Line+1, from.Character+1, to.Line+1, to.Character+1, t.Slice(at))
}

func (s *session) hover(d *diagnostics.Doc, offset int) string {
	tip, ok := language.Hover(s.Snapshot, d, offset)
	return s.tip(d.File.Text, tip, ok)
}

func (s *session) hoverConfig(t *text.Text, offset int) string {
	tip, ok := language.ConfigHover(t, offset)
	return s.tip(t, tip, ok)
}

func (s *session) tip(t *text.Text, tip language.Tip, ok bool) string {
	if !ok {
		return "nothing\n"
	}
	return s.span(t, tip.Span) + "\n" + indented(tip.Markdown)
}

func (s *session) complete(d *diagnostics.Doc, offset int) string {
	items, incomplete := language.Complete(s.Snapshot, d, offset)
	return s.items(d.File.Text, items, incomplete)
}

func (s *session) completeConfig(t *text.Text, offset int) string {
	return s.items(t, language.ConfigComplete(t, offset), false)
}

func (s *session) items(t *text.Text, items []language.Item, incomplete bool) string {
	if len(items) == 0 {
		return "nothing\n"
	}
	var b strings.Builder
	for i, it := range items {
		if i == 0 || it.Replace != items[i-1].Replace {
			fmt.Fprintf(&b, "replace %s\n", s.span(t, it.Replace))
		}
		fmt.Fprintf(&b, "    %s", it.Label)
		if it.Filter != it.Label {
			fmt.Fprintf(&b, " by %s", it.Filter)
		}
		for _, more := range []string{it.Detail, it.Documentation} {
			if more != "" {
				fmt.Fprintf(&b, " | %s", more)
			}
		}
		after, ok := text.Apply(t.String(), []text.Edit{{Span: it.Replace, New: it.Insert}})
		if !ok {
			return "an edit outside the text\n"
		}
		whole := text.New(after)
		line := whole.Line(whole.LineAt(it.Replace.Start + len(it.Insert)))
		line.Start = whole.Line(whole.LineAt(it.Replace.Start)).Start
		fmt.Fprintf(&b, " => %q\n", strings.TrimPrefix(whole.Slice(line), text.BOM))
	}
	if incomplete {
		b.WriteString("incomplete\n")
	}
	return b.String()
}

func (s *session) definition(d *diagnostics.Doc, offset int) string {
	to, from := language.Definition(s.Snapshot, d, offset)
	if len(to) == 0 {
		return "nothing\n"
	}
	return "from " + s.span(d.File.Text, from) + "\n" + s.locations(to)
}

func (s *session) references(d *diagnostics.Doc, offset int) string {
	all := language.References(s.Snapshot, d, offset, true)
	if without := language.References(s.Snapshot, d, offset, false); len(all) > 0 && len(without) >= len(all) {
		return "the declaration is there unasked\n"
	}
	if len(all) == 0 {
		return "nothing\n"
	}
	return s.locations(all)
}

func (s *session) locations(all []language.Location) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "    %s:%s\n", l.Path, s.span(l.Text, l.Span))
	}
	return b.String()
}

func (s *session) links(d *diagnostics.Doc, _ int) string {
	var b strings.Builder
	for _, l := range language.DocumentLinks(s.Snapshot, d) {
		to := l.Path + l.URL
		if l.Anchor != "" {
			to += " at " + l.Anchor
		}
		fmt.Fprintf(&b, "%s => %s\n", s.span(d.File.Text, l.Span), to)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func (s *session) symbols(d *diagnostics.Doc, _ int) string {
	if all := language.Symbols(d); len(all) > 0 {
		return s.tree(d, all, "")
	}
	return "nothing\n"
}

func (s *session) tree(d *diagnostics.Doc, all []language.Symbol, indent string) string {
	var b strings.Builder
	for _, sym := range all {
		detail := ""
		if sym.Detail != "" {
			detail = " | " + sym.Detail
		}
		at := s.span(d.File.Text, sym.Span)
		at, _, _ = strings.Cut(at, " ")
		kind := [...]string{"section", "entry", "key"}[sym.Kind]
		fmt.Fprintf(&b, "%s%s %s%s %s select %s\n%s", indent, kind, sym.Name, detail, at, s.span(d.File.Text, sym.Selection), s.tree(d, sym.Children, indent+"    "))
	}
	return b.String()
}

func indented(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ") + "\n"
}
