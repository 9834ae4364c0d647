# Two commands do everything, set-up included: `make demo` and `make test`. `make run ARGS=...` runs a command.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DATA ?= ../shared/data
BASE := $(VENV)/.base
READY := $(VENV)/.ready
DOCS_VENV := .venv-docs
DOCS_READY := $(DOCS_VENV)/.ready
DOCS_PIP := $(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check
# Neighbours stay together: they share what their module made once.
PARALLEL := -n auto --dist worksteal
TESTED := EPISODIC_TEST_ADAPTERS=required  # a framework that is missing fails instead of skipping

# Many tests start programs of ours: uncompiled, each would take twice the time to start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup browser demo demo-year check test test-all test-slow test-adapters fix run bench bench-quality docs site clean

setup: $(READY)

# What a user installs, and pictures: enough for the demo.
$(BASE): pyproject.toml constraints-base.txt constraints-build.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; try: make PYTHON=python3.12 setup" if sys.version_info < (3, 11) else 0)'
	@echo "installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
# Everything comes by its hash, what builds packages first; after that nothing is left to fetch. The lists are whole,
# so nothing is resolved: a resolver that meets an extra takes its newest release, which has no hash here.
	@$(PIP) --require-hashes --no-deps --only-binary :all: -r constraints-build.txt
	@$(PIP) --require-hashes --no-deps --no-build-isolation --use-pep517 -r constraints-base.txt
	@$(PIP) --no-index --no-deps --no-build-isolation -e .
	@$(BIN)/episodic models pull
	@touch $(BASE)

$(READY): $(BASE) constraints.txt
	@echo "installing what tests and checks need ..."
	@$(PIP) --require-hashes --no-deps --no-build-isolation --use-pep517 -r constraints.txt
	@$(BIN)/python -m pip check --quiet
	@touch $(READY)

# Debian's chromium, for the tests of the dashboard; where it is missing they skip and say so.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }

# A first minute; `episodic demo --channels`, `--arc` and `--agent` show more.
demo: $(BASE)
	@$(BIN)/episodic demo --output demo

# A year in two minutes: reviews and forgetting, what was so and when, what strength suppresses.
demo-year: $(BASE)
	@$(BIN)/episodic demo --year --output demo-year

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest tests/house

# Without the house rules: `make check` runs those.
test: setup
	$(BIN)/pytest $(PARALLEL) -m "not slow" --ignore=tests/house

test-all: setup
	$(BIN)/pytest $(PARALLEL) --hypothesis-profile=full

# The fast suite tries properties on an eighth of their examples (tests/builders/examples.py): here they get all.
test-slow: setup
	$(BIN)/pytest $(PARALLEL) --hypothesis-profile=full -m "slow or hypothesis"

# Each adapter against the real framework. The frameworks have environments of their own: the base one stays
# small, and the versions CrewAI holds on to fit no other framework.
test-adapters: .venv-adapters/.ready .venv-crewai/.ready
	$(TESTED) .venv-adapters/bin/python -m pytest tests/adapters --ignore=tests/adapters/test_crewai.py
	$(TESTED) .venv-crewai/bin/python -m pytest tests/adapters/test_crewai.py tests/adapters/test_pages.py

.venv-%/.ready: constraints-%.txt pyproject.toml | $(READY)
	$(PYTHON) -m venv --clear --without-pip .venv-$*
# Most of a framework is never imported here: what is, Python compiles by itself.
	PIP_PYTHON=.venv-$*/bin/python $(PIP) --require-hashes --no-deps --no-compile -r $<
	PIP_PYTHON=.venv-$*/bin/python $(PIP) --no-index --no-deps --no-build-isolation -e .
	@touch $@

fix: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

run: $(BASE)
	$(BIN)/episodic $(ARGS)

bench: setup
	$(BIN)/python -m benchmarks --data $(DATA)

# Everything about quality, printed: CACHE=folder keeps vectors and networks, TRAIN=1 trains them anew.
bench-quality: setup
	$(BIN)/python -m benchmarks --data $(DATA) --only segmentation,quality $(if $(CACHE),--cache $(CACHE)) $(if $(TRAIN),--train)

# Every block of the pages runs, then the site is built.
docs: setup
	$(BIN)/pytest $(PARALLEL) tests/docs
	$(MAKE) site

# In an environment of its own, without a warning, and without the network once that is there.
site: setup $(DOCS_READY)
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --quiet
	@echo "the site: site/index.html"

$(DOCS_READY): constraints-docs.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_PIP) --require-hashes --no-deps --only-binary :all: -r constraints-docs.txt
	@touch $(DOCS_READY)

clean:
	rm -rf $(VENV) .venv-adapters .venv-crewai $(DOCS_VENV) site demo demo-channels demo-arc demo-agent demo-year dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
