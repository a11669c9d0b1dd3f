#!/usr/bin/env bash
# Measures what docs/benchmarks.md states, in one run. With Node it measures the
# reference memory server beside ours.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "# $(go version), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
go test -run '^$' -bench 'View(200|10000)' -benchmem ./core/memdir
go test -run '^$' -bench 'Build3000|Search3000' -benchmem ./core/recall
go test -run '^$' -bench Read ./core/transcript # of 10 MB; MEM_TRANSCRIPT_MB=1000 for more
go test -run '^$' -bench . ./internal/bench
go test -run '^$' -bench 'BenchmarkCall|Benchmark32' ./internal/mcpserver/stdio
if scripts/node-clients.sh; then
  scripts/bench-reference.sh
else
  echo "the reference server was not measured: the Node clients are not installed"
fi
