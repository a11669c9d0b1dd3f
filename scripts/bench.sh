#!/usr/bin/env bash
# Measures what docs/benchmarks.md states, in one run. With Node it measures the
# reference memory server beside ours, and language servers and a linter of others
# beside mem-lsp.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "# $(go version), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
go test -run '^$' -bench 'View(200|10000)' -benchmem ./core/memdir
go test -run '^$' -bench 'Build3000|Search3000' -benchmem ./core/recall
# Transcripts of 10 MB; MEM_TRANSCRIPT_MB=1000 measures what the goals are stated for.
go test -run '^$' -bench 'Read|Listing' -timeout 60m ./core/transcript
go test -run '^$' -bench 'Index|NothingToDo' -timeout 60m ./core/transcript/index
go test -run '^$' -bench Search -benchtime 200x -timeout 60m ./core/transcript/index
peers=yes
scripts/node-clients.sh || peers=
go test -run '^$' -bench . -skip 'Check' ./internal/bench
go test -run '^$' -bench 'BenchmarkCall|Benchmark32' ./internal/mcpserver/stdio
# One run of each is three rounds in turn with rumdl.
go test -run '^$' -bench Check -benchtime 1x ./internal/bench
go test -run '^$' -bench 'Check' -benchmem ./diagnostics/workspace
go test -run '^$' -bench . ./internal/lspserver
go test -run '^$' -bench . -benchmem ./core/fork/gate ./core/fork/shell
if [ -n "$peers" ]; then
  scripts/bench-peers.sh
  scripts/bench-reference.sh
else
  echo "NOT MEASURED: the reference server, rumdl and the other language servers: the Node clients are not installed"
fi
