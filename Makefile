# `make demo` and `make test` do all their own set-up in .venv; the rest is for developers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-gpu check format bench experiments clean

demo: $(VENV)/.demo
	$(BIN)/graphmover demo

test: check
	$(BIN)/python -m pytest -n auto

test-gpu: $(VENV)/.gpu
	$(BIN)/python -m pytest -m gpu

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/interop.py
	$(BIN)/python benchmarks/streaming.py
	$(BIN)/python benchmarks/node_embedding.py

experiments: $(VENV)/.dev
	for name in tables selection options varying_r scaling convergence speedup; do \
	  $(BIN)/python experiments/$$name.py || exit 1; \
	done
	$(BIN)/python experiments/report.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[figures]"
	touch $@

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	touch $@

$(VENV)/.gpu: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[cuda]"
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@
