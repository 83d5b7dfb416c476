# Targets for users and for continuous integration. `make help` lists them.

GO         ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
QTC         = github.com/valyala/quicktemplate/qtc@v1.8.0
PORTABLE    = purego,noasm
GENERATED   = asm/*_amd64.s asm/*_stubs_amd64.go internal/report/page.qtpl.go cmd/internal/serve/page.qtpl.go
TEST        = $(GO) test -vet=off -timeout 60m
STAGES      = vet staticcheck test race cluster-check cluster-test arm64-test cuda-check python-check portable arm64 \
	licences dist-quick campaign-short

.DEFAULT_GOAL := build
.PHONY: help build run bench ci check test test-gram test-modules format tidy vet staticcheck portable race arm64 \
	arm64-test generate generate-check clean cuda cluster lab dist dist-check dist-quick licences vulncheck

# list FILE prints the targets of a Makefile that have a description.
list = @sed -nE 's/^([a-z0-9-]+):.*\#\# /\1\t/p' $(1) | expand -t 19

help: ## list the targets; help-cluster, help-cuda, help-lab, help-python and help-release list those of a folder
	$(call list,Makefile)

help-%:
	$(call list,$*/Makefile)

build: ## build bin/gram and bin/grambench (the default)
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/ ./cmd/gram ./cmd/grambench

cuda cuda-header cuda-binaries cuda-check ptx ptx-check: ; @$(MAKE) --no-print-directory -C cuda $@
cluster cluster-test cluster-check: ; @$(MAKE) --no-print-directory -C cluster $@
libgram wheel wheel-all python-venv python-check python-peers: ; @$(MAKE) --no-print-directory -C python $@
python-check: build
lab fuzz levels: ; @$(MAKE) --no-print-directory -C lab $@
dist dist-check dist-quick licences vulncheck: ; @$(MAKE) --no-print-directory -C release $@
campaign campaign-short campaign-selftest: python-venv ; @$(MAKE) --no-print-directory -C lab $@
bench-cluster: build ; @$(MAKE) --no-print-directory -C cluster $@
bench-%: build libgram ; @$(MAKE) --no-print-directory -C lab $@

run: build ## verify all kernels and instruction sets on the Go source files of this machine
	bin/grambench verify

bench: build ## measure this machine: pairs/s compared with merging sorted lists and with the peak
	bin/grambench bench -workers 1,2

# Two stages run at a time, the longest first, because a single stage rarely uses two CPUs fully. The prerequisites are
# short, or write files that several stages use. A comment at each stage names the faults that only this stage finds.
ci: build format tidy generate-check python-venv ## run everything that continuous integration runs
	$(MAKE) -j2 -O $(STAGES)

check: format tidy vet staticcheck test portable race arm64 generate-check ## run the stages that need only Go and C

# Wrong results and messages.
test: ## run all tests, except for programs that cluster-test and python-check build
	@$(MAKE) -j2 --no-print-directory test-gram test-modules

test-gram:
	$(TEST) -short ./cmd/libgram
	$(TEST) $$($(GO) list ./... | grep -v /cmd/libgram$$)

# One package at a time, because test-gram runs concurrently. The tag nocloud leaves out the SDKs of cloud providers.
test-modules:
	cd lab && $(TEST) -p 1 ./...
	cd lab && $(TEST) -tags campaign -run TestFound ./campaign
	cd examples && $(TEST) -p 1 ./...
	cd cluster && CGO_ENABLED=0 $(TEST) -p 1 -tags nocloud -short ./...
	cd cluster && CGO_ENABLED=0 $(TEST) -p 1 ./store

# Layout.
format: ## fail if gofmt would change a file, or if a line that isn't generated has more than 120 columns
	@changed=$$(gofmt -l .); test -z "$$changed" || { echo "gofmt would change:"; echo "$$changed"; exit 1; }
	@git ls-files -co --exclude-standard '*.go' '*.cu' '*.cc' '*.h' | xargs grep -L '^// Code generated' \
		| LC_ALL=C xargs awk '{ gsub(/[\200-\277]/, "") } length > 120 { print FILENAME ":" FNR; bad = 1 } END { exit bad }' \
		|| { echo "lines of more than 120 columns"; exit 1; }

# tidy finds missing and unused requirements, vet mistakes that compile (lost cancels, copied locks, wrong frames of
# assembly), staticcheck unused code and deprecated calls. cluster is built without cgo, as for users.
tidy: COMMAND = mod tidy -diff
vet: COMMAND = vet ./...
staticcheck: COMMAND = run $(STATICCHECK) ./...
tidy: ## fail if go.mod or go.sum don't match the imports
vet: ## run go vet
staticcheck: ## run staticcheck
tidy vet staticcheck:
	$(GO) $(COMMAND)
	cd cluster && CGO_ENABLED=0 $(GO) $(COMMAND)
	cd lab && $(GO) $(COMMAND)
	cd examples && $(GO) $(COMMAND)

# Faults of the portable files, and results that differ from those of assembly. test also runs all tests of asm with the
# portable kernels.
portable: ## build and test the portable kernels alone, with the models and results that they give
	$(GO) vet -tags $(PORTABLE) ./asm/...
	$(TEST) -tags $(PORTABLE) ./asm/...
	$(TEST) -tags $(PORTABLE) -run 'TestModels|TestDigests' ./cmd/gram

# Data races. -short skips tests that are slow under the race detector and have no concurrency.
race: ## run tests with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(TEST) -race -short . ./sparse/... ./corpus/... ./tiles/... ./engine/... ./solver/... ./internal/...
	CGO_ENABLED=1 $(TEST) -race -short -run TestScripts ./cmd/gram
	cd cluster && CGO_ENABLED=1 $(TEST) -race -short -tags nocloud ./...

# Code that doesn't build on other processors. vet compiles all dependencies.
arm64: ## build and vet for arm64
	GOARCH=arm64 $(GO) build -o /dev/null ./cmd/gram
	GOARCH=arm64 $(GO) vet ./...

# Results that depend on the rounding of amd64: on arm64, Go fuses multiplications and additions.
arm64-test: ## run the tests of numerical code for arm64 in an emulator (needs qemu-aarch64)
	@command -v qemu-aarch64 >/dev/null \
		|| { echo "arm64-test needs qemu-aarch64; on Debian: apt-get install qemu-user" >&2; exit 1; }
	CGO_ENABLED=0 GOARCH=arm64 $(TEST) -short -exec qemu-aarch64 ./asm/... ./sparse ./corpus ./engine/... ./solver/...

generate: ## generate the assembly of asm and the code of HTML pages
	rm -f $(GENERATED)
	cd asm/_gen && $(GO) run .
	cd internal/report && $(GO) run $(QTC) -skipLineComments -file page.qtpl
	cd cmd/internal/serve && $(GO) run $(QTC) -skipLineComments -file page.qtpl

# Generated files that were edited, or that are older than their generators.
generate-check: generate ## fail if generated files in git differ from the generators' output
	@changed=$$(git status --porcelain -- $(GENERATED)); \
		test -z "$$changed" || { echo "generated files differ:"; echo "$$changed"; exit 1; }

clean: ## remove what was built
	rm -rf bin dist
