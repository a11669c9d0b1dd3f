// Package index is the full-text index of transcripts: SQLite FTS5 in the cache
// directory, fed with the terms of core/recall, so that a search over gigabytes
// of sessions takes milliseconds and needs no memory for them.
//
// # What is indexed
//
// Prompts, answers, tool calls (name and the strings of the arguments, 2 KB of
// each call), compaction summaries, and of tool results the beginning and the
// end: 256 and 512 bytes, 1 KB each of a failed one, since what people look for
// in a result is an error and errors stand at its ends. Whole results would be
// ten times the conversation.
//
// Not indexed: requests and prompts that the client repeats, attachments,
// progress, reminders that the client put into a prompt, errors of the API, and
// thinking, which clients often keep without its text and which the answer sums
// up.
//
// Secrets are redacted before a text becomes terms. The index holds no text: a
// term says that a stem stands in an entry and at which place among its terms.
// What people read is taken from the transcript at the time of the search, if
// the record still stands there, and is redacted again.
//
// # Several processes
//
// Any number of processes may search and update one index. A file lock keeps
// them from doing the same work twice; that no entry is lost or stored twice
// rests on transactions alone, each of which moves the offset of a transcript
// on from exactly where its entries begin.
//
// Everything here can be rebuilt: an index that is damaged, or that another
// version of the tokeniser wrote, is built anew.
package index
