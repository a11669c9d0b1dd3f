// Package recall owns ranked search: one tokeniser that every index of mem
// shares, and an in-memory BM25F over the topics and daily logs of a memory
// directory.
//
// It imports nothing else of mem. A caller turns what it has into [Doc] values,
// builds an [Index] once and derives the next one with [Index.Update], which
// keeps the statistics of every document whose hash stayed the same. An Index
// never changes after it was returned, so any number of goroutines may search
// it, also while an update of it is being computed.
//
// # What a query finds
//
//   - Words and their forms: "deploy" finds "deployed" and "deployment". The
//     very form that was asked for ranks a little higher.
//   - Identifiers as a whole and by parts: parseURL is found by "parseURL",
//     "parse_url", "parseurl", "url" and "parse".
//   - Chinese, Japanese and Korean by pairs of characters and by single ones.
//   - Words with a slip, but only where the vocabulary of the index lacks the
//     word as typed; the result says what was corrected to what.
//
// English stop words are neither indexed nor searched.
//
// # Where the numbers come from
//
// Field weights, k1 and b, stop words, stemming, pairs and single characters,
// and the rule for slips were measured on LoCoMo conversations and on 2,982
// real topics, 2026-11. Fitted k1 and b did not carry over from one collection
// to another, so both stay at their usual values.
package recall
