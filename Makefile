# Gram: targets for users and for continuous integration. `make help` lists them.

GO         ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
PORTABLE    = purego,noasm

# What the race detector and arm64 repeat of test: what runs concurrently, and what computes in floating point. Commands
# are run by test alone, but for the scripts whose goroutines are the command's own. Of cluster, acceptance runs programs
# that are built without the detector, which goes without clouds' libraries, too (nocloud: half of all packages).
# go vet is a stage of its own, so these tests go without. The detector looks at packages that start goroutines, lock, or
# give functions to what does, and not at tests of one goroutine, SINGLE, that take it long. arm64 goes without the tests of
# READERS, which take text apart.
GOROUTINES  = '^[^/]*(\bgo [a-zA-Z.]+\(|\.Go\(|\bsync\.|\batomic\.|run\.Tasks|Stripes\(|Tiles\(|\btask\.)'
concurrent  = $$(git grep -lE $(GOROUTINES) -- $(patsubst %,'%/*.go',$(1)) | xargs dirname | sort -u | sed 's,^,./,')
SINGLE      = 'Arguments|^TestLinks|ImportsOfTheFacade|TestErrorIsABound|TestMapBeyond|TestApplyRefuses|TestNoise|TestMapError|SpecificationsAreRead|TestCalibrated$$|SmallClasses|TestLogLoss|TestPairsShareTiles|AgainstProjectedGradient|AgainstDense|TestConverged|TestOptimum|TestOptimal|AgreesWithReference|AgreeWithReference|PairsAtBound|JoinCopies|NeighboursBounds|SingleDocuments|OfSimulatedRuns|TestAllAgainstGonum|WeightsInBits|TestNoFalseDifference|TestTolerance|AgainstReference|DecisionsAreTheSum|TestDamagedBytes|TestRealCorpora|TestMNIST|TestLandmarks$$|TestMemoryBytes|MemoryIsKnownBefore|TestRoles|TestPanelBytes|TestNeighboursMemory|TestReadColumns'
OWN         = 'TestScripts/^(train|grid_search|streams|interrupt)$$'
READERS     = 'TestRead[A-Z]|TestJoinedInSteps|TestMemoryBytes|TestProgress|TestDamagedBytes|TestRealCorpora|TestCancel|Arguments|SpecificationsAreRead'
NUMERICAL   = ./asm/... ./sparse ./corpus ./engine/... ./solver/...

# The Go modules of this repository. cluster has a go.mod of its own, so that the engine needs no client of a store;
# lab has experiments, which users don't build.
MODULES = . cluster lab
# Tests of cluster run programs as users build them, without cgo: where the tests themselves go without, the thousand
# packages behind them are compiled once.
each    = @for m in $(MODULES); do echo "in $$m: $(1)"; \
	(cd $$m && { test $$m != cluster || export CGO_ENABLED=0; } && $(1)) || exit; done

.DEFAULT_GOAL := build
.PHONY: help build libgram wheel wheel-all wheel-venv lab cluster cluster-check cluster-test cuda cuda-binaries cuda-header cuda-check ptx ptx-check run test bench bench-cluster bench-duplicates bench-large bench-libsvm bench-pca bench-peers bench-python bench-text benchmarks check format vet staticcheck portable python-check race arm64 tidy generate generate-check clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 16

PROGRAMS = ./cmd/gram ./cmd/grambench

build: ## build bin/gram and bin/grambench (the default)
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/ $(PROGRAMS)

# The GPU back end needs cgo and, for the driver's declarations, a header that is made of a module: no CUDA toolkit.
CUDA_ENV = CGO_ENABLED=1 CGO_CFLAGS="-O2 -g -I$(CURDIR)/build/cuda"

cuda: cuda-header ## build bin/gram and bin/grambench with the GPU back end (needs a C compiler, no CUDA)
	@mkdir -p bin
	$(CUDA_ENV) $(GO) build -tags cuda -trimpath -ldflags '-s -w' -o bin/ $(PROGRAMS)

cuda-header:
	@$(GO) run ./cuda/internal/mkheader build/cuda

libgram: ## build bin/libgram.so, the C library, beside its header gram.h (needs a C compiler)
	CGO_ENABLED=1 $(GO) build -trimpath -buildmode=c-shared -o bin/libgram.so ./cmd/libgram
	@rm -f bin/libgram.h # which cgo writes, of gram.h's functions none
	cp cmd/libgram/gram.h bin/

# Zig's C compiler builds for an old C library, of either processor: so wheels run on any Linux since 2014 that has glibc.
WHEEL_VENV = $(CURDIR)/build/wheel
WHEEL_LIB  = python/gramengine/_lib/libgram.so

# wheel GOARCH PROCESSOR
define wheel
	CGO_ENABLED=1 GOARCH=$(1) CC="$(WHEEL_VENV)/bin/python -m ziglang cc -target $(2)-linux-gnu.2.17" \
		$(GO) build -trimpath -buildmode=c-shared -ldflags='-s -w -extldflags=-Wl,--strip-all' -o $(WHEEL_LIB) ./cmd/libgram
	rm -f $(WHEEL_LIB:.so=.h)
	cd python && GRAM_PLATFORM=manylinux2014_$(2) $(WHEEL_VENV)/bin/hatchling build -t wheel -d ../dist
	rm -f $(WHEEL_LIB)
endef

wheel-venv:
	@test -x $(WHEEL_VENV)/bin/hatchling || { python3 -m venv $(WHEEL_VENV) && \
		$(WHEEL_VENV)/bin/pip install -q --require-hashes --no-deps -r python/wheel-requirements.txt; }
	@rm -rf dist

wheel: wheel-venv ## build dist/gramengine-….whl, the Python package for this processor (needs python3)
	$(if $(filter arm64,$(shell $(GO) env GOARCH)),$(call wheel,arm64,aarch64),$(call wheel,amd64,x86_64))
	$(GO) test -run TestWheels ./cmd/libgram -wheels $(CURDIR)/dist

wheel-all: wheel-venv ## build the Python package for x86-64 and arm64
	$(call wheel,amd64,x86_64)
	$(call wheel,arm64,aarch64)
	$(GO) test -run TestWheels ./cmd/libgram -wheels $(CURDIR)/dist

cluster: ## build bin/gramcluster, which spreads jobs over machines
	cd cluster && CGO_ENABLED=0 $(GO) build -trimpath -o ../bin/gramcluster ./cmd/gramcluster

lab: ## build bin/gramlab: the experiments of the source papers
	cd lab && CGO_ENABLED=0 $(GO) build -trimpath -o ../bin/gramlab ./cmd/gramlab

# What only this finds: faults of gramcluster as a program, its memory, its processes that are killed, and single
# operations of a store that fail.
cluster-test: ## run all of cluster's tests, those of its programs, too; those whose server isn't there say so
	cd cluster && CGO_ENABLED=0 $(GO) test -vet=off -tags nocloud -timeout 60m ./...

# PySpark comes from Python's package index into a virtual environment, the S3 server from Go's module proxy, both with checksums.
SPARK_VENV = $(CURDIR)/build/spark

# What only this finds: a store that doesn't keep what S3 promises, faults of drivers on Spark, rare schedules of failures.
# All else of acceptance is in cluster-test.
cluster-check: ## test cluster against an S3 server and Spark, which it installs, and on many schedules of failures (needs Java 17 and python3)
	@command -v java >/dev/null || { echo "cluster-check: no java; on Debian: apt-get install openjdk-17-jre-headless" >&2; exit 1; }
	@test -x $(SPARK_VENV)/bin/spark-submit || { python3 -m venv $(SPARK_VENV) && \
		$(SPARK_VENV)/bin/pip install -q --require-hashes --no-deps -r cluster/spark/requirements.txt; }
	cd cluster && CGO_ENABLED=0 GRAM_SERVERS=yes SPARK_HOME=$$($(SPARK_VENV)/bin/python -c 'import pyspark; print(*pyspark.__path__)') \
		$(GO) test -vet=off -timeout 60m -run 'S3|Spark' ./internal/acceptance
	cd cluster && CGO_ENABLED=0 $(GO) test -vet=off -timeout 60m ./internal/chaos -run 'Schedules|Drives' -schedules 100000 -drives 3000
	cd cluster/kubernetes && $(GO) vet . && $(GO) test .

cuda-binaries: cuda ## build what the scripts of cuda/LEASE.md take to a machine with a GPU
	$(CUDA_ENV) $(GO) test -c -tags cuda -o bin/cuda.test ./cuda
	@$(GO) run ./cuda/internal/mkptx -cubins bin cuda/kernels
	@git describe --always --dirty --abbrev=40 2>/dev/null >bin/cuda.commit || true # check.sh says it

ptx: ## compile the GPU's kernels anew (needs clang-19)
	$(GO) run ./cuda/internal/mkptx cuda/kernels

ptx-check: ## fail where the PTX in git isn't that of its sources
	$(GO) run ./cuda/internal/mkptx -check cuda/kernels

PYTHON_VENV = $(CURDIR)/build/python

python-venv:
	@test -x $(PYTHON_VENV)/bin/pytest || { python3 -m venv $(PYTHON_VENV) && \
		$(PYTHON_VENV)/bin/pip install -q -r python/test-requirements.txt; }

# What only this finds: faults of the Python package, of the library as another program loads it, and of comparisons.
python-check: build libgram python-venv ## test the C library from C, and the Python package from the source tree (needs a C compiler, python3 from 3.11 on)
	CGO_ENABLED=1 $(GO) test -vet=off -timeout 60m ./cmd/libgram
	cd python && GRAMENGINE_LIBRARY=$(CURDIR)/bin/libgram.so $(PYTHON_VENV)/bin/python -m pytest -q -p no:cacheprovider tests
	GRAMENGINE_LIBRARY=$(CURDIR)/bin/libgram.so $(PYTHON_VENV)/bin/python -m pytest -q -p no:cacheprovider lab/bench

# The packages that have files for the tag cuda, or for tests with it.
TAGGED = ./cuda ./cuda/internal/driver $(PROGRAMS)

# What only this finds: faults of the GPU back end, whose files no other stage compiles, and PTX that isn't its sources'.
cuda-check: cuda-header ptx-check ## check and test the GPU back end without a GPU: a fake driver, PTX in an interpreter (needs g++)
	$(CUDA_ENV) $(GO) vet -tags cuda $(TAGGED)
	$(CUDA_ENV) $(GO) run $(STATICCHECK) -tags cuda $(TAGGED)
	$(CUDA_ENV) $(GO) test -vet=off -timeout 60m -tags cuda ./cuda ./cuda/internal/driver
	$(CUDA_ENV) $(GO) test -vet=off -timeout 60m -tags cuda -run CUDA ./cmd/gram ./cmd/internal/learners
	cd lab && $(CUDA_ENV) $(GO) vet -tags cuda ./cmd/... && $(CUDA_ENV) $(GO) test -vet=off -tags cuda -run CUDA ./cmd/...
	$(CUDA_ENV) $(GO) test -vet=off -timeout 60m -tags cuda -race -short -run "Rows|Memory|Errors|Early" ./cuda

run: build ## build, then the main job: verify the engine on the Go source files of this machine
	bin/grambench verify

# Wrong results and messages. The libraries of clouds' services are half of all packages of cluster: its tests go without
# (nocloud) but for those that need them, which spares the linker a quarter of a minute.
test: ## run all tests, but for programs that cluster-test and python-check build
	@$(MAKE) -j2 --no-print-directory test-gram test-modules

test-gram:
	$(GO) test -vet=off -timeout 60m -short ./cmd/libgram
	$(GO) test -vet=off -timeout 60m $$($(GO) list ./... | grep -v /cmd/libgram$$)

# One package at a time, beside test-gram's: where tests wait, others have the processors.
test-modules:
	cd lab && $(GO) test -vet=off -p 1 -timeout 60m ./...
	cd lab && $(GO) test -vet=off -tags campaign -run TestFound ./campaign
	cd cluster && CGO_ENABLED=0 $(GO) test -vet=off -p 1 -tags nocloud -short -timeout 60m ./...
	cd cluster && CGO_ENABLED=0 $(GO) test -vet=off -p 1 -timeout 60m ./store

bench: build ## measure against a merge of sorted lists and against the machine
	bin/grambench bench -workers 1,2

bench-cluster: build cluster ## measure what a Gram matrix costs through gramcluster against gram (minutes, on a quiet machine)
	cd cluster && $(GO) run ./internal/overhead $(ARGS)

benchmarks: ## the Go benchmarks of kernels and engine
	$(GO) test -run '^$$' -bench 'PanelDot|Map|Peak|Read|Tiles|Gram' ./asm ./engine

# DATA names the folder of the corpora, PYTHON one with lab/bench/requirements.txt, LIBSVM's programs are on the path.
compare = DATA='$(DATA)' SVM_TRAIN='$(or $(SVM_TRAIN),svm-train)' SVM_PREDICT='$(or $(SVM_PREDICT),svm-predict)' \
	$(or $(PYTHON),python3) lab/bench/run.py $(1) $(ARGS)

bench-text: build ## measure accuracy, time and memory on raw text against LinearSVC (an hour; ARGS='--only Reuters')
	$(call compare,text)

bench-libsvm: build ## measure training and prediction against LIBSVM and scikit-learn (minutes)
	$(call compare,libsvm)

bench-peers: build ## measure neighbours against sparse_dot_topn and others (minutes)
	$(call compare,peers)

bench-duplicates: build ## measure duplicates against MinHash, sparse_dot_topn and string_grouper (minutes)
	$(call compare,duplicates)

bench-large: build ## measure linear machines and landmarks against scikit-learn (an hour)
	$(call compare,large)

bench-pca: build ## measure pca against scikit-learn's KernelPCA (minutes)
	$(call compare,pca)

bench-python: build libgram ## measure gramengine against MKL, GraphBLAS, SciPy and scikit-learn-intelex (minutes)
	GRAMENGINE_LIBRARY=$(CURDIR)/bin/libgram.so $(call compare,python)

# Two stages at a time, the longest first, since each leaves a part of two processors idle. What comes before them is short
# or writes files that others compile. Each stage says what it finds and no other does.
ci: build format tidy generate-check ## everything that continuous integration runs, two stages at a time
	$(MAKE) -j2 -O vet staticcheck test race cluster-check cluster-test arm64-test cuda-check python-check portable arm64 licences campaign-short

check: format tidy vet staticcheck test portable race arm64 generate-check ## the stages that need no more than Go and a C compiler

# Layout: no tool that compiles minds it.
format: ## fail where gofmt would change something or a line written by hand has more than 120 columns
	@changed=$$(gofmt -l .); test -z "$$changed" || { echo "gofmt would change:"; echo "$$changed"; exit 1; }
	@git ls-files -co --exclude-standard '*.go' '*.cu' '*.cc' '*.h' | xargs grep -L '^// Code generated .* DO NOT EDIT\.$$' | LC_ALL=C xargs awk \
		'{ n = $$0; gsub(/[\200-\277]/, "", n) } length(n) > 120 { print FILENAME ":" FNR ": more than 120 columns"; bad = 1 } END { exit bad }'

# Requirements that are missing, or that nothing needs.
tidy: ## fail where go.mod or go.sum isn't what the imports say
	$(call each,$(GO) mod tidy -diff)

# Mistakes that compile and that no test runs into: lost cancels, copied locks, assembly whose frame isn't Go's.
vet: ## go vet
	$(call each,$(GO) vet ./...)

# Code that nothing uses, and deprecated calls.
staticcheck: ## staticcheck, at a fixed version
	$(call each,$(GO) run $(STATICCHECK) ./...)

# What builds or has its bits only with assembly, which other files stand in for here. That tests pass on the portable
# kernels test shows, which goes through all instruction sets, and arm64-test, which has no others.
portable: ## the portable kernels alone, and what models and results come of them
	$(GO) vet -tags $(PORTABLE) ./asm/...
	$(GO) test -vet=off -timeout 60m -tags $(PORTABLE) ./asm/...
	$(GO) test -vet=off -timeout 60m -tags $(PORTABLE) -run 'TestModels|TestDigests' ./cmd/gram

# Data races.
race: ## the race detector on what runs concurrently (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -vet=off -race -short -skip $(SINGLE) -timeout 60m \
		. $(call concurrent,sparse corpus tiles engine solver internal)
	CGO_ENABLED=1 $(GO) test -vet=off -race -short -timeout 60m -run $(OWN) ./cmd/gram
	cd cluster && CGO_ENABLED=1 $(GO) test -vet=off -race -short -tags nocloud -timeout 60m \
		$(call concurrent,cmd job jobs store work internal/chaos)

# What doesn't build for another processor; vet compiles all that a package needs.
arm64: ## build and vet for another processor
	GOARCH=arm64 $(GO) build -o /dev/null ./cmd/gram
	GOARCH=arm64 $(GO) vet ./...

generate: ## write the assembly of asm anew
	rm -f asm/*_amd64.s asm/*_stubs_amd64.go
	cd asm/_gen && $(GO) run .

# Assembly that was edited by hand.
generate-check: generate ## fail where the assembly in git isn't what its generator writes
	@changed=$$(git status --porcelain -- 'asm/*_amd64.s' 'asm/*_stubs_amd64.go'); test -z "$$changed" || { echo "differs from what asm/_gen writes:"; echo "$$changed"; exit 1; }

clean: ## remove what was built
	rm -rf bin dist

avx512-test: ## test the AVX-512 kernels in an emulator (minutes; says what it needs)
	@asm/_emulate/avx512.sh

# Results that stand on how amd64 rounds: arm64 fuses products and sums, and has no assembly here.
arm64-test: ## run the tests of what computes for another processor, in an emulator (needs qemu-aarch64)
	@command -v qemu-aarch64 >/dev/null || { echo "arm64-test: no qemu-aarch64; on Debian: apt-get install qemu-user" >&2; exit 1; }
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -short -timeout 60m -vet=off -skip $(READERS) -exec qemu-aarch64 $(NUMERICAL)

# Hours of kills, damage, faults and hostile input; docs/reliability.md has the figures. The solver is compared with
# LIBSVM, which is part of scikit-learn.
campaign = cd lab && PYTHON=$(PYTHON_VENV)/bin/python $(GO) test -vet=off -tags campaign $(1) ./campaign $(2) $(ARGS)

campaign: python-venv ## try for hours what the program survives, and write docs/reliability.md (ARGS='-part faults -time 1h')
	$(call campaign,-timeout 0 -run TestCampaign,-write)

# What a few seconds of each part of the campaign find.
campaign-short: python-venv ## the campaign in three minutes
	$(GO) test -vet=off -tags campaign ./tiles/atomicfile
	$(call campaign,-short -timeout 30m -skip TestPlanted)

campaign-selftest: python-venv ## plant a fault for each part of the campaign in a copy of the repository; each must be found (an hour)
	$(call campaign,-v -timeout 0 -run TestPlanted)

fuzz: ## run Go's fuzzer on each fuzz target (FUZZTIME=30s)
	@git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' ':!asm/_gen' | sed 's/:func / /' | while read -r file target; do \
		echo "$$file $$target"; (cd $$(dirname $$file) && \
		$(GO) test -vet=off -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(FUZZTIME),30s) . </dev/null) || exit; done

LIBRARY = . ./asm/... ./engine/... ./solver/... ./sparse/... ./corpus/... ./tiles/... ./internal/...

levels: ## run the library's tests with each instruction set as the highest, and on 1, 2 and 7 threads (an hour)
	for isa in generic avx2; do \
		$(GO) test -short -vet=off -ldflags "-X github.com/gramengine/gram/asm.highest=$$isa" $(LIBRARY) || exit; done
	for n in 1 2 7; do GOMAXPROCS=$$n $(GO) test -count=1 -short -vet=off $(LIBRARY) || exit; done
	GODEBUG=cpu.all=off $(GO) test -count=1 -short -vet=off $(LIBRARY)

GO_LICENSES = github.com/google/go-licenses@v1.6.0
CYCLONEDX   = github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
# licences_of FOLDER,PROGRAM prints messages, most of which are warnings, on an error alone.
define licences_of
	cd $(1) && { $(GO) run $(GO_LICENSES) check ./cmd/$(2) --ignore github.com/gramengine/gram \
		--disallowed_types=forbidden,restricted,unknown && $(GO) run $(GO_LICENSES) save ./cmd/$(2) --force \
		--ignore github.com/gramengine/gram --save_path $(CURDIR)/dist/licences/$(2); } 2>$(CURDIR)/build/licences.txt || \
		{ cat $(CURDIR)/build/licences.txt >&2; exit 1; }
endef

# A module whose licence programs that link it may not have.
licences: ## check the licences of linked modules, and save their texts in dist/licences
	@mkdir -p build
	$(call licences_of,.,gram)
	$(call licences_of,cluster,gramcluster)

sbom: build ## write a bill of materials, dist/sbom.json
	@mkdir -p dist
	$(GO) run $(CYCLONEDX) bin -json -noserial -version devel bin/gram >dist/sbom.json

vulncheck: ## look for known vulnerabilities in what is called (needs Go's database of them; no part of check)
	@for m in $(MODULES); do echo "in $$m:"; (cd $$m && $(GO) run $(GOVULNCHECK) ./...); \
		case $$? in 0) ;; 3) exit 1 ;; *) echo "vulncheck: $$m wasn't checked: is the database within reach?" >&2 ;; esac; done

python-peers: libgram ## run scikit-learn's own tests on the Python package, write docs/python-peers.md (PYTHON has scikit-learn, pytest)
	GRAMENGINE_LIBRARY=$(CURDIR)/bin/libgram.so $(or $(PYTHON),python3) python/peers.py --write docs/python-peers.md

.PHONY: test-gram test-modules ci avx512-test arm64-test vulncheck campaign campaign-short campaign-selftest fuzz levels licences sbom python-venv python-peers
