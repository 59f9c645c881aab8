# Everything that this repository does. `make help` lists it.

# make 3.81, which macOS has, ignores .SHELLFLAGS, and with it the errors in front of a pipe or a semicolon.
ifneq ($(filter 3.%,$(MAKE_VERSION)),)
$(error this is make $(MAKE_VERSION): use GNU make 4 or newer, on macOS by `brew install make` and gmake)
endif

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

## The operator's image, which docker-build makes and deploy runs
IMG ?= assay-operator:dev
## What the operator's image is built on
BASE_IMAGE ?= scratch
## The Kubernetes version of the control plane that integration tests run
K8S_VERSION ?= $(shell sed -n 's/^const DefaultVersion = "\(.*\)"/\1/p' harness/binaries/version.go)
## Narrows test-integration, e2e and test-mutants to what has a name that matches this regular expression
FOCUS ?=
## How many processes share test-integration, or mutants are tried at a time, each with a control plane of its own
PROCS ?= 2
## Where e2e runs: kind, kwok, existing, or auto, which is kind where a Docker engine answers and else kwok
E2E_PROVIDER ?= auto
## The context of the kubeconfig that e2e may use, with E2E_PROVIDER=existing
E2E_CONTEXT ?=
## The name of the cluster that e2e makes
E2E_CLUSTER ?= assay
## How many nodes that cluster has; empty: 1 on kind, 2 on kwok
E2E_NODES ?=
## The image of kind's nodes; empty: the published one, or else one from source
E2E_NODE_IMAGE ?=
## Whether e2e keeps the cluster that it made: never, failed or always
E2E_KEEP ?= never
## 1: on kind or an existing cluster, e2e also plays the scenarios that it otherwise leaves to KWOK
E2E_ALL ?=
## The prober's image for E2E_PROVIDER=existing, which pulls it and IMG by itself
PROBER_IMG ?=
## 1 has test-integration and e2e count which statements of the operator run
COVER ?=
## A binary of the operator that bench measures instead of this tree's
OPERATOR ?=
## Plans that test-faults plays again, as failures print them, with a ; in between
PLAN ?=
## A revision of git: test-mutants tries only mutants in lines that differ from it
SINCE ?=
## By how many specs test-mutants tries an invented mutant at the most; empty: by all that reach it
SPECS ?=
## unit has test-mutants try invented mutants only by tests that need no control plane
TESTS ?=
## Another package than the operator's, such as harness/oracle, whose mutants test-mutants tries by its own tests; or operator/config, the manifests alone
MUTATE ?=
## The revision of git whose operator test-upgrade begins with; empty: the last tag
PREVIOUS ?=
## How long soak has the operator work, such as 10m
SOAK ?= 10m
## What test-faults chooses by, where not every plan is played
SEED ?=
## The first seed of the random walks of test-faults, a number from 1 on, or random; empty: 1
WALK_SEED ?=
## With how many resources bench measures, each number for itself, with commas in between
BENCH_N ?= 100,1000
## Of which kinds: memcached, webserver, or both with a comma in between
BENCH_KIND ?= memcached
## How often flake repeats its suites
N ?= 10
## The suites that flake repeats, which are targets of make
SUITES ?= test-integration e2e
## The version that is released; empty: what git describes
VERSION ?=
## The image's name, without its version, that is released
RELEASE_IMAGE ?= ghcr.io/operator-assay/assay-operator

export IMG BASE_IMAGE K8S_VERSION FOCUS PROCS COVER PROBER_IMG N SUITES VERSION RELEASE_IMAGE
export OPERATOR PLAN SEED WALK_SEED SINCE SPECS TESTS MUTATE
export BENCH_N BENCH_KIND
export E2E_PROVIDER E2E_CONTEXT E2E_CLUSTER E2E_NODES E2E_NODE_IMAGE E2E_KEEP E2E_ALL

# The operator's image wants a static binary. If all else is built alike, Go compiles each dependency once.
export CGO_ENABLED ?= 0

# Tools are pinned by modules of their own, and run from Go's build cache. Ginkgo comes from the
# root module, because its command and its library must be of one version.
TOOL           := go tool -modfile="$(CURDIR)/scripts/tools/go.mod"
CONTROLLER_GEN := $(TOOL) controller-gen
KUSTOMIZE      := $(TOOL) kustomize
LOGCHECK       := $(TOOL) logcheck
# The others are in modules of their own, so that none decides of another's dependencies.
tool_of         = go tool -modfile="$(CURDIR)/scripts/tools/$(1)/go.mod" $(1)
GOLANGCI_LINT  := $(call tool_of,golangci-lint)
ACTIONLINT     := $(call tool_of,actionlint)
GOVULNCHECK    := $(call tool_of,govulncheck)
KO             := $(call tool_of,ko)
GINKGO         := go tool ginkgo
KUBECTL        = $$(command -v kubectl || echo "$$(bin/assay control-plane)/kubectl")

# Tests find the binaries where envtest looks for them. Getting them first keeps a build that takes
# minutes out of a test's time.
WITH_CONTROL_PLANE = KUBEBUILDER_ASSETS=$$(bin/assay control-plane) || exit; export KUBEBUILDER_ASSETS

# Every target is one of make's alone, and no file.
.PHONY: bin/assay bin/mutants $(shell sed -n 's/^\([a-z0-9-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

##@ General

help: ## Show this list
	@name= title= plain=; \
	  if [ -t 1 ] && [ -z "$${NO_COLOR:-}" ]; then name='\033[36m' title='\033[1m' plain='\033[0m'; fi; \
	  awk -v n="$$name" -v t="$$title" -v p="$$plain" '\
	  function row(term, about) { return sprintf("  %s%-18s%s %s\n", n, term, p, about) } \
	  BEGIN { print "\nUsage: make " n "<target>" p " [VARIABLE=value ...]" } \
	  /^##@ / { print "\n" t substr($$0, 5) p } \
	  /^[a-z0-9-]+:.*## / { split($$0, part, /:.*## /); printf "%s", row(part[1], part[2]) } \
	  /^## / { about = substr($$0, 4) } \
	  /^[A-Z0-9_]+ \?=/ { variables = variables row($$1, about " (" (ENVIRON[$$1] == "" ? "empty" : ENVIRON[$$1]) ")") } \
	  END { print "\n" t "Variables" p "\n" variables }' $(firstword $(MAKEFILE_LIST))

clean: ## Remove what make has built here; the store of control-plane binaries stays
	@rm -rf bin _artifacts
	@echo "removed bin and _artifacts"

##@ Development

generate: ## Generate the API types' DeepCopy methods
	@echo "generate   operator/api"
	@$(CONTROLLER_GEN) object paths=./operator/api/...

manifests: ## Generate the CRDs and the RBAC roles from their markers
	@echo "manifests  operator/config/crd/bases, operator/config/rbac"
	@$(CONTROLLER_GEN) paths=./operator/... \
	  crd output:crd:dir=operator/config/crd/bases \
	  rbac:roleName=manager-role output:rbac:dir=operator/config/rbac

pictures: ## Make the pictures of the documents; it needs Chromium
	@scripts/pictures.sh

fmt: ## Format the code
	@echo "fmt        ./..."
	@$(GOLANGCI_LINT) fmt

vet: ## Run go vet
	@echo "vet        ./..."
	@go vet ./...

SHELL_SCRIPTS = .ci/run $$(find scripts test -name '*.sh') harness/images/node/root/usr/local/bin/*

lint: ## Run golangci-lint, logcheck, actionlint and shellcheck; the first run builds them, which takes minutes
	@echo "lint       golangci-lint"
	@$(GOLANGCI_LINT) run
	@echo "lint       logcheck"
	@$(LOGCHECK) ./...
	@echo "lint       actionlint"
	@$(ACTIONLINT)
	@echo "lint       shellcheck"
	@if command -v shellcheck >/dev/null; then shellcheck --shell=bash $(SHELL_SCRIPTS); \
	  else echo "shell scripts, also those in workflows, are not checked: install shellcheck" >&2; fi

##@ Test

test: test-unit test-manifests test-integration ## Run the unit tests, the manifests' and the integration tests

test-unit: export BENCH_N := # without which test/nightly/bench measures nothing
test-unit: bin/assay ## Run every test that is in no suite; the harness's own want a control plane
	@$(WITH_CONTROL_PLANE); packages=$$(go list ./...) || exit; \
	  go test -timeout=20m $$(grep -vE '/test/(integration|e2e|faults)$$' <<<"$$packages")

test-manifests: manifests bin/assay ## Have an API server judge the manifests
	@echo "manifests  dry run on Kubernetes $(K8S_VERSION)"
	@mkdir -p bin/manifests
	@for what in default samples; do $(KUSTOMIZE) build "operator/config/$$what" >"bin/manifests/$$what.yaml" || exit; done
	@bin/assay control-plane run -- scripts/dry-run.sh bin/manifests/default.yaml bin/manifests/samples.yaml

# Ginkgo's own command, because Ctrl-C makes its suites clean up and it waits for them: nothing is left
# running. `go test` does not wait.
test-integration: generate manifests bin/assay ## Run the integration suites against a real control plane
	@$(WITH_CONTROL_PLANE); { [ -t 1 ] && [ -z "$${NO_COLOR:-}" ]; } || export GINKGO_NO_COLOR=TRUE; \
	  exec $(GINKGO) run -r --procs="$$PROCS" --randomize-all --fail-on-empty --timeout=20m --focus="$$FOCUS" --label-filter='!outage' \
	    --output-dir=_artifacts/integration --junit-report=junit.xml \
	    $(if $(COVER),--cover --covermode=atomic --coverpkg=./operator/... --coverprofile=coverage.txt) ./test/integration

test-outage: generate manifests bin/assay ## Kill the control plane in the middle of every scenario
	@$(WITH_CONTROL_PLANE); { [ -t 1 ] && [ -z "$${NO_COLOR:-}" ]; } || export GINKGO_NO_COLOR=TRUE; \
	  exec $(GINKGO) run --fail-on-empty --timeout=20m --focus="$$FOCUS" --label-filter=outage --output-dir=_artifacts/integration --junit-report=junit.xml ./test/integration

# The race detector is written in C.
test-race: generate manifests bin/assay ## Run the operator's unit tests, the integration tests and the walks under the race detector
	@command -v $$(go env CC) >/dev/null || { echo "the race detector is SKIPPED: there is no C compiler $$(go env CC)"; exit 0; }; \
	  export CGO_ENABLED=1; go test -race ./operator/...; \
	  $(WITH_CONTROL_PLANE); $(GINKGO) run -r --race --procs="$$PROCS" --randomize-all --fail-on-empty --timeout=40m --focus="$$FOCUS" --label-filter='!outage' \
	    --output-dir=_artifacts/race --junit-report=junit.xml ./test/integration; \
	  go test -race -c -o bin/faults-race.test ./test/faults; \
	  cd test/faults && exec ../../bin/faults-race.test -test.v -test.run=TestWalks -test.timeout=50m

# The test binary itself rather than `go test`, which would show nothing before the end. Its time is up before that
# of its jobs in the workflows, so that it says where it hangs.
# For hundreds of short lives memory is cheaper than time.
test-faults: export GOGC := 400
test-faults: generate manifests bin/assay ## Run the scenarios under every fault that can befall the operator
	@echo "build      bin/faults.test"
	@go test -c -o bin/faults.test ./test/faults
	@$(WITH_CONTROL_PLANE); cd test/faults && exec ../../bin/faults.test -test.v -test.timeout=50m $(if $(PLAN),-test.run=TestPlans)

# Without the variable ASSAY the test plays nothing: it is among the packages of test-unit.
test-naive: bin/assay ## Explore an operator with planted bugs where it has failed before: red if a plan passes
	@$(WITH_CONTROL_PLANE); ASSAY="$(CURDIR)/bin/assay" go test -count=1 -v -timeout=30m -run='^TestEachFailureIsFoundAgain$$' ./test/fixtures/naive

test-upgrade: generate manifests bin/assay ## Run today's operator on what a previous one has made, and the previous one on today's
	@scripts/previous.sh "$(PREVIOUS)" bin/previous
	@rm -rf bin/today _artifacts/upgrade && mkdir -p bin/today && go build -o bin/today/manager ./operator
	@cp -r operator/config/crd/bases bin/today/crds && cp operator/config/rbac/role.yaml bin/today
	@$(WITH_CONTROL_PLANE); ASSAY_PREVIOUS="$(CURDIR)/bin/previous" go test -count=1 -v -timeout=20m ./test/nightly/upgrade

# Without the variable test/nightly/soak tests nothing: it is among the packages of test-unit.
soak: manifests bin/assay ## Have one operator work for long under faults, and see that it needs no more than at first
	@rm -rf bin/soak _artifacts/soak && mkdir -p bin/soak && go build -o bin/soak/manager ./operator
	@$(WITH_CONTROL_PLANE); SOAK="$(SOAK)" go test -count=1 -v -timeout=0 ./test/nightly/soak

test-mutants: bin/assay bin/mutants ## Put bugs into the operator and see that the tests notice each
	@$(WITH_CONTROL_PLANE); exec bin/mutants

# The test binary itself rather than `go test`, which would not wait for what Ctrl-C makes it clean up.
e2e: generate manifests ## Run the scenarios against the built operator in a whole cluster
	@echo "build      bin/e2e.test"
	@go test -c -o bin/e2e.test ./test/e2e
	@cd test/e2e && IMG="$(if $(filter-out file,$(origin IMG)),$(IMG))" exec ../../bin/e2e.test

# The test binary itself, as for e2e.
bench: generate manifests ## Measure the operator on KWOK, beside an ideal client; times are told, counts have budgets
	@echo "build      bin/bench.test"
	@go test -c -o bin/bench.test ./test/nightly/bench
	@cd test/nightly/bench && OPERATOR="$(abspath $(OPERATOR))" exec ../../../bin/bench.test -test.timeout=0

e2e-up: bin/assay ## Make a cluster that e2e uses until e2e-down
	@bin/assay cluster up

e2e-down: bin/assay ## Remove the cluster that e2e-up made
	@bin/assay cluster down

coverage: ## Sum up what test-integration and e2e covered when they last ran with COVER=1
	@scripts/coverage.sh

control-plane: bin/assay ## Get the binaries that the integration tests run
	@bin/assay control-plane

node-image: bin/assay ## Build an image of kind's nodes from source, for where none can be pulled
	@bin/assay node-image

flake: bin/assay ## Repeat SUITES N times, and report how often each test fails
	@scripts/flake.sh

# On GitHub the job's other steps learn of the version, so that its summary names that. Its Go is set up so that it
# fetches no other, which a new minor may need.
test-next: ## Run the tests on the next minor of Kubernetes, if one is published
	@next=$$(scripts/next-kubernetes.sh) || exit; \
	  [ -n "$$next" ] || { echo "no Kubernetes after $(K8S_VERSION) is published yet"; exit 0; }; \
	  [ -z "$${GITHUB_ENV:-}" ] || echo "K8S_VERSION=$$next" >>"$$GITHUB_ENV"; \
	  GOTOOLCHAIN=auto $(MAKE) test K8S_VERSION="$$next"

report: bin/assay ## Write one page of the results that the suites have left, _artifacts/report.html
	@bin/assay report

summary: bin/assay ## Summarize those results as Markdown, on GitHub on the run's page, with marks at failed lines
	@[ -z "$${GITHUB_ACTIONS:-}" ] || [ ! -d _artifacts ] || bin/assay report --annotations
	@{ bin/assay report --markdown --title "Kubernetes $(K8S_VERSION)"; cat _artifacts/{flake/rates,mutants/verdicts}.md 2>/dev/null || true; } \
	  >>"$${GITHUB_STEP_SUMMARY:-/dev/stdout}"

# Binaries rather than `go run`, which adds a line to every error.
bin/assay:
	@go build -o $@ ./cmd/assay
bin/mutants:
	@go build -o $@ ./scripts/mutants

##@ Gate

verify: verify-generated verify-modules verify-pictures ## Check that generated files, modules and pictures are up to date

verify-pictures: ## Check that the screenshots in docs/ show the report as it is now
	@echo "pictures   docs/pictures"
	@scripts/pictures.sh --check

GENERATED = find operator/api operator/config -type f -exec cksum {} + | sort -k3

verify-generated: ## Check that generated files are up to date; those that are not are then
	@before=$$($(GENERATED)); \
	  $(MAKE) generate manifests; \
	  diff <(echo "$$before") <($(GENERATED)) || \
	  { echo "generated files were out of date: commit what \`make generate manifests\` has changed" >&2; exit 1; }

verify-modules: ## Check that go.mod and go.sum say what the code and the tools need
	@for module in go.mod scripts/tools/go.mod scripts/tools/*/go.mod; do \
	  echo "tidy       $$module"; \
	  go -C "$$(dirname "$$module")" mod tidy -diff || { echo "$$module is not tidy: run \`go mod tidy\` beside it" >&2; exit 1; }; \
	done

vulncheck: ## Look for known vulnerabilities in what the code calls; it asks vuln.go.dev
	@$(GOVULNCHECK) ./...

##@ Build

build: generate manifests ## Build the operator, bin/manager
	@echo "build      bin/manager"
	@go build -trimpath -ldflags="-s -w" -o bin/manager ./operator

run: generate manifests cluster ## Run the operator from here against the cluster of the kubeconfig
	@go run ./operator

docker-build: docker generate manifests ## Build the operator's image, IMG
	@echo "image      $(IMG) on $(BASE_IMAGE)"
	@GOOS=linux go build -trimpath -ldflags="-s -w" -o bin/manager ./operator
	@docker build --quiet --build-arg BASE_IMAGE=$(BASE_IMAGE) --tag $(IMG) --file operator/Dockerfile .

prober-image: docker ## Build the prober's image, PROBER_IMG, for e2e on a cluster that exists
	@[ -n "$(PROBER_IMG)" ] || { echo "set PROBER_IMG to a name that the cluster can pull" >&2; exit 1; }
	@echo "image      $(PROBER_IMG)"
	@GOOS=linux go build -trimpath -ldflags="-s -w" -o bin/prober/prober ./test/fixtures/prober
	@docker build --quiet --tag $(PROBER_IMG) --file test/fixtures/images/prober/Dockerfile bin/prober

docker-push: docker ## Push the operator's image, IMG
	@docker push $(IMG)

docker:
	@docker version >/dev/null 2>&1 || { echo "no Docker engine answers: start one, or see \`docker version\`" >&2; exit 1; }

##@ Release

RELEASE         := _artifacts/release
RELEASE_VERSION  = $(or $(VERSION),$(shell git describe --tags --always --dirty))

release-dry-run: generate manifests ## Make all of a release, and publish nothing
	@rm -rf $(RELEASE) bin/release && mkdir -p $(RELEASE) bin/release/install
	@echo "image      $(RELEASE_IMAGE):$(RELEASE_VERSION)"
	@base=$$(scripts/empty-image.sh bin/release/cache amd64 arm64); \
	  KOCACHE=bin/release/cache KO_DEFAULTBASEIMAGE="$$base" KO_DOCKER_REPO="$(RELEASE_IMAGE)" SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
	  $(KO) build --bare --push=false --platform=linux/amd64,linux/arm64 --ldflags="-s -w" --image-user=65532:65532 \
	    --image-label=org.opencontainers.image.licenses=Apache-2.0 \
	    --image-label=org.opencontainers.image.revision=$$(git rev-parse HEAD) \
	    --image-label="org.opencontainers.image.version=$(RELEASE_VERSION)" \
	    --sbom-dir=$(RELEASE) --oci-layout-path=bin/release/image ./operator 2>bin/release/ko.log | cut -d@ -f2 >bin/release/digest || \
	    { cat bin/release/ko.log >&2; exit 1; }
	@tar --create --file $(RELEASE)/image.oci.tar --sort=name --mtime=@0 --owner=0 --group=0 --mode=u=rwX,go=rX --directory bin/release/image \
	  oci-layout index.json blobs
	@echo "install    $(RELEASE_IMAGE)@$$(cat bin/release/digest)"
	@cd bin/release/install && $(KUSTOMIZE) create --resources ../../../operator/config/default && \
	  $(KUSTOMIZE) edit set image "controller=$(RELEASE_IMAGE)@$$(cat ../digest)"
	@$(KUSTOMIZE) build bin/release/install >$(RELEASE)/install.yaml
	@cd $(RELEASE) && sha256sum -- * >SHA256SUMS && cat SHA256SUMS

# By tools that stand on GitHub's machines, or are set up there: skopeo, cosign and gh. Whatever it has done, it can
# do again: nobody sees the draft until the provenance is there, too.
release: ## Push the image that release-dry-run has made, sign, and draft a GitHub release
	@git merge-base --is-ancestor "$(RELEASE_VERSION)" origin/main || { echo "$(RELEASE_VERSION) is not on origin/main as this clone knows it: merge it first, or fetch all history" >&2; exit 1; }
	@cd $(RELEASE) && sha256sum --check --quiet SHA256SUMS
	@mkdir -p bin
	@skopeo copy --all --preserve-digests --digestfile bin/digest oci-archive:$(RELEASE)/image.oci.tar "docker://$(RELEASE_IMAGE):$(RELEASE_VERSION)"
	@grep -qF "$(RELEASE_IMAGE)@$$(cat bin/digest)" $(RELEASE)/install.yaml || { echo "the image that was pushed is not that of install.yaml" >&2; exit 1; }
	@cosign sign --yes "$(RELEASE_IMAGE)@$$(cat bin/digest)"
	@cosign sign-blob --yes --bundle $(RELEASE)/SHA256SUMS.sigstore.json $(RELEASE)/SHA256SUMS
	@gh release view "$(RELEASE_VERSION)" >/dev/null 2>&1 || \
	  gh release create "$(RELEASE_VERSION)" --draft --verify-tag --generate-notes $(if $(findstring -,$(RELEASE_VERSION)),--prerelease)
	@gh release upload "$(RELEASE_VERSION)" --clobber $(RELEASE)/*
	@[ -z "$${GITHUB_OUTPUT:-}" ] || echo "digest=$$(cat bin/digest)" >>"$$GITHUB_OUTPUT"

release-publish: ## Show the GitHub release that release has drafted to everybody
	@gh release edit "$(RELEASE_VERSION)" --draft=false

##@ Deployment

install: manifests cluster ## Install the CRDs into the cluster of the kubeconfig
	@$(KUSTOMIZE) build operator/config/crd | $(KUBECTL) apply --server-side -f -

uninstall: cluster ## Remove the CRDs, and with them every resource of their kinds
	@$(KUSTOMIZE) build operator/config/crd | $(KUBECTL) delete --ignore-not-found -f -

# The image is set in an overlay that git ignores, never in a tracked file.
deploy: manifests cluster ## Install the CRDs and the operator, which runs as a Pod of IMG
	@rm -rf bin/deploy && mkdir -p bin/deploy
	@cd bin/deploy && $(KUSTOMIZE) create --resources ../../operator/config/default && \
	  $(KUSTOMIZE) edit set image controller=$(IMG)
	@$(KUSTOMIZE) build bin/deploy | $(KUBECTL) apply --server-side -f -

undeploy: cluster ## Remove the operator and the CRDs
	@$(KUSTOMIZE) build operator/config/default | $(KUBECTL) delete --ignore-not-found -f -

cluster: bin/assay
	@$(KUBECTL) version --request-timeout=10s >/dev/null 2>&1 || \
	  { echo "no cluster answers: point KUBECONFIG or the current context at one, see \`kubectl version\`" >&2; exit 1; }
