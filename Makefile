# make demo   train on a real data set, prove the result, compare with LinearSVC, draw the bounds
# make test   the whole test suite
# make lint   linters and types
# make paper  the paper's tables beside ours, for the data that are available; a run that was ended is continued.
#             PAPER="--sets adult,web" narrows it down
#
# Each makes .venv and installs what it needs there; nothing outside .venv is touched. PYTHON=... chooses the interpreter.

PYTHON ?= python3
ifeq ($(origin CXX),default)
CXX := c++
endif
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt $(shell find src cpp -type f -not -name '*.pyc')

# Whatever the tools write on the side stays in .venv too.
export PIP_CACHE_DIR := $(CURDIR)/$(VENV)/pip
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache
export MPLCONFIGDIR := $(CURDIR)/$(VENV)/matplotlib
export MYPY_CACHE_DIR := $(CURDIR)/$(VENV)/mypy
export RUFF_CACHE_DIR := $(CURDIR)/$(VENV)/ruff
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/$(VENV)/hypothesis

.PHONY: demo test lint paper format clean check
.DELETE_ON_ERROR:

demo: $(VENV)/with-plots
	$(BIN)/dynmargin demo $(VENV)/convergence.png

test: $(VENV)/with-test
	$(BIN)/python -m pytest

lint: $(VENV)/with-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $$(find cpp -name '*.?pp')

paper: $(VENV)/with-paper
	$(BIN)/dynmargin paper table1 --resume --out $(VENV)/paper $(PAPER)
	$(BIN)/dynmargin paper table2 --resume --out $(VENV)/paper $(PAPER)

format: $(VENV)/with-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(find cpp -name '*.?pp')

clean:
	rm -rf $(VENV)

# The wheel is built once and installed with the extra that the target needs.
$(VENV)/with-%: $(VENV)/wheel/built
	$(PIP) install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	$(PIP) install --quiet "$$(ls $(VENV)/wheel/*.whl)[$*]"
	touch $@

$(VENV)/wheel/built: $(SOURCES) | $(VENV)/bin/pip
	@echo "Building dynmargin; about a minute the first time."
	rm -rf $(VENV)/wheel && mkdir -p $(VENV)/wheel
	$(PIP) wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .
	touch $@

$(VENV)/bin/pip: | check
	$(PYTHON) -m venv $(VENV)

check:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed as '$(PYTHON)'; install it, or name another with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "The venv module of $(PYTHON) is missing; install it (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@echo 'int main() {}' | $(CXX) -std=c++20 -x c++ -fsyntax-only - 2>/dev/null || \
	  { echo "A C++20 compiler is needed as '$(CXX)'; install one (on Debian and Ubuntu: apt install g++; on macOS: xcode-select --install), or name another with: make CXX=..." >&2; exit 1; }
