# Every verb sets up what it needs and works in a fresh clone: no environment to activate, no order to keep.

VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
BENCH  := $(VENV)/.bench
SETUP  := pyproject.toml constraints.txt
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# The environment belongs to this folder alone.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

# Scripts and the editable install hold the absolute path of the checkout, so the stamp does too:
# after a move, a copy, or a change of the Python below it, the environment is made anew.
WHOLE := $(shell test "$$(cat $(READY) 2>/dev/null)" = "$$(pwd -P)" && exec 2>/dev/null && \
    version=$$($(BIN)/python --version) && test "$$version" = "$$($(or $(PYTHON),$(BIN)/python) --version)" && echo yes)
ifneq ($(WHOLE),yes)
.PHONY: $(READY) $(BENCH)
endif

.PHONY: help demo test lint format types layers docs bench check pins clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo '  ARGS adds arguments:    make test ARGS="-k windows"'
	@echo '  PYTHON picks a Python:  make test PYTHON=python3.12'

demo: $(READY) ## a small live join, start to end
	@$(BIN)/anabranch demo $(ARGS)

test: $(READY) ## all tests
	@$(BIN)/python -m pytest $(ARGS)

lint: $(READY) ## style, and that the code is formatted
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(READY) ## bring the code into form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(READY) ## strict type check
	@$(BIN)/mypy

layers: $(READY) ## that dependencies point down
	@$(BIN)/lint-imports --no-logo --cache-dir build/layers

# Sphinx without a configuration file: these options are all there is to say.
docs: $(READY) ## the documentation, into build/docs
	@$(BIN)/sphinx-build -C -W --keep-going -q -b html \
	    -D project=Anabranch -D extensions=myst_parser -D myst_heading_anchors=3 \
	    -D html_theme=furo -D html_title=Anabranch -D html_copy_source=0 \
	    docs build/docs
	@echo 'the documentation is in build/docs/index.html'

bench: $(BENCH) ## measurements; ARGS names some of them
	@$(BIN)/python -m bench $(ARGS)

check: lint types layers docs test ## everything that has to pass

# With the oldest Python: a newer one may use these versions too, but not the other way round.
# Everything comes built, but for pyspark, which is published as source alone.
pins: $(READY) ## resolve the dependencies anew into constraints.txt
	@mkdir -p build
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "make pins PYTHON=python3.11")'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --dry-run --ignore-installed \
	    --only-binary :all: --no-binary pyspark --report build/pins.json pip '.[dev,bench]'
	@sed -n '/^#/p' constraints.txt > build/pins.txt
	@$(BIN)/python -c '$(PINS)' >> build/pins.txt
	@mv build/pins.txt constraints.txt
PINS = import json; found = [step["metadata"] for step in json.load(open("build/pins.json"))["install"]]; \
    print(*sorted(("{name}=={version}".format(**one) for one in found if one["name"] != "anabranch"), key=str.lower), sep="\n")

clean: ## remove everything that was made here
	@rm -rf $(VENV) build dist .*_cache .hypothesis
	@find src tests bench -name __pycache__ -prune -exec rm -rf {} +

# -- the environment ---------------------------------------------------------

FIND = for candidate in $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python); do \
	    "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	    python="$$candidate" && break; \
	done; \
	test -n "$$python" || { \
	    echo 'no Python 3.11 or newer with venv and pip was found; install one, or name it: make PYTHON=/path/to/python3' >&2; \
	    exit 1; \
	}

$(READY): $(SETUP)
	@$(FIND); \
	    echo "setting up $(VENV) with $$("$$python" --version) (about a minute, once)" >&2; \
	    test "$(WHOLE)" = yes || "$$python" -m venv --clear $(VENV)
	@$(INSTALL) --upgrade pip # the one that Python brings may be too old to resolve the rest
	@$(INSTALL) --editable '.[dev]'
	@pwd -P > $@

$(BENCH): $(SETUP) | $(READY)
	@echo 'adding the contenders of the measurements to $(VENV) (once)' >&2
	@$(INSTALL) --editable '.[bench]'
	@touch $@
