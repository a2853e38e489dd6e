# Every target sets up what it needs in .venv. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Packages are installed without being compiled: Python does that once, when it imports them, unless
# it is told not to write. Then each of a test run's hundreds of processes would do it again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-gpu check check-fast check-lint check-format check-types format \
  docs fuzz bench experiments release-check clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{printf "%-15s %s\n", $$1, $$2}'

demo: $(VENV)/.demo ## embed, classify and plot six families of random graphs
	$(BIN)/graphmover demo

test: check ## linters, types and all tests
	$(BIN)/python -m pytest -n auto --dist worksteal -m "slow or not slow"

test-gpu: $(VENV)/.gpu ## the tests that need an NVIDIA GPU
	$(BIN)/python -m pytest -m gpu

fuzz: $(VENV)/.dev ## read thousands of damaged files of every format (9 minutes of one core)
	cd tests && ../$(BIN)/python -m fuzz

check: check-lint check-format check-types ## linters and types

check-fast: check ## linters, types and the tests not marked slow
	$(BIN)/python -m pytest -n auto --dist worksteal

check-lint: $(VENV)/.dev
	$(BIN)/ruff check .

check-format: $(VENV)/.dev
	$(BIN)/ruff format --check .

check-types: $(VENV)/.dev
	$(BIN)/mypy

format: $(VENV)/.dev ## fix what ruff can fix, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## the documentation site in build/site, its gallery executed (2 minutes)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d build/site-cache docs build/site
	@echo "open build/site/index.html"

bench: $(VENV)/.bench ## compare speed with other libraries
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/even.py
	$(BIN)/python benchmarks/hard.py
	$(BIN)/python benchmarks/tree.py
	$(BIN)/python benchmarks/interop.py
	$(BIN)/python benchmarks/streaming.py
	$(BIN)/python benchmarks/node_embedding.py

experiments: $(VENV)/.dev ## the paper's tables and figures (hours)
	for name in tables vectorizer selection options varying_r scaling convergence speedup; do \
	  $(BIN)/python experiments/$$name.py || exit 1; \
	done
	$(BIN)/python experiments/report.py

# The wheel is built from the sdist and installed into a virtual environment of its own, outside
# which nothing of graphmover can be imported (-I, no PYTHONPATH).
RELEASE := build/release
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/graphmover/__init__.py)
INSTALLED = env -u PYTHONPATH $(CURDIR)/$(RELEASE)/venv/bin
release-check: $(VENV)/.dev ## build sdist and wheel, and test both in a clean environment
	grep -q '^## $(VERSION) (' CHANGELOG.md
	grep -q '^version: $(VERSION)$$' CITATION.cff
	rm -rf dist $(RELEASE)
	$(BIN)/python -m build
	$(PYTHON) -m venv $(RELEASE)/venv
	$(INSTALLED)/python -m pip install --quiet --disable-pip-version-check dist/graphmover-$(VERSION)-*.whl
	tar -xzf dist/graphmover-$(VERSION).tar.gz -C $(RELEASE)
	for file in $$(git ls-files | grep -v '^\.ci/'); do \
	  test -f "$(RELEASE)/graphmover-$(VERSION)/$$file" || { echo "not in the sdist: $$file"; exit 1; }; \
	done
	site=$$($(INSTALLED)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	for file in $$(cd src && git ls-files graphmover); do \
	  test -f "$$site/$$file" || { echo "not in the wheel: $$file"; exit 1; }; \
	done
	cd $(RELEASE) && test "$$($(INSTALLED)/graphmover --version)" = "graphmover $(VERSION)"
	cd $(RELEASE) && $(INSTALLED)/python -I -m graphmover --help > /dev/null
	cd $(RELEASE) && $(INSTALLED)/python -I -c 'import graphmover as gm; graphs = gm.make_graph_families(60, random_state=0).graphs; print(gm.RandomGraphEmbedding(8, random_state=0).fit_transform(graphs).shape)'
	cd $(RELEASE) && $(INSTALLED)/graphmover demo --graphs 60 --components 16
	@grep -q '^## $(VERSION) (unreleased)' CHANGELOG.md && echo "CHANGELOG.md: $(VERSION) has no date yet" || true

clean: ## delete environments, caches and builds
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/api docs/gallery docs/sg_execution_times.rst

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Python compiles what it imports: compiling all that is installed takes longer than the demo.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e . "matplotlib>=3.7"
	touch $@

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	touch $@

$(VENV)/.gpu: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[cuda]"
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e ".[dev]"
	touch $@
