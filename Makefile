# Each target sets up what it needs: a venv in .venv and pinned packages, by plain pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
WORKERS ?= 2
# Each worker has a core: threads of its own in linear algebra would only wait for each other.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
# Every worker and every command that the tests start reads compiled modules instead of compiling them again.
COMPILED := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/$(VENV)/bytecode

.PHONY: help demo page test test-deep lint house bench bench-peers tpch size sbom clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.core ## Run the demo: a synthetic hospital, five questions, a refusal
	@$(BIN)/jali demo

page: $(VENV)/.core ## Make the demo's hospital and serve it: open the link that is printed
	@$(PIP) install -c requirements/constraints.txt -e ".[server]"
	@test -e $(VENV)/hospital || $(BIN)/jali demo --keep $(VENV)/hospital > /dev/null
	@$(BIN)/jali serve $(VENV)/hospital/*.jali

test: $(VENV)/.dev lint ## Run linters and tests (below ten minutes on two cores)
	@echo "Running the tests on $(WORKERS) workers ..."
	@$(ONE_THREAD) $(COMPILED) $(BIN)/python -m pytest -n $(WORKERS)

test-deep: $(VENV)/.dev ## Run the tests with ten times as many random cases, repeats and kills
	@$(ONE_THREAD) $(COMPILED) $(BIN)/python -m pytest -n $(WORKERS) --depth 10

lint: $(VENV)/.dev ## Run ruff, mypy and import-linter
	@echo "Checking style, types and layers ..."
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy -n $(WORKERS) && $(BIN)/lint-imports --no-cache > $(VENV)/lint-imports.txt \
		|| { cat $(VENV)/lint-imports.txt 2>/dev/null; exit 1; }

house: ## Print the measures of the source tree: files, lines, imports, names
	@$(PYTHON) -m benchmarks.house

bench: $(VENV)/.dev ## Print ratios of CPU seconds against numpy and plain DuckDB
	@$(BIN)/python -m benchmarks

bench-peers: $(VENV)/.dev ## The same work on peers, each in a venv of its own under .peers/
	@$(BIN)/python -m benchmarks.peers; speed=$$?; $(BIN)/python -m benchmarks.questions; asked=$$?; \
		$(BIN)/python -m benchmarks.questions large; large=$$?; \
		$(BIN)/python -m benchmarks.aggregates && exit $$((speed + asked + large))

tpch: $(VENV)/.dev ## Five questions of TPC-H at scale 1, customers protected: errors and CPU seconds
	@$(BIN)/python -m benchmarks.tpch

size: ## Install the core alone in a fresh venv and print its size
	@$(PYTHON) -m benchmarks.size

sbom: $(VENV)/.venv ## Write the bill of materials of the pinned packages to .venv/sbom.json (CycloneDX)
	@test -x $(VENV)/sbom/bin/cyclonedx-py || { $(PYTHON) -m venv $(VENV)/sbom && $(VENV)/sbom/bin/pip install --quiet cyclonedx-bom==7.5.0; }
	@$(VENV)/sbom/bin/cyclonedx-py requirements requirements/hashes.txt --pyproject pyproject.toml --output-reproducible --output-file $(VENV)/sbom.json
	@echo "Wrote $(VENV)/sbom.json"

clean: ## Remove the venvs and caches
	rm -rf $(VENV) .peers .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.venv:
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Jali needs Python 3.11 or newer."; exit 1; }
	@$(PYTHON) -m venv $(VENV) && touch $@

# With HASHES=1 every file that is installed must have a SHA-256 of requirements/hashes.txt.
ifdef HASHES
CORE = $(PIP) install --require-hashes --no-deps -r requirements/hashes.txt && $(PIP) install --no-build-isolation --no-deps -e .
DEV = true
else
CORE = $(PIP) install -c requirements/constraints.txt -e .
DEV = $(PIP) install -c requirements/constraints.txt -r requirements/dev.txt
endif

$(VENV)/.core: $(VENV)/.venv pyproject.toml requirements/constraints.txt
	@echo "Installing Jali and its pinned packages ..."
	@$(CORE) && touch $@

$(VENV)/.dev: $(VENV)/.core requirements/dev.txt
	@echo "Installing the packages that tests, linters and benchmarks need ..."
	@$(DEV) && touch $@
