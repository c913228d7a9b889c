# Everything that a person or a build does here. `make demo` and `make test` set themselves up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Many tests wait for a server or for a process: twice as many as there are cores keep these busy.
TESTERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')

# Tests and benchmarks start hundreds of processes, none of which should compile our modules again.
export PYTHONDONTWRITEBYTECODE :=
# The servers that tests start collect garbage half as often, which saves processor time.
test test-all: export GOGC := 200

.DEFAULT_GOAL := help
.PHONY: help demo example brokers collector test test-all soak soak-brokers soak-events soak-watched record mutants check check-style check-types check-mypy check-pyright check-layers format site package lock digests release bench bench-scale clean

help:  ## show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml
	@echo "installing (once) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local]'
	@touch $@

$(VENV)/.examples: $(VENV)/.python pyproject.toml
	@echo "installing (once) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[examples]'
	@touch $@ $(VENV)/.demo

$(VENV)/.dev: $(VENV)/.python pyproject.toml
	@echo "installing (once) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.demo $(VENV)/.examples

demo: $(VENV)/.demo  ## run an order workflow on an embedded Temporal server, against a real HTTP service
	@$(BIN)/python examples/orders/demo.py

example: $(VENV)/.examples  ## run an example of functions, as in `make example NAME=grpc`; without a name, list them
	@$(BIN)/python examples/run.py $(NAME)

test: $(VENV)/.dev  ## prove each claim once, in ten to twenty minutes; what is sampled follows from the seed that is printed
	@$(BIN)/python -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-all: $(VENV)/.dev  ## run everything: all suspensions, all scenarios on Temporal, what waits for long; before a release
	@$(BIN)/python -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder --all --timeout 1200 $(ARGS)

soak: $(VENV)/.dev  ## run 1,000 instances while workers are killed, the server restarts and services fail
	@$(BIN)/python -m tests.soak $(ARGS)

soak-events: $(VENV)/.dev  ## send 10,000 events to 1,000 instances while broker, worker, gateway and consumer are killed
	@$(BIN)/python -m tests.soak_events --ways nats http --keys 500 --events 10 --faults 12 --restarts 1 $(ARGS)

soak-brokers: $(VENV)/.dev  ## send events over four brokers while these are restarted and stalled
	@$(BIN)/python -m tests.soak_events $(ARGS)

soak-watched: $(VENV)/.dev  ## query runs that work long while their workers are killed, and replay what they left
	@$(BIN)/python -m tests.soak_watched $(ARGS)

record: $(VENV)/.dev  ## record the histories of this release anew, which later ones must replay; a minute
	@$(BIN)/python -m tests.replay.record

mutants: $(VENV)/.dev  ## change what interprets definitions in thousands of ways; see which change no test notices
	@$(BIN)/python -m tests.mutation $(ARGS)

brokers:  ## install the brokers, the database and the Prometheus that tests start (Debian, as root); without them those are skipped
	@.ci/brokers

collector: $(VENV)/.python  ## build an OpenTelemetry collector with Go, for the test of traces; without it that is skipped
	@.ci/collector $(abspath $(BIN))

check: check-style check-types check-layers  ## style, types and layers; `make -j2 check` on two cores

check-style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types: check-mypy check-pyright

check-mypy: $(VENV)/.dev
	$(BIN)/mypy
	cd examples/shop && $(abspath $(BIN))/mypy --strict .

check-pyright: $(VENV)/.dev
	$(BIN)/basedpyright --pythonpath $(BIN)/python

check-layers: $(VENV)/.dev
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## put the code into its usual form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

site: $(VENV)/.dev  ## build the documentation as a site, into build/site; every link is checked
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

package: $(VENV)/.dev  ## build the wheel and the sdist, try them in empty environments with each extra, check licences, write an SBOM
	@$(BIN)/python -m release.package

lock: $(VENV)/.dev  ## write the versions and hashes of what the image and the action install, into release/locked
	@$(BIN)/python -m release.locking

digests: $(VENV)/.dev  ## write the digests of the images that are deployed and built upon, as registries tell them to Docker
	@$(BIN)/python -m release.images
	@$(BIN)/python -m tests.docs.chart_page

release: package  ## make the package, and tell what a person still does to publish it
	@$(BIN)/python -m release

bench: $(VENV)/.dev  ## measure against hand-written workflows, in one run
	@echo "interpreting by itself, under a minute:"
	@$(BIN)/python -m bench.interpreter
	@echo "reading and validating, under a minute:"
	@$(BIN)/python -m bench.loading
	@echo "starting commands, a minute:"
	@$(BIN)/python -m bench.starting
	@echo "against workflows written by hand, seven minutes at most:"
	@$(BIN)/python -m bench

bench-scale: $(VENV)/.dev  ## measure runs of 100,000 calls, a million transitions, 50,000 events and 200 levels
	$(BIN)/python -m bench.scale
	$(BIN)/python -m bench.signals

clean:  ## remove what was made here
	rm -rf $(VENV) .mutation build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
