#!/usr/bin/env bash
# Measures mem-lsp and other language servers in turn, with the same client on the
# same memory: five rounds, or as many as are said.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/mem-lsp" ./cmd/mem-lsp
mkdir "$scratch/home"
HOME="$scratch/home" node e2e/clients/lsp-bench.mjs "${1:-5}" "$scratch/mem-lsp"
