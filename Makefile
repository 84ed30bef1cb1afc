# make demo           opens the bundled recordings (first makes .venv: a minute, from PyPI)
# make test           the quick tests: 3 to 5 minutes on 2 cores (first: pytest and others into .venv,
#                     a minute; Chromium by apt-get as root, else without the browser's tests)
# make test-all       every test: 12 minutes; make test-rest: what make test leaves out, 9
# make test-wheel     what depends on the installation, in the wheel of make check: a minute
# make test-lowest    the core's unit tests with the oldest numpy and others that it allows: 3 minutes
# make wheel          a wheel that needs no compiler where it is installed, into build/wheels:
#                     2 minutes (first: zig from PyPI, 100 MB); MACHINE=aarch64
# make site           the documents as pages, build/site/index.html
# make check          builds the wheel into build/; lint, types, imports, sizes: 2 minutes
# make sanitize       the contract with sanitizers in the native libraries: 8 minutes
#                     (address and undefined; SANITIZERS=thread)
# make faults         every fault of the system in up to 2,000 calls of gviz: half an hour
# make gpu-test       the tests that notice most on a GPU, 4 minutes (first: CuPy into .venv)
# make gpu-test-all   every GPU test; PART=1 to PART=8: an eighth, 9 minutes at most
# make bench          the benchmarks that need no GPU: an hour;  make format;  make docs;  make clean
# make lock           tools/lock.txt anew: the newest versions of what make installs
# make pictures       the pictures of README and docs/ anew, in Chromium: a minute
#
# One change: .venv/bin/pytest FILE, a second.
#
# PYTHON   the interpreter to build on (default: the newest of 3.13, 3.12, 3.11 that works)
# VENV     where the developer's environment is made (default: .venv)
# WORKERS  how many processes run tests (default: one a core, 8 at most; where most tests are the
#          browser's, test-all and test-rest, one more: they wait for Chromium)
# PYTEST_FLAGS  more for pytest, as PYTEST_FLAGS="-k doctor"
# GVIZ_NO_INSTALL=1  make gpu-test: take PYTHON's own packages and download nothing

SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV ?= .venv
CHECK_VENV := build/check-venv
PYTEST_FLAGS ?=
CORES := $(shell nproc)
# A worker takes 0.5 GB with its Chromium, 1 GB at most. One more than the cores takes 7 % off
# test-all on 2 cores; test computes, and would only be collected once more.
test test-wheel sanitize: WORKERS ?= $(CORES)
test-rest test-all: WORKERS ?= $(shell echo $$(($(CORES) + 1)))
# Files stay whole, for their fixtures; in the order that tests/file_order.py gives them.
PARALLEL = -n $(WORKERS) --maxprocesses=8 --dist=loadfile --no-loadscope-reorder --timeout=300
# The versions that are installed: `make lock` takes newer ones, LOCK= the newest for once.
LOCK ?= tools/lock.txt
PIP := -m pip --disable-pip-version-check install --quiet $(addprefix --constraint ,$(LOCK))
PACKAGING := pyproject.toml setup.py $(shell find collectors -name '*.[ch]')
# What goes into the wheel: a change of any of it makes `make check` build anew.
SOURCES := $(shell find gviz app collectors assets -type f -not -path '*/__pycache__/*' -not -name '*.so' | grep -v ' ')

.PHONY: help demo lock test test-all test-rest test-wheel test-lowest wheel sanitize faults check check-lint check-format \
    check-spelling check-sizes check-walls check-c check-modules check-web check-wheel check-installed \
    bench gpu-test gpu-test-all format docs site pictures clean

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

demo: $(VENV)/.gviz
	$(VENV)/bin/gviz demo

# Tests on a GPU stay out even where there is one: they would share it (make gpu-test).
test: TESTS = quick and not gpu
test-rest: TESTS = thorough and not gpu
test-all: TESTS = not gpu
test test-rest test-all: $(VENV)/.gviz-test
	@tools/install_chromium.sh
	$(VENV)/bin/pytest $(PARALLEL) -m '$(TESTS)' $(PYTEST_FLAGS)

test-wheel: $(CHECK_VENV)/.gviz-test
	@tools/install_chromium.sh
	$(CHECK_VENV)/bin/pytest $(PARALLEL) -m 'installed and not gpu' $(PYTEST_FLAGS)

SANITIZERS ?= address,undefined
sanitize: $(VENV)/.gviz-test
	$(VENV)/bin/python -P tools/link_tree.py build/sanitized $(SANITIZERS)
	$(VENV)/bin/python -P tools/sanitize.py build/sanitized $(SANITIZERS) -m 'not gpu' -n $(WORKERS) \
	    --dist=loadfile --timeout=300 $(PYTEST_FLAGS) tests/contract

# make test-all tries a part of them, 17 runs of it all.
faults: $(VENV)/.gviz-test
	GVIZ_FAULTS=all $(VENV)/bin/pytest -s -p no:cacheprovider $(PYTEST_FLAGS) tests/contract/test_faults.py

# The core runs in the environments of watched programs, which may be old. Old packages use what
# newer ones have deprecated, as pydot does of pyparsing.
LOWEST_VENV := build/lowest-venv
LOWEST_PYTHON ?= python3.11
test-lowest: WORKERS ?= $(CORES)
test-lowest: $(LOWEST_VENV)/.gviz-test
	$(LOWEST_VENV)/bin/pytest $(PARALLEL) -m 'quick and not gpu and not browser' $(PYTEST_FLAGS) \
	    -W ignore::DeprecationWarning -W ignore::ImportWarning \
	    $(filter-out tests/unit/app tests/unit/assets,$(wildcard tests/unit/*))

# Tried where it is for this machine: installed without a compiler, it records and shows.
MACHINE ?= x86_64
wheel: $(CHECK_VENV)/.gviz-wheel-tools $(VENV)/.gviz-test
	rm -rf build/wheels/*$(MACHINE).whl
	$(CHECK_VENV)/bin/python -P tools/build_wheel.py build/wheels $(MACHINE)
	[ $(MACHINE) != "$$(uname -m)" ] || GVIZ_WHEEL="$$(ls $(CURDIR)/build/wheels/*$(MACHINE).whl)" \
	    $(VENV)/bin/pytest -q tests/packaging/test_bare_install.py

# Separate targets, so that `make -k check` reports every fault and not only the first.
CHECKS := check-lint check-format check-spelling check-sizes check-walls check-c check-modules \
    check-web check-wheel check-installed site
check: $(CHECKS)

check-lint: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/ruff check .

check-format: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/ruff format --check .

check-spelling: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/codespell

check-sizes: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/python -P tools/check_sizes.py

# Folders, faces, circles, names and texts of the Python code.
check-walls: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/python -P tools/check_walls.py

# Which way includes go in collectors/csrc.
check-c: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/python -P tools/check_c_walls.py

# Direction of imports between the folders of the viewer's modules.
check-modules: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/python -P tools/check_modules.py assets/web

# Types, style and unit tests of the viewer's modules. Node comes from PyPI, tsc and eslint by npm
# from tools/package-lock.json: all three quiet where nothing is wrong.
check-web: $(CHECK_VENV)/.gviz-web tools/node_modules/.gviz
	PATH="$(CURDIR)/$(CHECK_VENV)/bin:$$PATH" tools/check_web.sh

check-wheel: build/wheel/.built
	$(CHECK_VENV)/bin/python -P tools/check_wheel.py build/wheel

# The documents as a site, in build/site; a link or an anchor that leads nowhere fails it.
site: $(CHECK_VENV)/.gviz-tools
	NO_MKDOCS_2_WARNING=1 $(CHECK_VENV)/bin/mkdocs build --quiet --strict

# Types and direction of imports, on the installed wheel.
check-installed: $(CHECK_VENV)/.gviz-wheel
	$(CHECK_VENV)/bin/python -P tools/check_installed.py pyproject.toml

# A benchmark that needs a GPU is named bench/gpu_*.py.
bench: $(VENV)/.gviz-bench
	@set -e; for script in $(filter-out bench/gpu_%,$(wildcard bench/*.py)); do \
	    echo "== $$script"; $(VENV)/bin/python -P $$script; done

# In series: they share the GPU, and measure.
gpu-test: GPU_TESTS = -m 'gpu and quick'
gpu-test-all: GPU_TESTS = -m gpu $(if $(PART),--part=$(PART)/$(PARTS) --minutes=8.5)
PART ?=
PARTS ?= 8
ifdef GVIZ_NO_INSTALL
# -P and an import path of links: nothing is installed, nothing is downloaded.
gpu-test gpu-test-all:
	$(PYTHON) -P tools/link_tree.py build/link-tree
	PYTHONPATH="$(CURDIR)/build/link-tree:$$PYTHONPATH" GVIZ_REQUIRE_GPU=1 $(PYTHON) -P -m pytest \
	    $(GPU_TESTS) $(PYTEST_FLAGS) $(wildcard tests/gpu tests/contract)
else
gpu-test gpu-test-all: $(VENV)/.gviz-gpu
	GVIZ_REQUIRE_GPU=1 $(VENV)/bin/pytest $(GPU_TESTS) --timeout=300 $(PYTEST_FLAGS) \
	    $(wildcard tests/gpu tests/contract)
endif

format: $(VENV)/.gviz-check
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

docs: $(VENV)/.gviz
	$(VENV)/bin/python -P tools/make_docs.py

# The pictures of README and docs/, of the bundled recordings.
pictures: $(VENV)/.gviz-bench
	@tools/install_chromium.sh
	$(VENV)/bin/python -P tools/take_pictures.py

clean:
	rm -rf build dist tools/node_modules *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# -- environments: each stamp says what was installed there ----------------------------

%/.made:
	@tools/make_venv.sh "$(PYTHON)" $*

$(VENV)/.gviz: $(VENV)/.made $(PACKAGING) $(LOCK)
	$(VENV)/bin/python $(PIP) --editable .
	@touch $@
	@ls collectors/_native*.so >/dev/null 2>&1 || echo "gviz can view and import here, and not record:" \
	    "there was no C compiler; 'gviz doctor' says what to do"

$(VENV)/.gviz-test: $(VENV)/.gviz
	$(VENV)/bin/python $(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.gviz-check: $(VENV)/.gviz
	$(VENV)/bin/python $(PIP) --editable '.[check]'
	@touch $@

$(VENV)/.gviz-bench: $(VENV)/.gviz
	$(VENV)/bin/python $(PIP) --editable '.[bench]'
	@touch $@

$(VENV)/.gviz-gpu: $(VENV)/.gviz-test
	$(VENV)/bin/python $(PIP) --editable '.[cuda13]'
	@touch $@

$(LOWEST_VENV)/.gviz-test: $(PACKAGING) $(VENV)/.gviz-test
	@tools/make_venv.sh "$(LOWEST_PYTHON)" $(LOWEST_VENV)
	$(LOWEST_VENV)/bin/python $(filter-out --constraint $(LOCK),$(PIP)) --editable '.[test]' \
	    $$($(VENV)/bin/python -P tools/made_with.py lowest pyproject.toml)
	@touch $@

# In an environment of its own, so that nothing else decides about versions.
lock:
	rm -rf build/lock-venv
	@tools/make_venv.sh "$(PYTHON)" build/lock-venv
	build/lock-venv/bin/python $(filter-out --constraint $(LOCK),$(PIP)) '.[test,check,web,bench]'
	build/lock-venv/bin/python -P tools/made_with.py lock pyproject.toml >tools/lock.txt

# The wheel is built from the source distribution, so that one is proven complete.
$(CHECK_VENV)/.gviz-tools: $(CHECK_VENV)/.made pyproject.toml $(LOCK)
	$(CHECK_VENV)/bin/python -P tools/install_extra.py pyproject.toml check $(LOCK)
	@touch $@

$(CHECK_VENV)/.gviz-wheel-tools: $(CHECK_VENV)/.made pyproject.toml
	$(CHECK_VENV)/bin/python -P tools/install_extra.py pyproject.toml wheel $(LOCK)
	@touch $@

$(CHECK_VENV)/.gviz-web: $(CHECK_VENV)/.made pyproject.toml
	$(CHECK_VENV)/bin/python -P tools/install_extra.py pyproject.toml web $(LOCK)
	@touch $@

tools/node_modules/.gviz: $(CHECK_VENV)/.gviz-web tools/package.json tools/package-lock.json
	PATH="$(CURDIR)/$(CHECK_VENV)/bin:$$PATH" npm ci --prefix tools --ignore-scripts --silent
	@touch $@

build/wheel/.built: $(CHECK_VENV)/.gviz-tools $(PACKAGING) $(SOURCES) MANIFEST.in README.md LICENSE
	rm -rf build/wheel
	$(CHECK_VENV)/bin/python -P -m build --no-isolation --outdir build/wheel . >build/build.log 2>&1 \
	    || { cat build/build.log; exit 1; }
	@touch $@

$(CHECK_VENV)/.gviz-wheel: build/wheel/.built
	$(CHECK_VENV)/bin/python $(PIP) build/wheel/*.whl
	$(CHECK_VENV)/bin/python $(PIP) --force-reinstall --no-deps build/wheel/*.whl
	$(CHECK_VENV)/bin/python -P tools/made_with.py sbom build/wheel/*.whl >build/wheel/gviz.cdx.json
	@touch $@

$(CHECK_VENV)/.gviz-test: $(CHECK_VENV)/.gviz-wheel
	$(CHECK_VENV)/bin/python -P tools/install_extra.py pyproject.toml test $(LOCK)
	@touch $@

.PRECIOUS: %/.made
