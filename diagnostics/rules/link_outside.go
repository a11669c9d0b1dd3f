package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"

	"mem/core/memfile"
	"mem/diagnostics"
)

func linkOutside() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "link-outside",
		Severity: diagnostics.Error,
		Summary:  "A link leads out of the memory directory.",
		Safety:   true,
		Kinds:    diagnostics.AllKinds,
		Evidence: []diagnostics.Evidence{
			{Claim: "targets such as ../x.md occur in real indexes", Source: "corpus", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			for _, l := range p.Doc.Links() {
				raw := p.Doc.File.Text.Slice(l.Dest)
				if !leadsOut(p.Doc.Path, l, raw) {
					continue
				}
				shown := l.Target
				if strings.Contains(raw, `\`) {
					shown = raw // what is left of it in Markdown tells nobody where it leads on Windows
				}
				sum := sha256.Sum256([]byte(l.Target))
				fingerprint := hex.EncodeToString(sum[:])
				p.Report(diagnostics.Finding{
					Span:        l.Dest,
					Fingerprint: fingerprint,
					Message: fmt.Sprintf("The link leads out of the memory directory, to %s. Link a file in it, or write the path as code. "+
						"To allow it, add %s to guard.allow in your own configuration.", shownName(shown), fingerprint),
				})
			}
		},
	}
}

// leadsOut reports whether a link in the file at from leads out of the memory
// directory as any reader may take it: Markdown's or a system's, on any system, and
// one that decodes more than once. raw is the destination as written.
func leadsOut(from string, l memfile.Link, raw string) bool {
	if l.Wiki {
		return false // a name, which nobody opens as a path
	}
	raw, _, _ = strings.Cut(raw, "#")
	target := l.Path()
	if target == "" { // decoded, and no relative path
		target = l.Target
		if !strings.Contains(raw, "%") {
			target, _, _ = strings.Cut(target, "#")
		}
		if absolute(target) {
			return true
		}
		if hasScheme(target) {
			return false
		}
	}
	dir := path.Dir(from)
	// Markdown takes a backslash before punctuation for an escape, Windows for a
	// separator: "..\.x" leads out there.
	if strings.Contains(raw, `\`) && leavesBy(path.Join(dir, strings.ReplaceAll(raw, `\`, "/"))) {
		return true
	}
	const most = 3 // readers decode once; a server on the way may do so again
	for range most {
		slashed := strings.ReplaceAll(target, `\`, "/")
		if absolute(slashed) || leavesBy(path.Join(dir, slashed)) {
			return true
		}
		plain, err := url.PathUnescape(target)
		if err != nil || plain == target {
			return false
		}
		target = plain
	}
	return false
}

// absolute reports whether a destination starts at a root: of a file system, a
// drive, a share, or somebody's home. "~x.md" is a file's name.
func absolute(dest string) bool {
	d := strings.ReplaceAll(strings.TrimSpace(dest), `\`, "/")
	switch {
	case d == "":
		return false
	case d[0] == '/', d == "~":
		return true
	case d[0] == '~':
		return strings.Contains(d, "/")
	case len(d) > 1 && d[1] == ':' && letter(d[0]):
		return true
	}
	return len(d) >= len("file:") && strings.EqualFold(d[:len("file:")], "file:")
}

// hasScheme reports whether a destination is a URL.
func hasScheme(dest string) bool {
	scheme, _, ok := strings.Cut(dest, ":")
	if !ok || scheme == "" || !letter(scheme[0]) {
		return false
	}
	for i := range len(scheme) {
		if c := scheme[i]; !letter(c) && !('0' <= c && c <= '9') && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
