# make demo | test | check | bench | gpu-test | format | docs | clean
#
# PYTHON   the interpreter to build on (default: the newest of 3.13, 3.12, 3.11 that works)
# VENV     where the developer's environment is made (default: .venv)
# WHEEL=1  make test: test the installed wheel of `make check` instead of the editable install
# GVIZ_NO_INSTALL=1  make gpu-test: take PYTHON's own packages and download nothing

SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV ?= .venv
CHECK_VENV := build/check-venv
PYTEST_FLAGS ?=
PIP := -m pip --disable-pip-version-check install --quiet
PACKAGING := pyproject.toml setup.py $(shell find collectors -name '*.[ch]')
# What goes into the wheel: a change of any of it makes `make check` build anew.
SOURCES := $(shell find gviz app collectors assets -type f -not -path '*/__pycache__/*' -not -name '*.so' | grep -v ' ')

ifdef WHEEL
TEST_VENV := $(CHECK_VENV)
TEST_READY := $(CHECK_VENV)/.gviz-test
else
TEST_VENV := $(VENV)
TEST_READY := $(VENV)/.gviz-test
endif

.PHONY: help demo test check check-lint check-format check-spelling check-sizes check-c check-wheel \
    check-installed bench gpu-test format docs clean

help:
	@sed -n '1,7s/^# \{0,1\}//p' Makefile

demo: $(VENV)/.gviz
	$(VENV)/bin/gviz demo

test: $(TEST_READY)
	@tools/install_chromium.sh
	$(TEST_VENV)/bin/pytest --timeout=300 $(PYTEST_FLAGS)

# Separate targets, so that `make -k check` reports every fault and not only the first.
CHECKS := check-lint check-format check-spelling check-sizes check-c check-wheel check-installed
check: $(CHECKS)

check-lint: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/ruff check .

check-format: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/ruff format --check .

check-spelling: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/codespell

check-sizes: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/python -P tools/check_sizes.py

# Which way includes go in collectors/csrc.
check-c: $(CHECK_VENV)/.gviz-tools
	$(CHECK_VENV)/bin/python -P tools/check_c_walls.py

check-wheel: build/wheel/.built
	$(CHECK_VENV)/bin/python -P tools/check_wheel.py build/wheel

# Types and direction of imports, on the installed wheel.
check-installed: $(CHECK_VENV)/.gviz-wheel
	$(CHECK_VENV)/bin/python -P tools/check_installed.py pyproject.toml

# A benchmark that needs a GPU is named bench/gpu_*.py.
bench: $(VENV)/.gviz-bench
	@set -e; for script in $(filter-out bench/gpu_%,$(wildcard bench/*.py)); do \
	    echo "== $$script"; $(VENV)/bin/python -P $$script; done

ifdef GVIZ_NO_INSTALL
# -P and an import path of links: nothing is installed, nothing is downloaded.
gpu-test:
	$(PYTHON) -P tools/link_tree.py build/link-tree
	PYTHONPATH="$(CURDIR)/build/link-tree:$$PYTHONPATH" GVIZ_REQUIRE_GPU=1 $(PYTHON) -P -m pytest -m gpu $(PYTEST_FLAGS) \
	    $(wildcard tests/gpu tests/contract)
else
gpu-test: $(VENV)/.gviz-gpu
	GVIZ_REQUIRE_GPU=1 $(VENV)/bin/pytest -m gpu --timeout=300 $(PYTEST_FLAGS)
endif

format: $(VENV)/.gviz-check
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

docs: $(VENV)/.gviz
	$(VENV)/bin/python -P tools/make_docs.py

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# -- environments: each stamp says what was installed there ----------------------------

%/.made:
	@tools/make_venv.sh "$(PYTHON)" $*

$(VENV)/.gviz: $(VENV)/.made $(PACKAGING)
	$(VENV)/bin/python $(PIP) --editable .
	@touch $@

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

# The wheel is built from the source distribution, so that one is proven complete.
$(CHECK_VENV)/.gviz-tools: $(CHECK_VENV)/.made pyproject.toml
	$(CHECK_VENV)/bin/python -P tools/install_extra.py pyproject.toml check
	@touch $@

build/wheel/.built: $(CHECK_VENV)/.gviz-tools $(PACKAGING) $(SOURCES) MANIFEST.in README.md LICENSE
	rm -rf build/wheel
	$(CHECK_VENV)/bin/python -P -m build --no-isolation --outdir build/wheel . >build/build.log 2>&1 \
	    || { cat build/build.log; exit 1; }
	@touch $@

$(CHECK_VENV)/.gviz-wheel: build/wheel/.built
	$(CHECK_VENV)/bin/python $(PIP) build/wheel/*.whl
	$(CHECK_VENV)/bin/python $(PIP) --force-reinstall --no-deps build/wheel/*.whl
	@touch $@

$(CHECK_VENV)/.gviz-test: $(CHECK_VENV)/.gviz-wheel
	$(CHECK_VENV)/bin/python -P tools/install_extra.py pyproject.toml test
	@touch $@

.PRECIOUS: %/.made
