# The front door of dpstats. Every target does its own set-up; all it needs is make and Python 3.11 or newer.
# `make PYTHON=/some/python3 demo` picks the interpreter; `make ARGS="-k median" test` passes arguments on.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install -qq
UV ?= uv
PYTHON ?=
ARGS ?=
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3.13 python3.12 python3.11 python3 python)
# What tests compile is kept, wherever they run: each worker, and each process that a test starts, reads it again.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
BENCHMARKS := $(filter-out benchmarks/make_%.py,$(wildcard benchmarks/*.py))
COMPILE = $(UV) pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --group build pyproject.toml

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo serve test browser quick anywhere lint format stubs golden plan-tables long fuzz oracle bench docs lock clean

help: ## list the targets
	@echo "dpstats: private statistics that need no bounds. Start with 'make demo'."
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.run ## ask private questions of a bundled, synthetic table
	@$(BIN)/dpstats demo $(ARGS)

serve: $(VENV)/.web ## serve an invented table, with pages for its owner, an analyst and an auditor
	@$(BIN)/dpstats serve --demo $(ARGS)

test: $(VENV)/.dev ## run all tests, on all cores, in ten to twelve minutes on two
	@$(PYTEST) -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder $(ARGS)

browser: ## install the browser that the browser tests drive, where there is none: Debian's Chromium, as root
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		timeout 300 apt-get -qq update >/dev/null && \
		DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq install -y --no-install-recommends chromium >/dev/null; }

quick: $(VENV)/.dev ## run the quick tests of every room, in at most 90 seconds on two cores
	@$(PYTEST) -n auto --maxprocesses 8 --dist loadfile -m "not long and not slow" $(ARGS)

anywhere: $(VENV)/.dev ## try whether results depend on the processor: its features turned down, few and many threads
	@$(BIN)/python -m tests.anywhere $(ARGS)

lint: $(VENV)/.dev ## check style with ruff and types with mypy --strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(VENV)/.dev ## let ruff format the code
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

stubs: $(VENV)/.dev ## write the stubs for type checkers and editors anew, from the registry
	@$(BIN)/python -m tests.stubs

golden: $(VENV)/.dev ## write the golden files again (tests/golden); ARGS=--words takes changed words of cards
	@$(BIN)/python -m tests.golden $(ARGS)

plan-tables: $(VENV)/.dev ## simulate the tables that plans read anew, in about 25 minutes; ARGS=--renew keeps them where they hold
	@$(BIN)/python -m tests.plan_tables $(ARGS)

long: $(VENV)/.dev ## run the longer privacy tests, on all cores, in about eleven minutes on two
	@$(PYTEST) -n auto --maxprocesses 8 --dist worksteal -m long $(ARGS)

fuzz: $(VENV)/.bench ## send 50,000 generated calls to the service; ARGS=3000 sends fewer
	@$(BIN)/python -m tests.web.fuzz $(or $(ARGS),50000)

oracle: $(VENV)/.bench ## compare our noise with OpenDP's
	@$(PYTEST) -m opendp $(ARGS)

bench: $(VENV)/.bench ## measure accuracy and speed against the peers; ONLY=imports runs one script
	@for script in $(if $(ONLY),benchmarks/$(ONLY).py,$(BENCHMARKS)); do \
		echo "== $$script"; $(BIN)/python $$script $(ARGS) || exit 1; \
	done

docs: $(VENV)/.dev ## write the outputs of the examples in README and docs anew
	@$(BIN)/python -m tests.documents README.md $(wildcard docs/*.md)

lock: ## write the hashed requirement files anew (needs uv)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: pip install uv, or make UV=/path/to/uv lock"; exit 1; }
	$(COMPILE) --extra files --output-file requirements.lock
	$(COMPILE) --extra files --extra web --extra plots --constraint requirements.lock --output-file requirements-web.lock
	$(COMPILE) --extra files --extra web --extra dev --constraint requirements-web.lock --output-file requirements-dev.lock
	$(COMPILE) --extra bench --constraint requirements-dev.lock --output-file requirements-bench.lock

clean: ## remove .venv and what the tools left behind
	rm -rf $(VENV) build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# A candidate counts only if it runs, is new enough and can make environments: a shim or a stripped system Python may not.
$(VENV)/.made:
	@for candidate in $(CANDIDATES); do \
		if "$$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
			echo "dpstats: making $(VENV) with $$("$$candidate" --version)"; \
			"$$candidate" -m venv --clear $(VENV) && touch $@; exit $$?; \
		fi; \
	done; \
	echo "dpstats: no Python 3.11 or newer (with its venv module) among: $(CANDIDATES)."; \
	echo "Install one, or name it: make PYTHON=/path/to/python3 $(MAKECMDGOALS)"; exit 1

$(VENV)/.run: $(VENV)/.made requirements.lock pyproject.toml
	@echo "dpstats: installing the pinned packages from requirements.lock (once; about 15 seconds)"
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.web: $(VENV)/.made requirements-web.lock pyproject.toml
	@echo "dpstats: installing the pinned packages from requirements-web.lock (once; about 20 seconds)"
	@$(PIP) --require-hashes -r requirements-web.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run

$(VENV)/.dev: $(VENV)/.made requirements-dev.lock pyproject.toml
	@echo "dpstats: installing the pinned packages from requirements-dev.lock (once; about half a minute)"
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run

$(VENV)/.bench: $(VENV)/.dev requirements-bench.lock
	@echo "dpstats: installing the peers from requirements-bench.lock (once; about a minute)"
	@$(PIP) --require-hashes -r requirements-bench.lock
	@touch $@
