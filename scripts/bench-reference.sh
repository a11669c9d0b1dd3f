#!/usr/bin/env bash
# Measures ours and the reference memory server in turn, with the same client, on
# 200 topics and 200 entities of the same text.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/mem-mcp" ./cmd/mem-mcp
mkdir -p "$scratch/memory" "$scratch/home"
for i in $(seq 0 199); do
  printf -- '---\nname: topic-%d\ndescription: what was decided about part %d\ntype: project\n---\n\n' "$i" "$i" >"$scratch/memory/topic-$i.md"
  for _ in $(seq 22); do
    echo "Part $i is deployed on Tuesdays by the release team, since the cache needs warming." >>"$scratch/memory/topic-$i.md"
  done
  echo "- [topic-$i](topic-$i.md) — what was decided about part $i" >>"$scratch/memory/MEMORY.md"
done
bench=e2e/clients/reference-bench.mjs
node $bench fill 200 "$scratch/graph.jsonl"
export HOME="$scratch/home" MEMORY_FILE_PATH="$scratch/graph.jsonl"
ours=("$scratch/mem-mcp" --memory-dir "$scratch/memory")
theirs=(node e2e/clients/node_modules/@modelcontextprotocol/server-memory/dist/index.js)
for round in 1 2 3; do
  echo "ours, round $round:      $(node $bench read memory_read '{"topic":"topic-100"}' 2000 "${ours[@]}" | tr -d '\n ')"
  echo "reference, round $round: $(node $bench read open_nodes '{"names":["topic-100"]}' 2000 "${theirs[@]}" 2>/dev/null | tr -d '\n ')"
done
echo "ours, start:      $(node $bench start 20 "${ours[@]}" | tr -d '\n ')"
echo "reference, start: $(node $bench start 20 "${theirs[@]}" 2>/dev/null | tr -d '\n ')"
