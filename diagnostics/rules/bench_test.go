package rules_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// textRules are the rules that read every byte of a file.
var textRules = []string{"body-empty", "body-structure", "relative-date", "instruction-overlap", "conflict-markers", "encoding", "hidden-character",
	"instruction-text", "unused-ignore", "unknown-ignore"}

var sentencesOfTopics = []string{
	"The importer reads one file at a time, since two of them in parallel exhaust the connections of the database.",
	"Do not mock the database in integration tests; run them against the container that `make up` starts.",
	"Alice owns the billing service and wants to see every change of `invoice.go` before it is merged.",
	"- **Retry:** three attempts with a pause of 200 ms, then the job goes to the dead letter queue",
	"- see [[deploy_rules]] and [the runbook](runbook.md) — it says what to do when the queue is full",
	"Keep the answer short, show the diff first, and say what was not tested.",
	"The flag `--strict` is off by default because old exports have rows without an owner.",
	"数据库的测试必须连接真实的数据库，不要使用模拟对象，因为模拟的测试通过了，而生产环境的迁移失败了。",
	"Releases are cut on Tuesdays — nobody is there on Friday night — and the tag is signed.",
	"## How the cache works",
	"1. The key is the hash of the request, without the headers that change",
	"It costs 14 ms on a cold start; the target is 10 ms, measured with `hyperfine` on the build machine.",
}

// topicText gives a topic of some 2.2 KB, as real ones are.
func topicText(r *rand.Rand, i int) string {
	var b strings.Builder
	kind := []string{"user", "feedback", "project", "reference"}[i%4]
	fmt.Fprintf(&b, "---\nname: topic-%d\ndescription: What was decided about part %d of the importer\nmetadata:\n  type: %s\n  originSessionId: 5b1c1f0e\n---\n", i, i, kind)
	for b.Len() < 2000 {
		b.WriteString(sentencesOfTopics[r.Intn(len(sentencesOfTopics))])
		b.WriteString([]string{"\n", "\n\n", " "}[r.Intn(3)])
	}
	b.WriteString("\n```sh\ngo test ./... && make lint\n```\n\n**Why:** It broke once.\n**How to apply:** In reviews.\n")
	return b.String()
}

// BenchmarkTextRules runs each rule of the text alone and all of them, over 1,000
// topics. "none" is what a check costs without a rule, which is part of the others.
func BenchmarkTextRules(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	files, size := fstest.MapFS{}, 0
	for i := range 1000 {
		src := topicText(r, i)
		files[fmt.Sprintf("t%04d.md", i)] = &fstest.MapFile{Data: []byte(src), Mode: 0o644, ModTime: diagtest.Now}
		size += len(src)
	}
	guide := &diagnostics.Guide{Path: "CLAUDE.md", Text: strings.Repeat("A rule of the project that no topic repeats, in so many words.\n\n", 50)}
	run := func(name string, ids []string, late bool) {
		b.Run(name, func(b *testing.B) {
			e := &diagnostics.Engine{Fixes: fixes.All(), Rules: slices.DeleteFunc(rules.All(), func(r diagnostics.Rule) bool { return !slices.Contains(ids, r.ID) })}
			v, err := memdir.Read(context.Background(), files, memdir.NewCache(), memdir.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			b.ResetTimer()
			for range b.N {
				s := diagnostics.NewSnapshot(v, nil, guide, memdir.Stamp{Now: diagtest.Now}, nil)
				if _, err := e.Check(context.Background(), s, diagnostics.Scope{Late: late}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("none", nil, false)
	for _, id := range textRules {
		run(id, []string{id}, false)
	}
	run("all", textRules, false)
	run("secret", []string{"secret"}, true)
}
