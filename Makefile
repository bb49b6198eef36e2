# `make quickstart` and `make test` set up a fresh machine by themselves: each
# creates .venv, installs the package into it, and runs.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Quiet libraries: TensorFlow's C++ notes, and oneDNN's greeting.
export TF_CPP_MIN_LOG_LEVEL ?= 2

.PHONY: quickstart test test-slow lint docs install clean

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" tests

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 --dist loadfile tests

lint: $(VENV)/.lint
	$(BIN)/ruff check drvf_tf launch tests setup.py
	$(BIN)/mypy

quickstart: $(VENV)/.install
	$(BIN)/python launch/train.py --gin_file=gin/quickstart.gin

docs: $(VENV)/.install
	bash tools/docs.sh $(BIN)/python

install: $(VENV)/.install

$(VENV)/.install: setup.py tools/install.sh
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) .
	@touch $@

$(VENV)/.test: $(VENV)/.install
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) '.[test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.install
	@PYTHON=$(PYTHON) bash tools/install.sh $(VENV) '.[lint]'
	@touch $@

clean:
	rm -rf $(VENV) build *.egg-info
