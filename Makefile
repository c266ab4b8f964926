# Needs python3 (3.11 or newer), make and a C++ compiler; everything else is installed into .venv from this folder's files.
# Tests and benchmarks on real data look into the folder that the environment variable PROPKERNELS_DATA names.
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is kept even where the environment says otherwise: tests start many processes.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo core test check quick lint types unit newest coverage sanitize fuzz mutate core-mutants docs site bench bench-compare \
	package pythons release-check clean

demo: .venv/.installed
	$(BIN)/propkernels demo

# Builds the loops of src/core anew. All other targets do this too when a file of theirs has changed.
CORE := pyproject.toml CMakeLists.txt $(wildcard src/core/*)
core: .venv/.compiler
	$(call install,--no-deps -e .)
	touch -c .venv/.installed .venv/.developer .venv/.docs

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

# the tests without the slow ones, for while you work
quick: .venv/.developer
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not browser and not processes" $(addprefix --ignore=,$(BESIDE)) tests src

# Types and quick tests with the newest versions of all packages, in an environment of its own: make newest PYTHON=python3.13
NEWEST := build/newest
newest: .venv/.compiler
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check '.[dev]'
	$(NEWEST)/bin/python -m pip list --disable-pip-version-check
	$(NEWEST)/bin/mypy
	$(NEWEST)/bin/python -P -m pytest -n 2 --dist worksteal -m "not slow and not browser and not processes" $(addprefix --ignore=,$(BESIDE)) tests

coverage: .venv/.developer
	$(BIN)/coverage erase
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-append --cov-report=
	$(BIN)/coverage report --skip-covered --fail-under=95

# Tests that reach the loops, with every index, every address and all undefined behavior of C++ checked; make sanitize SANITIZE=thread looks
# for races in those with threads (Python and numpy are not instrumented, and what they do is not looked at). The package is built into an
# environment of its own, which sees the packages of .venv. make sanitize TESTS='tests/explain -x' runs others. (Limits of the address space,
# which test_memory.py sets, cannot hold: the sanitizers map terabytes.)
SANITIZE ?= address,undefined
ifeq ($(SANITIZE),thread)
TESTS ?= tests/test_core.py tests/test_threads.py tests/utils/test_parallel.py -k "not dask and not joblib and not fork and not process"
SANITIZER := libtsan.so
WORKERS := -s
else
TESTS ?= tests/test_core.py tests/codes tests/counts tests/propagation tests/kernels tests/search --ignore=tests/kernels/test_memory.py
SANITIZER := libasan.so
WORKERS := -n 2 --dist worksteal
endif
SANITIZED := build/sanitized
sanitize: .venv/.developer
	$(PYTHON) -m venv --clear $(SANITIZED)
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$($(SANITIZED)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/packages.pth"
	$(SANITIZED)/bin/python -m pip install --quiet --disable-pip-version-check --ignore-installed --no-deps . \
		--config-settings=build-dir=build/sanitized-objects-$(SANITIZE) --config-settings=install.strip=false \
		--config-settings=cmake.define.PROPKERNELS_CHECKED=ON \
		--config-settings=cmake.define.PROPKERNELS_SANITIZE=$(SANITIZE)
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66 \
	LD_PRELOAD="$$($(CXX) -print-file-name=$(SANITIZER)) $$($(CXX) -print-file-name=libstdc++.so)" \
		$$(setarch -R true 2>/dev/null && echo setarch -R) $(SANITIZED)/bin/python -m pytest $(WORKERS) \
		-m "not slow and not browser and not processes" $(TESTS)

# The site, from this folder alone and without network: docs/_build/html/index.html. Examples that did not change are
# not run again; every page is then looked through for links and pictures that lead nowhere.
docs: .venv/.docs
	$(BIN)/python -m sphinx -b html -d docs/_build/doctrees -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/crawl.py docs/_build/html

# make site REF=refs/tags/v0.2.1 places the built site as version 0.2 in the folder site; main is the version "latest"
REF ?= refs/heads/main
site: docs
	$(BIN)/python docs/versions.py --ref "$(REF)" --html docs/_build/html --site site

# make bench BENCH='--only NCI1' passes options on
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
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest -n 2 --dist worksteal -k "machine or hypothesis or safety or twin or generated" tests

# make mutate MUTANTS='propkernels.codes.*' looks for mistakes in codes, counts, propagation and models that no test of them, of kernels,
# explanations, collections and the GPU notices. All of them take days; of those of an earlier run, a random sample is
# make mutate MUTANTS="$(.venv/bin/mutmut results --all true | grep -o 'propkernels[^:]*' | shuf -n 300 | xargs)"
mutate: .venv/.developer
	$(BIN)/mutmut run $(MUTANTS)

# Mistakes made by hand in src/core, each of which a test must notice; make core-mutants MUTANTS=gram.cpp makes those of a file
core-mutants: .venv/.developer
	$(BIN)/python -m tests.core_mutants $(MUTANTS)

# Both distributions in dist, checked; the wheel is built twice, with the same bytes.
package: export SOURCE_DATE_EPOCH ?= 1704067200
package: .venv/.developer
	rm -rf dist build
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --wheel --outdir build/again .
	cmp dist/*.whl build/again/*.whl
	$(PYTHON) -m venv build/checkers
	build/checkers/bin/pip install --quiet twine check-wheel-contents 'validate-pyproject[all]' cffconvert check-jsonschema py-rattler-build
	build/checkers/bin/twine check --strict dist/*
	build/checkers/bin/check-wheel-contents dist/*.whl
	build/checkers/bin/validate-pyproject pyproject.toml
	build/checkers/bin/cffconvert --validate
	build/checkers/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	build/checkers/bin/python -c "from rattler_build import Stage0Recipe as R, VariantConfig as V; \
		assert R.from_file('conda/recipe.yaml').render(V({'c_stdlib': ['sysroot'], 'python': ['3.12']}))"

# The wheel and the README on each of these Pythons that is here, as a table; wheels that are lacking are added to dist.
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
pythons: package
	.ci/pythons $(PYTHONS)

# Everything that a release needs and that runs without the outside world
release-check: test check docs sanitize pythons

clean:
	rm -rf .venv build dist site mutants docs/_build docs/gallery docs/api/generated .coverage .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

# g++ of Debian where no compiler is found and it may be installed
.venv/.compiler: | .venv/bin/python
	@command -v $(CXX) >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
		&& apt-get install -qq -y --no-install-recommends g++ >/dev/null; } \
		|| { echo "No C++ compiler was found: install g++ or clang++ (Debian: apt install g++), and run make again." >&2; exit 1; }
	touch $@

# The editable package is found by its path alone, so that PYTHONPATH can name another tree: pip's hook would come first.
define install
$(BIN)/python -m pip install --quiet --disable-pip-version-check $(1)
sed -i.old '/^import/d' .venv/lib/python*/site-packages/_editable_skbc_propkernels.pth
endef

.venv/.installed: $(CORE) | .venv/.compiler
	$(call install,-e .)
	touch $@

.venv/.developer: $(CORE) | .venv/.compiler
	$(call install,-e '.[dev]')
	touch $@ .venv/.installed
	touch -c .venv/.docs

.venv/.docs: $(CORE) | .venv/.compiler
	$(call install,-e '.[docs]')
	touch $@ .venv/.installed
	touch -c .venv/.developer

# a peer that cannot be installed is reported as absent
.venv/.peers: .venv/.developer
	-$(call install,-e '.[peers]')
	touch $@
