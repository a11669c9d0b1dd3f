package settings

import (
	"strings"
	"testing"
	"time"

	"mem/core/project"
)

func TestCleanup(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name   string
		files  map[string]string
		want   time.Duration
		source string
		bad    int // problems
	}{
		{"default", nil, 30 * day, "default", 0},
		{"user", map[string]string{"home/.claude/settings.json": `{"cleanupPeriodDays": 90}`}, 90 * day, "user", 0},
		{"the project's comes before the user's", map[string]string{
			"home/.claude/settings.json": `{"cleanupPeriodDays": 90}`, "p/.claude/settings.json": `{"cleanupPeriodDays": 7}`}, 7 * day, "project", 0},
		{"policy comes first", map[string]string{
			"managed.json": `{"cleanupPeriodDays": 365}`, "p/.claude/settings.local.json": `{"cleanupPeriodDays": 7}`}, 365 * day, "policy", 0},
		{"none are kept", map[string]string{"home/.claude/settings.json": `{"cleanupPeriodDays": 0}`}, 0, "user", 0},
		{"half a day", map[string]string{"home/.claude/settings.json": `{"cleanupPeriodDays": 0.5}`}, day / 2, "user", 0},
		{"for ever", map[string]string{"home/.claude/settings.json": `{"cleanupPeriodDays": 1e300}`}, 36500 * day, "user", 0},
		{"negative", map[string]string{"home/.claude/settings.json": `{"cleanupPeriodDays": -1}`}, 30 * day, "default", 1},
		{"a text", map[string]string{"home/.claude/settings.json": `{"cleanupPeriodDays": "7"}`}, 30 * day, "default", 1},
		{"null", map[string]string{"home/.claude/settings.json": `{"cleanupPeriodDays": null}`}, 30 * day, "default", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, nil, c.files)
			p, err := project.Find(s.env.Cwd, s.env.ProjectOptions())
			if err != nil {
				t.Fatal(err)
			}
			client := LoadClient(s.env, p)
			got, source := client.Cleanup()
			if got != c.want || !strings.Contains(source, c.source) {
				t.Errorf("got %v from %q, want %v from %s", got, source, c.want, c.source)
			}
			if len(client.Problems) != c.bad {
				t.Errorf("problems: %v", client.Problems)
			}
		})
	}
}
