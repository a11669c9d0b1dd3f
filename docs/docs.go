// Package docs holds the part of the documentation that programs show: the pages of
// the rules.
package docs

import "embed"

//go:embed rules/*.md
var pages embed.FS

// RulePage gives the page of a rule in Markdown, "" where there is none.
func RulePage(id string) string {
	b, err := pages.ReadFile("rules/" + id + ".md")
	if err != nil {
		return ""
	}
	return string(b)
}
