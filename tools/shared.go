package tools

import (
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/store"
)

// What several tools have in common: properties of their schemas, and how
// parts of their results read in words.

const storeName = "store"

func storeArg() property {
	return opt(storeName, str("Which memory: auto (the project's), agent/<name>/project, …/local, …/user, or extra/<name> (only read); see memory_stores."))
}

func typeArg(doc string) raw { return choice(doc, "user", "feedback", "project", "reference") }

func notice() schema {
	return schema{
		opt("vanished", list("Acknowledged memories that another program's write made vanish; memory_undo with the id puts one back.", schema{
			req("id", str("")), req("path", str("")), req("entry", str("Its line in the index.")), req("topic", boolean("Whether the file is gone too.")),
		}.nested(""))).tell(parts("array", "Memories that another program's write removed: id (memory_undo puts it back), path, entry, topic (the file is gone too).")),
		opt("notes", list("What else you must know.", str(""))).tell(parts("array", "What else you must know.")),
	}
}

func fill(doc string) raw {
	return schema{
		req("lines", integer("")), req("maxLines", integer("")),
		req("size", integer("")), req("maxSize", integer("")),
		req("unit", str("What size counts.")),
		req("percent", integer("Of the limit that is nearer.")),
		opt("firstDroppedLine", integer("First line that readers do not load.")),
		opt("droppedLines", integer("")),
		opt("warning", str("")),
	}.nested(doc)
}

// parts is what is told of an array or object whose parts the words name.
func parts(kind, doc string) raw { return typed(kind, doc) }

func fillParts(of string) raw {
	return parts("object", of+": lines of maxLines, size of maxSize in unit, percent of the nearer limit, firstDroppedLine and droppedLines that readers do not load, warning.")
}

func changed() schema {
	return schema{
		req("change", str("Id for memory_undo; empty when nothing changed.")),
		req("directory", str("Where the paths lie.")),
		req("files", list("What happened to each file.", schema{
			req("path", str("")),
			req("action", choice("", "created", "updated", "deleted", "appended", "unchanged")),
			opt("hash", str("Of the new text.")),
			opt("merged", boolean("With what somebody else wrote meanwhile.")),
		}.nested(""))).tell(parts("array", "Each: path, action (created, updated, deleted, appended, unchanged), hash, merged (with another's write).")),
		opt("moreFiles", integer("Changed as well, not listed.")),
		req("index", fill("How full the index is now.")).tell(fillParts("The index now")),
		opt("guard", list("What the guard saw in the text and let pass.", schema{
			req("rule", str("")), req("line", integer("")), req("reason", str("")), opt("fingerprint", str("")),
		}.nested(""))).tell(parts("array", "What the guard let pass: rule, line, reason, fingerprint.")),
	}.with(notice()...)
}

// words puts a result into lines, leaving out empty ones.
func words(lines ...string) string {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	var b strings.Builder
	b.Grow(n)
	for _, l := range lines {
		if l != "" {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// counted gives a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// brief puts a description on one line of bounded length; the structured part
// has all of it.
func brief(s string) string { return memdir.Shown(s, 200) }

func noticeWords(n memory.Notice) string {
	var lines []string
	for _, l := range n.Vanished {
		lines = append(lines, "VANISHED: "+memory.LossWords(l))
	}
	for _, s := range n.Notes {
		lines = append(lines, "Note: "+memdir.Shown(s, 800))
	}
	return words(lines...)
}

func fillWords(f memdir.Fill) string {
	return words(fmt.Sprintf("Index: %d of %d lines, %d of %d %s (%d %%).", f.Lines, f.MaxLines, f.Size, f.MaxSize, f.Unit, f.Percent), f.Warning)
}

func changeWords(c memory.Change) string {
	if c.ID == "" {
		return words("Nothing changed.", fillWords(c.Index), noticeWords(c.Notice))
	}
	var found []string
	for _, f := range c.Guarded {
		found = append(found, "Found: "+f.Reason)
	}
	return words("Change "+c.ID+" (memory_undo takes it back).", filesWords(c.Files, c.MoreFiles), words(found...), fillWords(c.Index), noticeWords(c.Notice))
}

func filesWords(files []store.FileResult, more int) string {
	var lines []string
	for _, f := range files {
		l := "- " + memdir.ShownName(f.Path) + " " + f.Action
		if f.Hash != "" {
			l += ", hash " + f.Hash
		}
		if f.Merged {
			l += ", merged with what somebody else wrote"
		}
		lines = append(lines, l)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more files", more))
	}
	return words(lines...)
}
