package change

import "strings"

// tight gives the pairs of units that follow each other in a version with no blank line in
// between.
func tight(versions ...[]identified) map[[2]string]bool {
	pairs := map[[2]string]bool{}
	for _, us := range versions {
		for i := 1; i < len(us); i++ {
			if endsWithOne(us[i-1].text) {
				pairs[[2]string{us[i-1].id, us[i].id}] = true
			}
		}
	}
	return pairs
}

// endsWithOne tells whether a text ends with one line break: no blank line is at its end.
func endsWithOne(s string) bool {
	end := s[len(trimEnd(s)):]
	return end == "\n" || end == "\r\n"
}

// join puts units together. One that lost its newline, because it ended the
// file on its side, gets one when something follows; a section gets a blank line before it
// unless some version has the two tight together: one that ended the file on its side, or
// the marks of a conflict, end with none.
func join(us []identified, tight map[[2]string]bool) string {
	var b strings.Builder
	eol := "\n"
	for _, u := range us {
		if strings.HasSuffix(u.text, "\r\n") {
			eol = "\r\n"
			break
		}
	}
	for i, u := range us {
		b.WriteString(u.text)
		if i+1 == len(us) || u.text == "" || u.text == "\ufeff" {
			continue
		}
		if !strings.HasSuffix(u.text, "\n") {
			b.WriteString(eol)
		}
		section := strings.HasPrefix(us[i+1].key, "s:") && us[i+1].key != "s:"
		if section && !tight[[2]string{u.id, us[i+1].id}] && (endsWithOne(u.text) || !strings.HasSuffix(u.text, "\n")) {
			b.WriteString(eol)
		}
	}
	return b.String()
}
