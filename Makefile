# make demo          train on a real data set, prove the result, compare with LinearSVC, draw the bounds
# make test          the whole test suite
# make lint          linters and types
# make paper         the paper's tables beside ours and its curves, for the data that are available; a run that was ended
#                    is continued.
#                    PAPER="--sets adult,web" narrows it down
# make docs          the documentation site in .venv/docs/html, with the examples of the gallery run; without a network
# make check-short   what CI runs beside the tests: a part of them with the core under the address sanitizer
#
# For the night; docs/reliability.md says what each of them has shown:
# make oracle        a million adversarial certificates against exact integers
# make mutate        every error term of the proofs dropped in turn: a test must fail
# make fuzz          hostile files and arrays; SECONDS=60 per target, TARGET=text for one of them
# make soak          fits, interrupts, threads, bad input, files, mixed for MINUTES=30: memory must not grow
# make kills         SIGKILL at random moments of a training that is resumed
# make sanitize      the tests with the core under the address, undefined-behaviour and thread sanitizers of GCC
# make test-lowest   the tests with the lowest versions of the dependencies, in .venv/lowest
# make lock          renew the files in requirements/
#
# Each makes .venv and installs what it needs there; nothing outside .venv is touched, but for docs/api and docs/gallery,
# which `make docs` generates and git ignores. PYTHON=... chooses the interpreter.

PYTHON ?= python3
ifeq ($(origin CXX),default)
CXX := c++
endif
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt $(shell find src cpp -type f -not -name '*.pyc')

# Whatever the tools write on the side stays in .venv too. That includes compiled modules, also where the environment
# says that none are to be written: without them every process that loads scikit-learn takes 2 s longer.
export PYTHONDONTWRITEBYTECODE :=
export PIP_CACHE_DIR := $(CURDIR)/$(VENV)/pip
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache
export MPLCONFIGDIR := $(CURDIR)/$(VENV)/matplotlib
export MYPY_CACHE_DIR := $(CURDIR)/$(VENV)/mypy
export RUFF_CACHE_DIR := $(CURDIR)/$(VENV)/ruff
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/$(VENV)/hypothesis

.PHONY: demo test lint docs paper format clean check
.PHONY: check-short oracle mutate fuzz soak kills sanitize sanitize-address sanitize-thread test-lowest lock
.DELETE_ON_ERROR:

demo: $(VENV)/with-plots
	$(BIN)/dynmargin demo $(VENV)/convergence.png

# With worksteal a process runs neighbouring tests, for which the fixtures of a file are made once, and helps another
# when it has done its own.
test: $(VENV)/with-test
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

lint: $(VENV)/with-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.type_checks
	$(BIN)/clang-format --dry-run -Werror $$(find cpp -name '*.?pp')

# Any warning is an error: a link to nowhere, a name without a page, an example that fails.
docs: $(VENV)/with-docs
	$(BIN)/python -m sphinx -q -n -W --keep-going -d $(VENV)/docs/doctrees docs $(VENV)/docs/html
	@! grep -rlE '<(script|link|img)[^>]+(src|href)="(https?:)?//' --include='*.html' $(VENV)/docs/html || \
	  { echo "These pages load something from a network." >&2; exit 1; }
	@echo "Open $(VENV)/docs/html/index.html"

paper: $(VENV)/with-paper
	$(BIN)/dynmargin paper table1 --resume --out $(VENV)/paper $(PAPER)
	$(BIN)/dynmargin paper table2 --resume --out $(VENV)/paper $(PAPER)
	$(BIN)/dynmargin paper figures --resume --out $(VENV)/paper $(PAPER)

SECONDS ?= 60
MINUTES ?= 30
TARGET ?= all

oracle: $(VENV)/with-test
	$(BIN)/python -m tests.oracle --count 1000000 --jobs 2

mutate: $(VENV)/with-test
	$(BIN)/python -m tests.mutate_proofs

fuzz: $(VENV)/with-test
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --target $(TARGET) --out $(VENV)/fuzz

soak: $(VENV)/with-test
	$(BIN)/python -m tests.soak --minutes $(MINUTES)

kills: $(VENV)/with-test
	$(BIN)/python -m tests.kills

# The core is built once more for each kind of sanitizer, and shadows the installed one. The libraries of the sanitizers
# have to be loaded before Python itself. "quick" leaves out the checks of every single
# pointer, and calls a function at every access to memory where the others have code on the spot: it builds in 125 s of
# processor time, with -O1 and such code in 187 s.
FLAGS_address := address,undefined
FLAGS_thread := thread
FLAGS_quick := address,signed-integer-overflow,shift,bounds,integer-divide-by-zero,float-cast-overflow
OPTIONS_address := -O1
OPTIONS_thread := -O1
OPTIONS_quick := -Og;--param=asan-instrumentation-with-call-threshold=0
LIBRARIES_address := asan ubsan stdc++
LIBRARIES_thread := tsan stdc++
LIBRARIES_quick := $(LIBRARIES_address)
# Python's own allocations at exit are no leaks of ours. A report ends the run.
export ASAN_OPTIONS ?= detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=8192:quarantine_size_mb=16
export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS ?= exitcode=66:halt_on_error=1
sanitized = DYNMARGIN_SANITIZED=$(1) PYTHONPATH="$(CURDIR)/$(VENV)/sanitized-$(1)" \
  LD_PRELOAD="$(foreach library,$(LIBRARIES_$(1)),$(shell $(CXX) -print-file-name=lib$(library).so))" $(BIN)/python -m pytest

# What runs threads: several problems at a time, blocks of one, folds, callbacks, the parser.
THREADED := tests/test_threads.py tests/test_blocks.py tests/test_cv.py tests/test_watching.py tests/test_libsvm.py \
  tests/test_joint.py
# The arrays and files of strangers, and the inner loops of every algorithm.
SHORT := tests/test_core_input.py tests/test_dual_reference.py tests/test_fuzz.py -k "core_input or dual_reference or text or arrays"

sanitize: sanitize-address sanitize-thread

sanitize-address: $(VENV)/sanitized-address/built | $(VENV)/with-test
	$(call sanitized,address)

sanitize-thread: $(VENV)/sanitized-thread/built | $(VENV)/with-test
	$(call sanitized,thread) $(THREADED)

check-short: $(VENV)/sanitized-quick/built | $(VENV)/with-test
	$(call sanitized,quick) $(SHORT)

$(VENV)/sanitized-%/built: $(SOURCES) | $(VENV)/bin/pip
	rm -rf $(VENV)/sanitized-$*
	$(PIP) install --quiet --no-deps --target $(VENV)/sanitized-$* \
	  --config-settings=cmake.define.DYNMARGIN_SANITIZE=$(FLAGS_$*) \
	  "--config-settings=cmake.define.DYNMARGIN_SANITIZE_OPTIONS=$(OPTIONS_$*)" \
	  --config-settings=build-dir=$(VENV)/build-$* .
	touch $@

test-lowest: $(VENV)/lowest/installed
	$(VENV)/lowest/bin/python -m pytest

$(VENV)/lowest/installed: requirements/lowest.txt $(VENV)/wheel/built
	$(PYTHON) -m venv --clear $(VENV)/lowest
	$(VENV)/lowest/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes -r requirements/lowest.txt
	$(VENV)/lowest/bin/python -m pip --disable-pip-version-check install --quiet --no-deps $(VENV)/wheel/*.whl
	touch $@

# Versions and hashes for every platform and Python from 3.11 on; the lowest ones for 3.11.
LOCK := $(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-annotate --no-header --no-emit-package dynmargin
lock: | $(VENV)/bin/pip
	$(PIP) install --quiet uv
	$(LOCK) --universal --python-version 3.11 --extra test --extra lint pyproject.toml -o requirements/dev.txt
	$(LOCK) --python-version 3.11 --resolution lowest-direct requirements/lowest.in -o requirements/lowest.txt

format: $(VENV)/with-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(find cpp -name '*.?pp')

clean:
	rm -rf $(VENV) docs/api docs/gallery

# The wheel is built once and installed with the extra that the target needs.
$(VENV)/with-%: $(VENV)/wheel/built
	$(PIP) install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	$(PIP) install --quiet "$$(ls $(VENV)/wheel/*.whl)[$*]"
	touch $@

$(VENV)/wheel/built: $(SOURCES) | $(VENV)/bin/pip
	@echo "Building dynmargin; one to two minutes the first time."
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
