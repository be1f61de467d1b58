# Everything a contributor runs. `make demo` and `make test` need Go, git and make only.
SHELL   := bash
.SHELLFLAGS := -euo pipefail -c
GO      ?= go
TOOLS   := $(CURDIR)/.tools
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 20s

.PHONY: help build demo test test-servers servers bench lint fuzz cross update clean

help: ## Show what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: bin/dragoman ## Build bin/dragoman

.PHONY: bin/dragoman
bin/dragoman:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/dragoman ./cmd/dragoman

$(TOOLS)/gopls: tools/gopls/go.mod
	cd tools/gopls && GOBIN=$(TOOLS) $(GO) install tool

$(TOOLS)/staticcheck: tools/lint/go.mod
	cd tools/lint && GOBIN=$(TOOLS) $(GO) install tool

demo: bin/dragoman $(TOOLS)/gopls ## Ask real questions about this repository, through MCP and the command line
	PATH="$(TOOLS):$$PATH" bin/dragoman demo --trust

test: $(TOOLS)/gopls ## Run all tests that need Go, git and make only
	PATH="$(TOOLS):$$PATH" $(GO) test -race -timeout 15m ./...

servers: ## Install the language servers that test-servers asks (Node, Python, Rust)
	scripts/test-servers.sh

test-servers: servers ## Ask real language servers
	scripts/test-servers.sh --check
	$(GO) test -tags integration -count=1 -timeout 60m -v ./integration/ | scripts/quiet.sh

bench: $(TOOLS)/gopls ## Measure beside a raw client in the same run
	PATH="$(TOOLS):$$PATH" $(GO) test -tags integration -run '^$$' -bench . -benchtime 1x -timeout 30m ./integration/

lint: $(TOOLS)/staticcheck ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt on these"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags integration ./integration/
	$(TOOLS)/staticcheck ./...
	$(TOOLS)/staticcheck -tags integration ./integration/

fuzz: ## Fuzz every target for FUZZTIME
	scripts/fuzz.sh $(FUZZTIME)

cross: ## Compile for darwin and windows
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build -o /dev/null ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./...

update: ## Write golden files anew
	$(GO) test ./internal/render/ ./internal/cli/ ./internal/mcpserver/ -update

clean: ## Remove what was built
	rm -rf bin .tools
