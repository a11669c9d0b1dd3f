package shown

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"mem/core/guard"
	"mem/core/project"
	"mem/core/rawjson"
	"mem/core/text"
)

const (
	// margin is how far beyond a cut a text is searched for secrets, so that a
	// cut never leaves a part of one that is not recognised; in bytes. The
	// longest, private keys, have 6,500.
	margin = 8 << 10
	// chunk is how much is searched in one go: below guard.DefaultMaxBytes.
	chunk = 1 << 20
	// minRepeat is how long a secret must be to be removed where nothing around it
	// gives it away, in bytes; as in the guard.
	minRepeat = 10
	// maxKnown bounds how many secrets are remembered.
	maxKnown = 2000
	// mark stands for a secret that is known from elsewhere: not longer than any
	// of them.
	mark = "[redacted]"
)

// Redactor removes secrets from the texts of one conversation. A secret that it
// has found once it removes from every later text too, so that one that is named
// with its key in one message does not show bare in the next. It is not safe for
// concurrent use.
type Redactor struct {
	scan  *guard.Scanner
	known map[string]bool
	list  []string // those long enough to be looked for, longest first
}

// NewRedactor returns a Redactor. With a nil scanner secrets stay.
func NewRedactor(scan *guard.Scanner) *Redactor {
	return &Redactor{scan: scan, known: map[string]bool{}}
}

// Known is how many different secrets were found so far.
func (r *Redactor) Known() int { return len(r.known) }

// Text gives a text without its secrets.
func (r *Redactor) Text(s string) string {
	if r.scan == nil || s == "" {
		return s
	}
	return r.apply(s, r.edits(s, len(s), len(s)), 0, len(s))
}

// Directory gives a directory without its secrets, which are then removed from paths of the
// client's folder for it, too: that is named after it, with other signs in the place of some.
func (r *Redactor) Directory(dir string) string {
	clean := r.Text(dir)
	if clean == dir {
		return dir
	}
	for _, f := range r.scan.Secrets([]byte(dir)) {
		if f.Kind == guard.KindSecret {
			r.learn(project.Slug(dir[f.Start:f.End]))
		}
	}
	r.learn(project.Slug(dir)) // where it is long, it ends within the secret
	return clean
}

// Shorten gives a text without its secrets that costs at most about most, and
// how many characters are gone: its beginning and its end are kept, with word of
// how much is missing between them.
func (r *Redactor) Shorten(s string, most int) (short string, gone int) {
	head, tail := cut(s, most)
	if head >= tail {
		return r.Text(s), 0
	}
	if r.scan == nil {
		gone = utf8.RuneCountInString(s[head:tail])
		return s[:head] + gap(gone) + s[tail:], gone
	}
	edits := r.edits(s, head, tail)
	for _, e := range edits { // a secret is not cut in two
		if e.Start < head && head < e.End {
			head = e.End
		}
		if e.Start < tail && tail < e.End {
			tail = e.Start
		}
	}
	if head >= tail {
		return r.apply(s, edits, 0, len(s)), 0
	}
	gone = utf8.RuneCountInString(s[head:tail])
	return r.apply(s, edits, 0, head) + gap(gone) + r.apply(s, edits, tail, len(s)), gone
}

// cut says where a text that costs more than most is cut: two thirds of what is
// kept are its beginning. Where it fits, head is not before tail.
func cut(s string, most int) (head, tail int) {
	if len(s) <= most/6 {
		return len(s), len(s)
	}
	const room = 60 // for the words in the gap
	front, back := (most-room)*2/3, (most-room)/3
	total := 0
	head, tail = -1, len(s)
	for i, c := range s {
		total += runeCost(c)
		if head < 0 && total > front {
			head = i
		}
		if total > most {
			for back > 0 && tail > 0 {
				c, n := utf8.DecodeLastRuneInString(s[:tail])
				if back -= runeCost(c); back >= 0 {
					tail -= n
				}
			}
			return max(head, 0), tail
		}
	}
	return len(s), len(s)
}

func runeCost(r rune) int {
	if r == utf8.RuneError {
		return 6 // as the longest that encoding makes of it
	}
	if r >= utf8.RuneSelf && r != '\u2028' && r != '\u2029' {
		return 4
	}
	return max(text.Weight(string(r)))
}

// edits finds the secrets in s, but for the part between head and tail, which is
// not shown.
func (r *Redactor) edits(s string, head, tail int) []text.Edit {
	var found []guard.Finding
	var from, to = 0, len(s)
	if tail-head > 2*margin {
		found = r.search(found, s, 0, head+margin)
		from, to = tail-margin, len(s)
		found = r.search(found, s, from, to)
	} else {
		found = r.search(found, s, from, to)
	}
	if len(found) == 0 {
		return nil
	}
	return guard.Redactions([]byte(s), found)
}

// search looks at s[from:to], in overlapping parts where it is long.
func (r *Redactor) search(found []guard.Finding, s string, from, to int) []guard.Finding {
	for at := from; at < to; at += chunk {
		start, end := max(from, at-margin), min(to, at+chunk+margin)
		part := s[start:end]
		for _, f := range r.scan.Secrets([]byte(part)) {
			if f.Kind == guard.KindSecret {
				r.learn(part[f.Start:f.End])
			}
			f.Start, f.End = f.Start+start, f.End+start
			found = append(found, f)
		}
		for _, k := range r.list {
			if i := strings.Index(part, k); i >= 0 {
				found = append(found, guard.Finding{Kind: guard.KindSecret, Rule: "secret", Start: start + i, End: start + i + len(k)})
			}
		}
	}
	return found
}

func (r *Redactor) learn(secret string) {
	if r.known[secret] || len(r.known) >= maxKnown {
		return
	}
	secret = strings.Clone(secret)
	r.known[secret] = true
	if len(secret) < minRepeat || strings.HasPrefix(secret, "[redacted") {
		return
	}
	i, _ := slices.BinarySearchFunc(r.list, secret, func(a, b string) int { return len(b) - len(a) })
	r.list = slices.Insert(r.list, i, secret)
}

// apply gives s[from:to] with the edits that begin in it.
func (r *Redactor) apply(s string, edits []text.Edit, from, to int) string {
	if len(edits) == 0 {
		return s[from:to]
	}
	var b strings.Builder
	at := from
	for _, e := range edits {
		if e.Start < at || e.Start >= to {
			continue
		}
		b.WriteString(s[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	if at < to {
		b.WriteString(s[at:to])
	}
	return b.String()
}

// Again removes what was found since a text was redacted. The text does not
// become longer.
func (r *Redactor) Again(s string) string {
	for _, k := range r.list {
		if strings.Contains(s, k) {
			s = strings.ReplaceAll(s, k, mark)
		}
	}
	return s
}

// JSON gives a JSON value with each string in it shortened to cost at most about
// most and without secrets, and how many characters are gone. Keys, numbers and
// order stay. raw must be valid.
func (r *Redactor) JSON(raw json.RawMessage, most int) (short json.RawMessage, gone int) {
	short = rewrite(raw, func(s string) string {
		s, n := r.Shorten(s, most)
		gone += n
		return s
	})
	if r.scan == nil {
		return short, gone
	}
	// A key may give away what its value alone does not.
	secrets := r.inside(short)
	if len(secrets) == 0 {
		return short, gone
	}
	short = rewrite(short, func(s string) string {
		for _, k := range secrets {
			s = strings.ReplaceAll(s, k, mark)
		}
		return s
	})
	if len(r.inside(short)) > 0 {
		return json.RawMessage(`{"redacted":"these arguments hold a secret"}`), gone
	}
	return short, gone
}

// inside lists the secrets in JSON taken as text.
func (r *Redactor) inside(raw []byte) []string {
	var out []string
	for at := 0; at < len(raw); at += chunk {
		part := raw[max(0, at-margin):min(len(raw), at+chunk+margin)]
		for _, f := range r.scan.Secrets(part) {
			secret := string(part[f.Start:f.End])
			if f.Kind == guard.KindSecret {
				var s string
				if json.Unmarshal([]byte(`"`+secret+`"`), &s) == nil {
					secret = s
				}
				r.learn(secret)
			}
			if secret != "" {
				out = append(out, secret)
			}
		}
	}
	return out
}

// AgainJSON is Again for the strings in a JSON value. Escapes that JSON does not
// ask for are undone.
func (r *Redactor) AgainJSON(raw json.RawMessage) json.RawMessage {
	return rewrite(raw, r.Again)
}

// rewrite passes each string of a JSON value, keys too, through f.
func rewrite(raw json.RawMessage, f func(string) string) json.RawMessage {
	var out bytes.Buffer
	out.Grow(min(len(raw), chunk))
	for i := 0; i < len(raw); {
		q := bytes.IndexByte(raw[i:], '"')
		if q < 0 {
			out.Write(raw[i:])
			break
		}
		out.Write(raw[i : i+q])
		i += q
		end := rawjson.String(raw, i)
		if end < 0 {
			end = len(raw)
		}
		var s string
		if json.Unmarshal(raw[i:end], &s) != nil {
			out.Write(raw[i:end])
		} else {
			out.Write(quote(f(s)))
		}
		i = end
	}
	return out.Bytes()
}

// quote encodes a string without escaping what only HTML minds.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return []byte(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Finds reports whether any of the texts holds a secret, and remembers those that
// do. It is Text without its result.
func (r *Redactor) Finds(texts []string) bool {
	if r.scan == nil {
		return false
	}
	found := false
	for _, s := range texts {
		found = len(r.search(nil, s, 0, len(s))) > 0 || found
	}
	return found
}

// Strings lists the strings in a JSON value, keys too.
func Strings(raw json.RawMessage) []string {
	var out []string
	rewrite(raw, func(s string) string {
		out = append(out, s)
		return ""
	})
	return out
}
