package fixes

import (
	"strings"
	"testing"
)

func TestGuessType(t *testing.T) {
	for _, c := range []struct{ name, description, body, want string }{
		{"feedback_testing", "where the dashboards are", "https://example.org", "feedback"},
		{"user-role", "never push", "", "user"},
		{"Project Plan", "", "", "project"},
		{"reference", "", "", "reference"},
		{"testing", "Prefers table tests", "", "feedback"},
		{"commits", "Never commit without a ticket", "Always name it.", "feedback"},
		{"tabs", "", "Don't use spaces. Use tabs instead.", "feedback"},
		{"testing", "先跑测试", "不要跳过，必须全部通过。", "feedback"},
		{"anna", "The user is a data scientist", "She works as a lead.", "user"},
		{"anna", "用户是后端工程师", "十年经验。", "user"},
		{"bugs", "Where bugs are tracked", "https://linear.app/x", "reference"},
		{"oncall", "Grafana dashboard of the API", "", "reference"},
		{"oncall", "看板的链接", "https://example.org", "reference"},
		{"freeze", "Merge freeze until 2026-12-05 for the release", "", "project"},
		{"auth", "We decided on sessions", "The deadline is Friday.", "project"},
		{"auth", "决定用会话", "截止到周五。", "project"},
		{"", "", "", "project"},
		{"x", "\xff", "\xff\xfe", "project"},
		{"pets", "The goalkeeper is transported", "A roleplay of ports", "project"}, // parts of words say nothing
	} {
		if got := GuessType(c.name, c.description, c.body); got != c.want {
			t.Errorf("%q, %q, %q: %s, want %s", c.name, c.description, c.body, got, c.want)
		}
	}
	if got := GuessType("x", "", strings.Repeat("测", 2000)+" never always"); got != "project" {
		t.Errorf("what stands far below says %s", got)
	}
}

func TestTypeMeant(t *testing.T) {
	for unknown, want := range map[string]string{
		"semantic": "reference", "procedural": "feedback", "episodic": "project", "infra": "reference", "infrastructure": "reference",
		"User": "user", "USERS": "user", " user ": "user", "feeback": "feedback", "feedbak": "feedback", "feedbacks": "feedback", "projects": "project", "porject": "project",
		"proj": "project", "ref": "reference", "refs": "reference", "refrence": "reference", "referense": "reference", "usr": "", "uesr": "user",
		"preference": "feedback", "preferences": "feedback", "Decision": "project", "decisions": "project", "docs": "reference", "反馈": "feedback", "用户": "user",
		"user | feedback": "user", "[project, user]": "project", "": "", "x": "", "banana": "", "memory": "", "us": "", "product": "project", "used": "user", "s": "",
		strings.Repeat("user", 1000): "",
	} {
		if got := typeMeant(unknown); got != want {
			t.Errorf("%.40q: %q, want %q", unknown, got, want)
		}
	}
}

func TestTypeInPath(t *testing.T) {
	for p, want := range map[string]string{
		"feedback_testing.md": "feedback", "a/user-role.md": "user", "Project Plan.md": "project", "reference/hosts.md": "reference", "Feedback/x.md": "feedback",
		"users.md": "", "a/b.md": "", "user/project-x.md": "project", "user.md": "user",
	} {
		if got := typeInPath(p); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}
