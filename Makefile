# Needs python3 (3.11 or newer) and make; everything else is installed into .venv from this folder's files.
PYTHON ?= python3
BIN := .venv/bin
DATA := $(wildcard ../shared/datasets)
ifneq ($(DATA),)
export PROPKERNELS_DATA ?= $(abspath $(DATA))
endif

.PHONY: demo test lint types unit bench clean

demo: .venv/.installed
	$(BIN)/propkernels demo

test: lint types unit

lint: .venv/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.developer
	$(BIN)/mypy

unit: .venv/.developer
	$(BIN)/pytest -n 2 --dist worksteal

# make bench BENCH='--quick --only pk-nci1' passes options on
bench: .venv/.peers
	$(BIN)/python -m benchmarks.run $(BENCH)

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/.developer: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ .venv/.installed

# a peer that cannot be installed is reported as absent
.venv/.peers: .venv/.developer
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	touch $@
