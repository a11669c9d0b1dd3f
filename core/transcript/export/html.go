package export

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"strconv"
	"strings"
	"time"

	"mem/core/transcript/shown"
)

//go:embed style.css
var style string

// policy lets a page have its own style sheet and the images that are in it, and
// nothing else: no script, no request, no form, no frame.
func policy() string {
	h := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

// page writes the conversation as HTML.
type page struct {
	w      *bufio.Writer
	prefix string // of the ids of turns: one for each subagent
	open   bool   // a section
	last   string // who spoke last in it
}

func (p *page) put(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s) // the error shows at Flush
	}
}

func esc(s string) string { return html.EscapeString(shown.Plain(s)) }

func (p *page) begin(h head) {
	title := esc(h.title)
	p.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta http-equiv=\"Content-Security-Policy\" content=\"", policy(), "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n",
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>", title, "</title>\n<style>", style, "</style>\n</head>\n<body>\n<header>\n<h1>", title, "</h1>\n<dl>\n")
	for _, f := range h.facts {
		p.put("<div><dt>", esc(f[0]), "</dt><dd>", esc(f[1]), "</dd></div>\n")
	}
	p.put("</dl>\n")
	if len(h.turns) > 1 || len(h.agents) > 0 {
		p.put("<details class=\"contents\"><summary>Contents</summary>\n<nav aria-label=\"Contents\"><ol>\n")
		for _, t := range h.turns {
			n := strconv.Itoa(t.number)
			p.put("<li value=\"", n, "\"><a href=\"#turn-", n, "\">", esc(orDash(t.text)), "</a></li>\n")
		}
		p.put("</ol>\n")
		if h.more > 0 {
			p.put("<p>and ", shown.Count(h.more, "more turn", "more turns"), "</p>\n")
		}
		if len(h.agents) > 0 {
			p.put("<ul>\n")
			for i, a := range h.agents {
				p.put("<li><a href=\"#agent-", strconv.Itoa(i+1), "\">Subagent: ", esc(orDash(a)), "</a></li>\n")
			}
			p.put("</ul>\n")
		}
		p.put("</nav></details>\n")
	}
	p.put("</header>\n<main>\n")
}

func orDash(s string) string {
	if strings.TrimSpace(s) == "" {
		return "–"
	}
	return s
}

func (p *page) shut() {
	if p.open {
		p.put("</section>\n")
	}
	p.open, p.last = false, ""
}

func (p *page) section() {
	if !p.open {
		p.put("<section>\n")
		p.open = true
	}
}

func (p *page) turn(n int, at time.Time) {
	p.shut()
	id := p.prefix + "turn-" + strconv.Itoa(n)
	p.put("<section id=\"", id, "\">\n<h2><a href=\"#", id, "\">Turn ", shown.Number(n), "</a>", stamp(at, "2006-01-02 15:04 UTC"), "</h2>\n")
	p.open = true
}

func stamp(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	return " <time datetime=\"" + t.Format(time.RFC3339) + "\">" + t.Format(layout) + "</time>"
}

func (p *page) gap(words string) {
	p.shut()
	p.put("<p class=\"gap\" role=\"note\">", esc(shown.Line(words, 400)), "</p>\n")
}

func (p *page) subagent(n int, id, title string) {
	p.shut()
	i := strconv.Itoa(n)
	p.prefix = "agent-" + i + "-"
	if title == "" {
		title = id
	}
	p.put("<h2 class=\"agent\" id=\"agent-", i, "\">Subagent: ", esc(orDash(title)), "</h2>\n<p class=\"id\">", esc(id), "</p>\n")
}

// classes give each kind its look.
var classes = map[kind]string{
	user: "user", client: "client", assistant: "assistant", thinking: "assistant", tool: "assistant", orphan: "client",
	attachment: "client", notice: "client", summary: "summary", failure: "failure", unread: "failure",
}

func (p *page) item(it *item) {
	p.section()
	if who := speaker(it.kind); who != p.last {
		p.put("<h3 class=\"", classes[it.kind], "\">", esc(who), stamp(it.at, "15:04"))
		if it.model != "" && classes[it.kind] == "assistant" {
			p.put(" <span>", esc(it.model), "</span>")
		}
		p.put("</h3>\n")
		p.last = who
	}
	switch it.kind {
	case unread:
		p.put("<p>The record of line ", shown.Number(it.line), " cannot be read.</p>\n")
	case thinking:
		p.put("<details class=\"thinking\"><summary>Thinking</summary>\n")
		p.said(it)
		p.put("</details>\n")
	case attachment, notice:
		p.put("<details><summary>", esc(orDash(it.name)), "</summary>\n")
		p.pre(it.text)
		p.put("</details>\n")
	case tool, orphan:
		class := "tool"
		if it.failed {
			class = "tool failed"
		}
		p.put("<details class=\"", class, "\"><summary>", summaryOf(it), "</summary>\n")
		p.pre(it.input)
		for i := range it.results {
			if r := &it.results[i]; r.image != nil {
				p.said(r)
			} else {
				p.pre(r.text)
			}
		}
		p.put("</details>\n")
	default:
		p.put("<div class=\"said ", classes[it.kind], "\">\n")
		p.said(it)
		p.put("</div>\n")
	}
}

func (p *page) pre(s string) {
	if s != "" {
		p.put("<pre>\n", esc(s), "</pre>\n") // the first line end is not part of it
	}
}

// said writes a text, with the fenced code in it set apart.
func (p *page) said(it *item) {
	if it.image != nil {
		p.put("<img alt=\"An image in the conversation\" src=\"data:", it.image.media, ";base64,", esc(it.image.data), "\">\n")
		return
	}
	var plain, code strings.Builder
	fence := ""
	flush := func() {
		if s := strings.Trim(plain.String(), "\n"); s != "" {
			p.put("<p>", esc(s), "</p>\n")
		}
		plain.Reset()
	}
	for line := range strings.Lines(shown.Plain(it.text)) {
		t := strings.TrimLeft(line, " ")
		mark := t[:len(t)-len(strings.TrimLeft(t, "`"))]
		switch {
		case fence == "" && len(mark) >= 3 && !strings.Contains(t[len(mark):], "`"):
			flush()
			fence = mark
		case fence != "" && len(mark) >= len(fence) && strings.TrimSpace(t[len(mark):]) == "":
			p.pre(code.String())
			code.Reset()
			fence = ""
		case fence != "":
			code.WriteString(line)
		default:
			plain.WriteString(line)
		}
	}
	flush()
	p.pre(code.String())
}

func (p *page) end(r *Result) {
	p.shut()
	p.put("</main>\n<footer>\n<h2>About this export</h2>\n<ul>\n")
	for _, s := range closing(r) {
		p.put("<li>", esc(shown.Line(s, 2000)), "</li>\n")
	}
	p.put("</ul>\n</footer>\n</body>\n</html>\n")
}
