package rules

import (
	"sync"

	"mem/core/guard"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func secret() diagnostics.Rule {
	// The rules for secrets are loaded at the first scan. The scanner keeps what it
	// found in the parts of texts, so that a change costs the search of what changed.
	scanner := sync.OnceValues(func() (*guard.Scanner, error) { return guard.New(guard.Options{}) })
	return diagnostics.Rule{
		ID:       "secret",
		Severity: diagnostics.Error,
		Summary:  "A file holds what looks like a secret.",
		Safety:   true,
		Late:     true,
		Kinds:    diagnostics.AllKinds,
		Fixes:    []string{fixes.RedactSecret},
		Evidence: []diagnostics.Evidence{
			{Claim: "0.6 % of memory files hold strings that look like secrets", Source: "corpus of 4,039 files", Checked: "2026-11-30"},
			{Claim: "what a secret looks like is taken from the rules of gitleaks", Source: "gitleaks 8", Checked: "2026-11-30"},
		},
		File: func(p *diagnostics.Pass) {
			s, err := scanner()
			if err != nil {
				p.Fail(err)
				return
			}
			for _, f := range s.Secrets([]byte(p.Doc.Source())) {
				// The message is the guard's, which never tells the secret.
				finding := diagnostics.Finding{
					Span:        text.Span{Start: f.Start, End: f.End},
					Message:     withoutPlace(f.Reason),
					Fingerprint: f.Fingerprint,
				}
				if f.Kind == guard.KindSecret {
					finding.Offers = []diagnostics.Offer{{Fix: fixes.RedactSecret, Title: "Redact the secret, wherever it stands in this file", Arg: f.Rule}}
				} else {
					finding.Message = sentence(finding.Message)
				}
				p.Report(finding)
			}
		},
	}
}
