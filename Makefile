# What the project's checks are made of. CONTRIBUTING.md says when to use which.

GO ?= go
# Writing the go.mod of the machine's own version into the build would make it
# differ between machines.
export GOFLAGS := -mod=readonly -buildvcs=false

# The module that is ours under the path of another one; see its README.
REPLACED := github.com/santhosh-tekuri/jsonschema/v6/...

.PHONY: all build test check unit clients editors vscode cross wine fuzz soak bench update update-rules

all: build

# Without cgo: nothing needs it, and a program without it starts a millisecond sooner in less memory.
build:
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/...

# Everything that has to be green, installing what it needs.
test: check cross clients editors unit

# Form: formatting, vet, staticcheck, a tidy module.
check:
	@out=$$(gofmt -l cmd core diagnostics docs internal resources third_party tools e2e); if [ -n "$$out" ]; then echo "not formatted: $$out"; exit 1; fi
	$(GO) vet ./... $(REPLACED)
	$(GO) tool staticcheck ./... $(REPLACED)
	$(GO) mod tidy -diff

# The systems that are built and vetted here, but not run.
cross:
	GOOS=windows $(GO) vet ./...
	GOOS=windows $(GO) build -o /dev/null ./cmd/mem-mcp
	GOOS=windows $(GO) build -o /dev/null ./cmd/mem-lsp
	GOOS=darwin $(GO) vet ./...
	GOOS=darwin $(GO) build -o /dev/null ./cmd/mem-mcp
	GOOS=darwin $(GO) build -o /dev/null ./cmd/mem-lsp

# The Windows build, run under Wine, which has to be installed by hand: no part of make test.
wine:
	scripts/wine.sh

# The Node clients and the headless agent of the end-to-end tests. Without them the tests say loudly
# what they could not test; with MEM_REQUIRE=all that is a failure.
clients:
	@scripts/node-clients.sh || { echo "the Node clients could not be installed"; [ "$$MEM_REQUIRE" != all ]; }
	@scripts/node-agents.sh || { echo "the headless agent could not be installed"; [ "$$MEM_REQUIRE" != all ]; }

# The editors of the end-to-end tests; the same holds for them.
editors:
	@scripts/editors.sh || { echo "the editors could not be installed"; [ "$$MEM_REQUIRE" != all ]; }

# VS Code, driven in a browser: not part of make test, since what it installs takes 900 MB. With
# MEM_PICTURES=DIR it leaves pictures there.
vscode:
	scripts/vscode.sh
	MEM_VSCODE=1 $(GO) test -timeout 20m -count 1 -v -run TestVSCode ./e2e

# Tests of these start the program itself dozens of times, which the race detector makes
# ten times as slow and where it sees one goroutine at work; what they are made of is raced
# in its own packages.
UNRACED = ./internal/demo ./internal/cli ./internal/lspcli
RACED = $(filter-out mem/internal/demo mem/internal/cli mem/internal/lspcli,$(shell $(GO) list ./...))

# Under the race detector a process waits a second before it exits, for reports of goroutines that still run. Tests
# start hundreds of processes: a tenth of that is enough.
RACE_OPTIONS = atexit_sleep_ms=100

# go test hides what a passing package prints, so what could not be tested is
# collected in a file and told at the end.
unit:
	@mkdir -p bin && rm -f bin/untested
	MEM_UNTESTED=$(CURDIR)/bin/untested GORACE=$(RACE_OPTIONS) $(GO) test -race -timeout 15m $(RACED)
	MEM_UNTESTED=$(CURDIR)/bin/untested $(GO) test -timeout 10m $(UNRACED)
	MEM_UNTESTED=$(CURDIR)/bin/untested $(GO) test -timeout 10m ./core/dream ./core/guard ./core/store # whole: some of them are cut short under the race detector
	MEM_UNTESTED=$(CURDIR)/bin/untested $(GO) test -p 1 -timeout 10m -run 'Memory|Cancel' ./core/transcript ./core/transcript/index ./core/transcript/export # peaks and times, which the race detector hides
	@if [ -s bin/untested ]; then echo; echo "NOT TESTED:"; cat bin/untested; fi

# What takes too long for every run: many more crashes, every fuzz target, and transcripts
# of 5 GB, for which the temporary directory needs 12 GB.
soak: fuzz vscode
	MEM_KILLS=1000 $(GO) test -race -timeout 60m -count 1 ./core/store
	MEM_SOAK=1 $(GO) test -race -timeout 60m -count 1 ./core/dream
	MEM_SOAK=1 $(GO) test -timeout 30m -count 1 -run Dream ./e2e
	MEM_KILLS=100 $(GO) test -race -timeout 30m -count 1 -run TestKilled ./core/extract ./core/proposal
	MEM_SOAK=1 $(GO) test -race -timeout 10m -count 1 ./core/fork/gate
	MEM_SOAK=1 $(GO) test -timeout 10m -count 1 -run TestFiveThousandUnits ./core/proposal
	MEM_DAMAGED=20000 $(GO) test -timeout 30m -count 1 -run TestGarbage ./core/model/wire
	MEM_SNAPSHOT_SEEDS=100 $(GO) test -race -timeout 60m -count 1 -rapid.checks=1000 -run "TwoClones|ManyNames|TestKilled|TestManyAtOnce|LosesNoLine|TestCheckout" ./core/agentmem
	MEM_TEAM_ROUNDS=40 $(GO) test -timeout 60m -count 1 -run TestTeamInNeovim ./e2e
	GO=$(GO) scripts/caseless.sh
	MEM_UNIONS=2000 $(GO) test -timeout 60m -count 1 -run TestUniteSettles ./core/agentmem -rapid.checks=2000
	$(GO) test -timeout 60m -count 1 -run "NoWordIsLost|DreamsSettle" ./core/dream -rapid.checks=5000
	MEM_KILLS=300 $(GO) test -timeout 60m -count 1 -run Killed ./core/sessions
	MEM_TRANSCRIPT_MB=5000 $(GO) test -timeout 60m -count 1 -v -run 'PeakMemory|TimeBesideCounting' ./core/transcript
	MEM_TRANSCRIPT_MB=1000 $(GO) test -timeout 60m -count 1 -v -run PeakMemory ./core/transcript/export
	MEM_TRANSCRIPT_MB=5000 $(GO) test -timeout 60m -run '^$$' -bench 'Read/(wc|chain|whole|tail)' -benchtime 1x ./core/transcript
	MEM_TRANSCRIPT_MB=1000 $(GO) test -timeout 60m -count 1 -v -run Goals ./core/transcript/index
	MEM_TRANSCRIPT_MB=5000 $(GO) test -timeout 60m -run '^$$' -bench 'Index|Search' -benchtime 1x ./core/transcript/index

FUZZTIME ?= 60s
fuzz:
	scripts/fuzz.sh $(FUZZTIME)

bench:
	scripts/bench.sh

# Golden files, schema snapshots, generated tables.
update: update-rules
	$(GO) test ./tools ./core/settings ./core/dream ./internal/cli -update

# What a new rule or fix changes of them.
update-rules:
	$(GO) test ./internal/lspcli ./internal/lspserver/language ./diagnostics/report ./diagnostics/rules -update
