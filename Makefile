# `make quickstart` and `make test` set up a fresh machine by themselves: each
# creates .venv, installs the package into it, and runs.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
PEERS_VENV ?= benchmarks/.venv
BIN := $(VENV)/bin
# Quiet libraries: TensorFlow's C++ notes, oneDNN's greeting, XLA's streams.
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: quickstart test test-slow lint docs site install peers clean

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" tests

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 --dist loadfile tests

lint: $(VENV)/.lint
	$(BIN)/ruff check drvf_tf launch tests tools benchmarks setup.py
	$(BIN)/mypy

quickstart: $(VENV)/.install
	$(BIN)/python launch/train.py --gin_file=gin/quickstart.gin

docs: $(VENV)/.report
	bash tools/docs.sh $(BIN)/python

# README.md and docs/ as pages in site/; a dead link is an error.
site: $(VENV)/.site
	$(BIN)/mkdocs build --strict

install: $(VENV)/.install

# PyTorch and JAX, for `launch/benchmark.py --peers=...` alone.
peers: $(PEERS_VENV)/.install

$(PEERS_VENV)/.install: benchmarks/requirements.txt tools/install.sh
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("The peers need Python 3.11: name it with PYTHON=python3.11.")'
	@PYTHON=$(PYTHON) bash tools/install.sh $(PEERS_VENV) -r benchmarks/requirements.txt
	@touch $@

$(VENV)/.install: setup.py tools/install.sh
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.install
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) -e '.[test]'
	@touch $@

$(VENV)/.report: $(VENV)/.install
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) -e '.[report]'
	@touch $@

$(VENV)/.site: $(VENV)/.install
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) -e '.[site]'
	@touch $@

$(VENV)/.lint: $(VENV)/.install
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) -e '.[lint]'
	@touch $@

clean:
	rm -rf $(VENV) $(PEERS_VENV) build site *.egg-info
