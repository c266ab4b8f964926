# Needs python3 (3.11 or newer) and make; everything else is installed into .venv from this folder's files.
# Tests and benchmarks on real data look into the folder that the environment variable PROPKERNELS_DATA names.
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is kept even where the environment says otherwise: tests start many processes.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test check quick lint types unit coverage boundscheck fuzz mutate docs site bench bench-compare package clean

demo: .venv/.installed
	$(BIN)/propkernels demo

# tests of what lies beside the package: benchmarks, reproduction, random cases, documents and examples; and tests in a browser or of many
# processes
BESIDE := tests/benchmarks tests/reproduction tests/fuzz tests/test_documents.py tests/test_examples.py

test: lint types unit

check: .venv/.developer
	$(BIN)/pytest -n 2 --dist worksteal $(BESIDE) reproduction
	$(BIN)/pytest -n 2 --dist loadfile -m "browser or processes" tests

lint: .venv/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.developer
	$(BIN)/mypy

unit: .venv/.developer
	$(BIN)/pytest -n 2 --dist worksteal -m "not browser and not processes" $(addprefix --ignore=,$(BESIDE)) tests src

# the tests without the slow ones, for while you work; the first time compiles what they call
quick: .venv/.developer
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not browser and not processes" $(addprefix --ignore=,$(BESIDE)) tests src

# Coverage cannot see machine code: the tests marked "compiled" run once more as Python, on small inputs.
coverage: .venv/.developer
	$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -m compiled tests --cov --cov-report=
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-append --cov-report=
	$(BIN)/coverage report --include='*compiled.py,*/_utils/mixing.py' --fail-under=95
	$(BIN)/coverage report --skip-covered --fail-under=95

# All tests, documents included, with every array index of compiled loops checked; the first time compiles them anew.
# make boundscheck TESTS='-m "not slow"' passes options on
boundscheck: .venv/.developer
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/boundscheck $(BIN)/pytest -n 2 --dist worksteal $(TESTS)

# The site, from this folder alone and without network: docs/_build/html/index.html. Examples that did not change are
# not run again; every page is then looked through for links and pictures that lead nowhere.
docs: .venv/.docs
	$(BIN)/python -m sphinx -b html -d docs/_build/doctrees -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/crawl.py docs/_build/html

# make site REF=refs/tags/v0.2.1 places the built site as version 0.2 in the folder site; main is the version "latest"
REF ?= refs/heads/main
site: docs
	$(BIN)/python docs/versions.py --ref "$(REF)" --html docs/_build/html --site site

# make bench BENCH='--quick --only pk-nci1' passes options on
bench: .venv/.peers
	$(BIN)/python -m benchmarks.run $(BENCH)

# make bench-compare BASE=v0.1.0 shows the processor time of both trees, and fails if a job became 10 % slower
BASE ?= v0.1.0
bench-compare: .venv/.developer
	$(BIN)/python -m benchmarks.compare $(BASE)

# make fuzz CASES=1000 looks for wrong results and unclear errors with other random cases and examples each time
CASES ?= 1000
FIRST ?= $(shell date +%s)
fuzz: .venv/.developer
	PROPKERNELS_FUZZ=$(CASES) PROPKERNELS_FUZZ_FIRST=$(FIRST) $(BIN)/pytest -n 2 --dist worksteal tests/fuzz
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest -n 2 --dist worksteal -k "machine or hypothesis or safety or contract" tests

# make mutate MUTANTS='propkernels.codes.*' looks for mistakes that no test of codes, counts, propagation and models notices
mutate: .venv/.developer
	$(BIN)/mutmut run $(MUTANTS)

# Both distributions in dist, checked; the wheel is built twice, with the same bytes.
package: export SOURCE_DATE_EPOCH ?= 1704067200
package: .venv/.developer
	rm -rf dist build
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --wheel --outdir build/again .
	cmp dist/*.whl build/again/*.whl
	$(PYTHON) -m venv build/checkers
	build/checkers/bin/pip install --quiet twine check-wheel-contents 'validate-pyproject[all]' cffconvert
	build/checkers/bin/twine check --strict dist/*
	build/checkers/bin/check-wheel-contents dist/*.whl
	build/checkers/bin/validate-pyproject pyproject.toml
	build/checkers/bin/cffconvert --validate

clean:
	rm -rf .venv build dist site mutants docs/_build docs/gallery docs/api/generated .coverage .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/.developer: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ .venv/.installed

.venv/.docs: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@ .venv/.installed

# a peer that cannot be installed is reported as absent
.venv/.peers: .venv/.developer
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	touch $@
