# Gram: targets for users and for continuous integration. `make help` lists them, and those of the Makefiles
# in cuda, cluster, python, lab and release.

GO         ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
GO_LICENSES = github.com/google/go-licenses@v1.6.0
QTC         = github.com/valyala/quicktemplate/qtc@v1.8.0
PORTABLE    = purego,noasm
GENERATED   = asm/*_amd64.s asm/*_stubs_amd64.go internal/report/page.qtpl.go cmd/internal/serve/page.qtpl.go
PROGRAMS    = ./cmd/gram ./cmd/grambench
MODULES     = . cluster lab examples
TEST        = $(GO) test -vet=off -timeout 60m
# Tests of cluster run programs as users build them, without cgo, so that its thousand packages are compiled once.
each = @for m in $(MODULES); do echo "in $$m: $(1)"; (cd $$m && { test $$m != cluster || export CGO_ENABLED=0; } && $(1)) || exit; done

.DEFAULT_GOAL := build
.PHONY: help build run test test-gram test-modules bench benchmarks ci check format tidy vet staticcheck portable race \
	arm64 arm64-test generate generate-check licences vulncheck fuzz levels clean cuda cluster lab dist dist-check dist-quick

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' Makefile */Makefile | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 19

build: ## build bin/gram and bin/grambench (the default)
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/ $(PROGRAMS)

cuda cuda-header cuda-binaries cuda-check ptx ptx-check: ; @$(MAKE) --no-print-directory -C cuda $@
cluster cluster-test cluster-check: ; @$(MAKE) --no-print-directory -C cluster $@
libgram wheel wheel-all python-venv python-check python-peers: ; @$(MAKE) --no-print-directory -C python $@
python-check: build
lab: ; @$(MAKE) --no-print-directory -C lab $@
dist dist-check dist-quick: ; @$(MAKE) --no-print-directory -C release $@
campaign campaign-short campaign-selftest: python-venv ; @$(MAKE) --no-print-directory -C lab $@
bench-cluster: build ; @$(MAKE) --no-print-directory -C cluster $@
bench-%: build libgram ; @$(MAKE) --no-print-directory -C lab $@

run: build ## verify all kernels and instruction sets on the Go source files of this machine
	bin/grambench verify

bench: build ## measure this machine: pairs/s against a merge of sorted lists and against the peak
	bin/grambench bench -workers 1,2

benchmarks: ## the Go benchmarks of kernels and engine
	$(GO) test -run '^$$' -bench 'PanelDot|Map|Peak|Read|Tiles|Gram' ./asm ./engine

# Two stages at a time, the longest first, because each leaves a part of two processors idle. The stages before are short,
# or write files that others use. A comment on each stage names the faults that only this stage finds.
ci: build format tidy generate-check python-venv ## everything that continuous integration runs
	$(MAKE) -j2 -O vet staticcheck test race cluster-check cluster-test arm64-test cuda-check python-check portable arm64 licences dist-quick campaign-short

check: format tidy vet staticcheck test portable race arm64 generate-check ## the stages that need only Go and a C compiler

# Wrong results and messages. Clouds' libraries are half of all packages of cluster (nocloud: without them).
test: ## run all tests, except for programs that cluster-test and python-check build
	@$(MAKE) -j2 --no-print-directory test-gram test-modules

test-gram:
	$(TEST) -short ./cmd/libgram
	$(TEST) $$($(GO) list ./... | grep -v /cmd/libgram$$)

# One package at a time, because test-gram runs concurrently.
test-modules:
	cd lab && $(TEST) -p 1 ./...
	cd lab && $(TEST) -tags campaign -run TestFound ./campaign
	cd examples && $(TEST) -p 1 ./...
	cd cluster && CGO_ENABLED=0 $(TEST) -p 1 -tags nocloud -short ./...
	cd cluster && CGO_ENABLED=0 $(TEST) -p 1 ./store

# Layout.
format: ## fail if gofmt would change something, or a line written by hand has more than 120 columns
	@changed=$$(gofmt -l .); test -z "$$changed" || { echo "gofmt would change:"; echo "$$changed"; exit 1; }
	@git ls-files -co --exclude-standard '*.go' '*.cu' '*.cc' '*.h' | xargs grep -L '^// Code generated .* DO NOT EDIT\.$$' | LC_ALL=C xargs awk \
		'{ n = $$0; gsub(/[\200-\277]/, "", n) } length(n) > 120 { print FILENAME ":" FNR ": more than 120 columns"; bad = 1 } END { exit bad }'

# Missing or unused requirements.
tidy: ## fail if go.mod or go.sum don't match the imports
	$(call each,$(GO) mod tidy -diff)

# Mistakes that compile and that no test runs into: lost cancels, copied locks, assembly whose frame isn't Go's.
vet: ## go vet
	$(call each,$(GO) vet ./...)

# Unused code and deprecated calls.
staticcheck: ## staticcheck, at a fixed version
	$(call each,$(GO) run $(STATICCHECK) ./...)

# Files that replace assembly, and their bits. test also runs all tests of asm with the portable kernels.
portable: ## build and test the portable kernels alone, with the models and results that they give
	$(GO) vet -tags $(PORTABLE) ./asm/...
	$(TEST) -tags $(PORTABLE) ./asm/...
	$(TEST) -tags $(PORTABLE) -run 'TestModels|TestDigests' ./cmd/gram

# Data races. With -short, tests that take long under the detector without concurrency of their own are skipped.
race: ## the race detector (needs a C compiler)
	CGO_ENABLED=1 $(TEST) -race -short . ./sparse/... ./corpus/... ./tiles/... ./engine/... ./solver/... ./internal/...
	CGO_ENABLED=1 $(TEST) -race -short -run TestScripts ./cmd/gram
	cd cluster && CGO_ENABLED=1 $(TEST) -race -short -tags nocloud ./...

# Code that doesn't build for another processor; vet compiles everything that a package needs.
arm64: ## build and vet for another processor
	GOARCH=arm64 $(GO) build -o /dev/null ./cmd/gram
	GOARCH=arm64 $(GO) vet ./...

# Results that depend on how amd64 rounds: arm64 fuses products and sums.
arm64-test: ## run the tests of numerical code for another processor, in an emulator (needs qemu-aarch64)
	@command -v qemu-aarch64 >/dev/null || { echo "arm64-test: no qemu-aarch64; on Debian: apt-get install qemu-user" >&2; exit 1; }
	CGO_ENABLED=0 GOARCH=arm64 $(TEST) -short -exec qemu-aarch64 ./asm/... ./sparse ./corpus ./engine/... ./solver/...

generate: ## write the assembly of asm and the code of HTML pages again
	rm -f $(GENERATED)
	cd asm/_gen && $(GO) run .
	for f in $$(git ls-files '*.qtpl'); do (cd $${f%/*} && $(GO) run $(QTC) -skipLineComments -file $${f##*/} 2>/dev/null) || exit; done

# Assembly and pages that were edited by hand.
generate-check: generate ## fail if generated code in git differs from its generator's
	@changed=$$(git status --porcelain -- $(GENERATED)); test -z "$$changed" || { echo "differs from its generator's:"; echo "$$changed"; exit 1; }

# Licences other than the permissive ones. go-licenses prints many warnings, shown only if it fails.
PERMISSIVE = MIT,BSD-2-Clause,BSD-3-Clause,Apache-2.0

licences: ## check the licences of linked modules, save a list and their texts in dist/licences
	@mkdir -p build dist/licences
	@printf '{{range .}}{{.Name}}\t{{.Version}}\t{{.LicenseName}}\n{{end}}' >build/licences.template
	@for program in gram cluster/gramcluster; do name=$${program##*/}; (cd $${program%$$name}. && \
		run="$(GO) run $(GO_LICENSES)" && flags="./cmd/$$name --ignore github.com/gramengine/gram/cluster" && \
		$$run check $$flags --allowed_licenses=$(PERMISSIVE) && \
		$$run save $$flags --force --save_path $(CURDIR)/dist/licences/$$name && \
		$$run report $$flags --template $(CURDIR)/build/licences.template >$(CURDIR)/dist/licences/$$name.tsv) \
		2>build/licences.txt || { cat build/licences.txt >&2; exit 1; }; done

vulncheck: ## look for known vulnerabilities in called code (needs Go's vulnerability database; not part of check)
	@for m in $(MODULES); do echo "in $$m:"; (cd $$m && $(GO) run $(GOVULNCHECK) ./...); \
		case $$? in 0) ;; 3) exit 1 ;; *) echo "vulncheck: $$m wasn't checked: is the database within reach?" >&2 ;; esac; done

fuzz: ## run Go's fuzzer on each fuzz target (FUZZTIME=30s)
	@git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' ':!asm/_gen' | sed 's/:func / /' | while read -r file target; do \
		echo "$$file $$target"; (cd $$(dirname $$file) && \
		$(GO) test -vet=off -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(FUZZTIME),30s) . </dev/null) || exit; done

LIBRARY = . ./asm/... ./engine/... ./solver/... ./sparse/... ./corpus/... ./tiles/... ./internal/...

levels: ## run the library's tests with each instruction set as the highest, and on 1, 2 and 7 threads (an hour)
	for isa in generic avx2; do $(TEST) -short -ldflags "-X github.com/gramengine/gram/asm.highest=$$isa" $(LIBRARY) || exit; done
	for n in 1 2 7; do GOMAXPROCS=$$n $(TEST) -count=1 -short $(LIBRARY) || exit; done
	GODEBUG=cpu.all=off $(TEST) -count=1 -short $(LIBRARY)

clean: ## remove what was built
	rm -rf bin dist
