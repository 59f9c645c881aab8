# `make help` lists the targets. Variables on make's command line reach every command, so only those with a default
# are set here. GNU make 3.81 on macOS ignores .SHELLFLAGS, and therefore errors before a pipe or a semicolon.
ifneq ($(filter 3.%,$(MAKE_VERSION)),)
$(error this is make $(MAKE_VERSION): use GNU make 4 or newer; on macOS, run `brew install make` and then gmake)
endif
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

## Image of the operator
IMG ?= assay-operator:dev
## Base image of the operator's image
BASE_IMAGE ?= scratch
## Kubernetes version of the control plane
K8S_VERSION ?= $(shell sed -n 's/^const DefaultVersion = "\(.*\)"/\1/p' harness/binaries/version.go)
## Number of processes that run the integration suite
PROCS ?= 3
## Cluster for e2e: kind, kwok, existing, or auto, which selects kind if a local Docker engine is available, and kwok otherwise
E2E_PROVIDER ?= auto
export IMG BASE_IMAGE K8S_VERSION PROCS E2E_PROVIDER
# Ignore a go.work file in a parent directory of the checkout.
export GOWORK := off
# The operator's image needs a static binary. With the same setting everywhere, Go compiles each dependency once.
export CGO_ENABLED ?= 0
comma := ,
# Each tool is pinned in its own module, so that tools do not change the versions of each other's dependencies. Ginkgo
# is in the root module, because its command and library must have the same version.
tool           = go tool -modfile="$(CURDIR)/scripts/tools/$(if $(2),$(1)/)go.mod" $(1)
CONTROLLER_GEN := $(call tool,controller-gen)
KUSTOMIZE      := $(call tool,kustomize)
GOTESTSUM      := $(call tool,gotestsum,own)
GINKGO         := go tool ginkgo
KUBECTL        = "$$(command -v kubectl || echo "$$(bin/assay control-plane --binaries kubectl)/kubectl")"

# Get the control plane first, so that building it for minutes does not count toward a test's timeout.
WITH_CONTROL_PLANE = KUBEBUILDER_ASSETS=$$(bin/assay control-plane --binaries etcd,kube-apiserver,kube-controller-manager) || exit; export KUBEBUILDER_ASSETS
# The controlplane package and the suites have no unit tests.
UNIT_TESTS         = $$(comm -23 <(go list ./... | grep -vE '/(controlplane|test/(integration|e2e|faults|nightly/(soak|upgrade)))$$' | sort) <($(if $(WITH_HARNESS),go list $(NOT_SHORT) | sort,:)))
NOT_SHORT          = $$(grep -rl --include='*_test.go' 'testing\.Short()' cmd harness scripts test | xargs -n1 dirname | sort -u | sed 's,^,./,' | grep -vE '/test/(integration|faults)$$|/testdata/')
# The race detector is written in C.
RACE_FLAG          = $(and $(RACE),$(shell command -v "$$(go env CC)" >/dev/null && echo -race))
# A focused run starts its control plane while the suite compiles.
START_EARLY        = $(if $(FOCUS),exec 3> >(bin/assay control-plane keep --count=1 --until-eof >/dev/null 2>&1);)
# Without inlining, the suite compiles in half the time.
INTEGRATION        = $(if $(RACE_FLAG),export CGO_ENABLED=1;) { [ -t 1 ] && [ -z "$${NO_COLOR:-}" ]; } || export GINKGO_NO_COLOR=TRUE; \
  exec $(GINKGO) run --vet=off --ldflags="-s -w" --gcflags=-l --fail-on-empty $(if $(FOCUS),--focus="(?i)$(FOCUS)") --output-dir=_artifacts/integration --junit-report=junit.xml

# For short-lived control planes and operators, memory is cheaper than time.
test-harness test-integration test-faults test-mutants: export GOGC ?= 400

# No target is a file.
.PHONY: bin/assay $(shell sed -n 's/^\([a-z0-9-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

##@ General

help: ## Show this list
	@awk '/^##@ / { print "\n" substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { split($$0, part, /:.*## /); printf "  %-18s %s\n", part[1], part[2] } \
	  /^## / { about = substr($$0, 4) } \
	  /^[A-Z0-9_]+ \?=/ { variables = variables sprintf("  %-18s %s (%s)\n", $$1, about, ENVIRON[$$1]) } \
	  END { printf "\nVariables\n%s", variables }' $(firstword $(MAKEFILE_LIST))

clean: ## Remove bin and _artifacts, but not the cached control plane binaries
	@rm -rf bin _artifacts

##@ Development

# controller-gen takes seconds, so it runs only if its version, its flags, its input or its output has changed.
GENERATION = { cat Makefile go.mod scripts/tools/go.mod; $(GENERATED); grep -rh --include='*.go' '+kubebuilder' operator | sort; } | cksum
generate: ## Generate DeepCopy methods, CRDs and roles from the API types and markers
	@[ "$$($(GENERATION))" = "$$(cat bin/generation 2>/dev/null)" ] || { $(CONTROLLER_GEN) paths=./operator/... object \
	  crd output:crd:dir=operator/config/crd/bases rbac:roleName=manager-role output:rbac:dir=operator/config/rbac; \
	  mkdir -p bin; $(GENERATION) >bin/generation; }
manifests: generate ## Same as generate

pictures: ## Update the screenshots in docs; requires Chromium
	@PICTURES=1 go test -count=1 -run '^TestPicturesAreCurrent$$' ./harness/report/page
fmt: ## Format the code
	@$(call tool,golangci-lint,own) fmt
vet: ## Run go vet
	@go vet ./...
lint: ## Run golangci-lint, logcheck, actionlint and shellcheck
	@scripts/lint.sh

##@ Test

# test-harness also runs the unit tests of its packages, but without the race detector.
test: WITH_HARNESS = $(if $(RACE_FLAG),,1)
test: test-unit test-harness test-manifests test-integration ## Run the unit, harness, manifest and integration tests

test-unit: ## Run the tests that need no processes and no control plane (RACE=1: with the race detector)
	@$(if $(RACE_FLAG),CGO_ENABLED=1) KUBEBUILDER_ASSETS=/nonexistent $(GOTESTSUM) --format=pkgname-and-test-fails --junitfile=_artifacts/unit/junit.xml -- \
	  -short -vet=off $(RACE_FLAG) -timeout=5m $(UNIT_TESTS)

# The tests mostly wait, so four packages at a time do not slow each other down.
test-harness: bin/assay ## Run the harness tests that need a control plane
	@$(WITH_CONTROL_PLANE); $(GOTESTSUM) --format=pkgname-and-test-fails --junitfile=_artifacts/harness/junit.xml -- \
	  -p=4 -vet=off -timeout=60m $(NOT_SHORT)

test-manifests: manifests bin/assay ## Validate the manifests with an API server
	@echo "manifests  dry run on Kubernetes $(K8S_VERSION)"
	@mkdir -p bin/manifests; for what in default samples; do $(KUSTOMIZE) build "operator/config/$$what" >"bin/manifests/$$what.yaml" || exit; done
	@bin/assay control-plane run -- scripts/dry-run.sh bin/manifests/default.yaml bin/manifests/samples.yaml

# After Ctrl-C, the ginkgo command waits for the cleanup, but `go test` does not.
test-integration: generate manifests bin/assay ## Run the integration suite against a real control plane (FOCUS=, COVER=1, RACE=1)
	@$(WITH_CONTROL_PLANE); $(START_EARLY) $(INTEGRATION) -r --procs=$(if $(FOCUS),1,"$$PROCS") --randomize-all --timeout=20m --label-filter='!outage' \
	  $(RACE_FLAG) $(if $(COVER),--cover --covermode=atomic --coverpkg=./operator/... --coverprofile=coverage.txt) ./test/integration

test-outage: generate manifests bin/assay ## Kill the control plane during every scenario
	@$(WITH_CONTROL_PLANE); $(INTEGRATION) --timeout=20m --label-filter=outage ./test/integration

# The compiled test prints its progress. `go test` prints nothing before the end.
test-faults: generate manifests bin/assay ## Run the scenarios under a selection of faults (ALL=1: all faults; PLAN='…', SEED=, WALK_SEED=, SINCE=)
	@go test -c -o bin/faults.test ./test/faults
	@$(WITH_CONTROL_PLANE); cd test/faults && exec ../../bin/faults.test -test.v -test.timeout=50m $(if $(PLAN),-test.run=TestPlans)

# Mutants that survive the unit tests of their package run against the integration suite, beginning with the fast files.
test-mutants: bin/assay ## Add bugs to the operator, and check that a test fails for each bug (SINCE=, FOCUS=, MUTATE=)
	@suite='go test -vet=off -count=1 -timeout=10m ./test/integration -ginkgo.fail-fast -ginkgo.label-filter=!outage'; slow='(deletion|drift|obstacles|webhook)_test'; \
	  $(WITH_CONTROL_PLANE); go build -o bin/mutants ./scripts/mutants && exec bin/mutants -since="$(SINCE)" -focus="$(FOCUS)" $(or $(MUTATE), \
	  -suite="$$suite -ginkgo.skip-file='$$slow'" -suite="$$suite -ginkgo.focus-file='$$slow'" ./operator/controller ./operator)

test-naive: bin/assay ## Check that the explorer still finds the bugs of an operator with known bugs
	@$(WITH_CONTROL_PLANE); ASSAY="$(CURDIR)/bin/assay" go test -count=1 -v -timeout=30m -run='^TestExplorerFindsFailures$$' ./test/fixtures/naive
test-upgrade: generate manifests bin/assay ## Upgrade from an earlier revision of the operator, and downgrade again (PREVIOUS=revision)
	@scripts/previous.sh "$(PREVIOUS)" bin/previous bin/today
	@$(WITH_CONTROL_PLANE); ASSAY_PREVIOUS="$(CURDIR)/bin/previous" go test -count=1 -v -timeout=20m ./test/nightly/upgrade
soak: manifests bin/assay ## Run one operator under faults for a long time, and check that its resource usage does not grow (SOAK=10m)
	@rm -rf bin/soak _artifacts/soak && mkdir -p bin/soak && go build -o bin/soak/manager ./operator
	@$(WITH_CONTROL_PLANE); SOAK="$(or $(SOAK),10m)" go test -count=1 -v -timeout=0 ./test/nightly/soak

e2e: generate manifests ## Run the scenarios with the compiled operator in a whole cluster (FOCUS=, E2E_KEEP=failed)
	@go test -c -o bin/e2e.test ./test/e2e
	@cd test/e2e && IMG="$(if $(filter-out file,$(origin IMG)),$(IMG))" exec ../../bin/e2e.test

bench: generate manifests ## Measure the operator on KWOK, and compare it with an ideal client (BENCH_N=, OPERATOR=binary)
	@go test -c -o bin/bench.test ./test/nightly/bench
	@cd test/nightly/bench && BENCH_N="$(or $(BENCH_N),100$(comma)1000)" OPERATOR="$(abspath $(OPERATOR))" exec ../../../bin/bench.test -test.timeout=0

e2e-up: bin/assay ## Create a cluster that e2e reuses until e2e-down
	@bin/assay cluster up
e2e-down: bin/assay ## Delete the cluster that e2e-up created
	@bin/assay cluster down
control-plane: bin/assay ## Download or build the control plane binaries
	@bin/assay control-plane
node-image: bin/assay ## Build a kind node image from source
	@bin/assay node-image
flake: bin/assay ## Run SUITES N times, and report how often each test fails
	@scripts/flake.sh
test-next: ## Run the tests on the next Kubernetes minor version if it is published
	@scripts/next-kubernetes.sh
summary: bin/assay ## Print a Markdown summary of the suite results, or add it to the run's page on GitHub
	@bin/assay report --markdown --title "Kubernetes $(K8S_VERSION)" >>"$${GITHUB_STEP_SUMMARY:-/dev/stdout}"

# Even if nothing has changed, go build takes half a second.
bin/assay:
	@$@ --version >/dev/null 2>&1 && [ -z "$$(find cmd harness go.mod go.sum -newer $@)" ] || { go build -ldflags="-s -w" -o $@ ./cmd/assay && touch $@; }

##@ Gate

verify: verify-generated verify-modules ## Check that generated files and modules are up to date

GENERATED = find operator/api operator/config -type f -exec cksum {} + | sort -k3
verify-generated:
	@before=$$($(GENERATED)); $(MAKE) generate manifests; diff <(echo "$$before") <($(GENERATED)) || \
	  { echo "generated files were out of date: commit the changes of \`make generate manifests\`" >&2; exit 1; }

verify-modules:
	@for module in go.mod scripts/tools/go.mod scripts/tools/*/go.mod; do \
	  go -C "$$(dirname "$$module")" mod tidy -diff || { echo "$$module is not tidy: run \`go mod tidy\` in its directory" >&2; exit 1; }; \
	done

vulncheck: ## Look for known vulnerabilities in called code; requires access to vuln.go.dev
	@$(call tool,govulncheck,own) ./...

##@ Build and release

build: generate manifests ## Build the operator as bin/manager
	@go build -trimpath -ldflags="-s -w" -o bin/manager ./operator
run: generate manifests cluster ## Run the operator locally against the cluster in the kubeconfig
	@go run ./operator
docker-build: docker ## Build the operator's image as IMG
	@GOOS=linux $(MAKE) build
	@docker build --quiet --build-arg BASE_IMAGE=$(BASE_IMAGE) --tag $(IMG) --file operator/Dockerfile .
prober-image: docker ## Build the prober's image as PROBER_IMG, for e2e on an existing cluster
	$(if $(PROBER_IMG),,$(error set PROBER_IMG to a name that the cluster can pull))
	@GOOS=linux go build -trimpath -ldflags="-s -w" -o bin/prober/prober ./test/fixtures/prober
	@docker build --quiet --tag $(PROBER_IMG) --file test/fixtures/images/prober/Dockerfile bin/prober

docker-push: docker ## Push IMG
	@docker push $(IMG)
docker:
	@docker version >/dev/null 2>&1 || { echo "no Docker engine is available: start one, or see \`docker version\`" >&2; exit 1; }

release-dry-run: generate manifests ## Build the content of a release without publishing it
	@scripts/release.sh build
release: ## Push and sign the image from release-dry-run, and draft a GitHub release
	@scripts/release.sh draft
release-publish: ## Publish the draft GitHub release
	@gh release edit "$(VERSION)" --draft=false

##@ Deployment

install: manifests cluster ## Install the CRDs in the cluster in the kubeconfig
	@$(KUSTOMIZE) build operator/config/crd | $(KUBECTL) apply --server-side -f -
uninstall: cluster ## Delete the CRDs, including all of their resources
	@$(KUSTOMIZE) build operator/config/crd | $(KUBECTL) delete --ignore-not-found -f -
# Set the image in an overlay that git ignores, so that no tracked file changes.
deploy: manifests cluster ## Install the CRDs and the operator with image IMG
	@rm -rf bin/deploy && mkdir -p bin/deploy
	@cd bin/deploy && $(KUSTOMIZE) create --resources ../../operator/config/default && $(KUSTOMIZE) edit set image controller=$(IMG)
	@$(KUSTOMIZE) build bin/deploy | $(KUBECTL) apply --server-side -f -
undeploy: cluster ## Delete the operator and the CRDs, including all of their resources
	@$(KUSTOMIZE) build operator/config/default | $(KUBECTL) delete --ignore-not-found -f -

cluster: bin/assay
	@$(KUBECTL) version --request-timeout=10s >/dev/null 2>&1 || \
	  { echo "no cluster is available: point KUBECONFIG or the current context at one, see \`kubectl version\`" >&2; exit 1; }
