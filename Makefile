# Two commands do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet
DATA ?= ../shared/data
READY := $(VENV)/.ready
# Neighbours stay together: they share what their module made once.
PARALLEL := -n auto --dist worksteal

# Many tests start programs of ours: uncompiled, each would take twice the time to start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup browser demo demo-year check test test-all test-slow fix run bench bench-quality docs clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt constraints-build.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; try: make PYTHON=python3.12 setup" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
# Everything comes by its hash, what builds packages first; after that nothing is left to fetch. The lists are whole,
# so nothing is resolved: a resolver that meets an extra takes its newest release, which has no hash here.
	$(PIP) --require-hashes --no-deps --only-binary :all: -r constraints-build.txt
	$(PIP) --require-hashes --no-deps --no-build-isolation --use-pep517 -r constraints.txt
	$(PIP) --no-index --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check --quiet
	$(BIN)/episodic models pull
	@touch $(READY)

# Debian's chromium, for the tests of the dashboard; where it is missing they skip and say so.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }

# A first minute; `episodic demo --channels`, `--arc` and `--agent` show more.
demo: setup
	$(BIN)/episodic demo --output demo

# A year in two minutes: reviews and forgetting, what was so and when, what strength suppresses.
demo-year: setup
	$(BIN)/episodic demo --year --output demo-year

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest tests/house

test: setup
	$(BIN)/pytest $(PARALLEL) -m "not slow"

test-all: setup
	$(BIN)/pytest $(PARALLEL) --hypothesis-profile=full

# The fast suite tries properties on an eighth of their examples (tests/builders/examples.py): here they get all.
test-slow: setup
	$(BIN)/pytest $(PARALLEL) --hypothesis-profile=full -m "slow or hypothesis"

fix: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

run: setup
	$(BIN)/episodic $(ARGS)

bench: setup
	$(BIN)/python -m benchmarks --data $(DATA)

# Everything about quality, printed: CACHE=folder keeps vectors and networks, TRAIN=1 trains them anew.
bench-quality: setup
	$(BIN)/python -m benchmarks --data $(DATA) --only segmentation,quality $(if $(CACHE),--cache $(CACHE)) $(if $(TRAIN),--train)

docs: setup
	$(BIN)/pytest tests/docs

clean:
	rm -rf $(VENV) demo demo-channels demo-arc demo-agent demo-year dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
