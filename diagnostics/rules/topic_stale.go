package rules

import (
	"fmt"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
)

func topicStale() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "topic-stale",
		Severity: diagnostics.Information,
		Summary:  "A project topic was not touched for a long time.",
		Evidence: []diagnostics.Evidence{
			{Claim: "the client writes the time into modified once its own tools touched a topic", Source: "observed", Client: "Claude Code 2.1.332", Checked: "2026-11-30"},
			{Claim: "what is true of a project changes within months; 90 days is a choice of ours", Source: "ours", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			days := p.Config.Limits.StaleDays
			if days <= 0 {
				return
			}
			const day = 24 * time.Hour
			before := p.Now().Add(-time.Duration(days) * day)
			for _, t := range p.View.Topics {
				if t.Meta.Type != "project" {
					continue
				}
				touched, stamped := parseModified(t.Meta.Modified)
				if !stamped {
					touched = t.ModTime
				}
				if touched.IsZero() || touched.After(before) {
					continue
				}
				reportStale(p, t, touched, stamped, int(p.Now().Sub(touched)/day))
			}
		},
	}
}

func reportStale(p *diagnostics.Pass, t *memdir.Topic, touched time.Time, stamped bool, days int) {
	source := "by the file's time, which a git checkout sets anew"
	if stamped {
		source = "by its key modified"
	}
	f := diagnostics.Finding{Path: t.Path, Message: fmt.Sprintf("This project topic was last touched %d days ago, on %s (%s). Check that it still holds; then bring it up to date or delete it.",
		days, touched.In(p.Now().Location()).Format(time.DateOnly), source)}
	d, err := p.Snapshot.Doc(t.Path)
	if err != nil {
		p.Report(f) // it vanished meanwhile, or cannot be read any more
		return
	}
	f.Text, f.Span = d.File.Text, d.FirstLine()
	if k := d.File.Key("modified"); stamped && k != nil {
		f.Span = k.Raw
	}
	p.Report(f)
}

// parseModified reads the time that a client wrote, or a person in its place.
func parseModified(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, false // as most are; each layout that does not fit costs an error
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
