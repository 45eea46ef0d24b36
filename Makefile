# Everything a contributor types. Each target sets up .venv first when it is missing or out of date.

PYTHON  ?= python3
TABLE   ?=
ONLY    ?=
WORKERS ?= auto
PYTHONS ?=

BIN   := .venv/bin
READY := .venv/.ready

# Test workers share the cores already; one BLAS or OpenMP thread each keeps them from fighting over them.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo test browser lint bench reproduce docs wheel clean

help:  ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

demo: $(READY)  ## explore a bundled table with holes and write a report; TABLE=data.csv takes another
	$(BIN)/gramian explore $(TABLE) --out demo/report --force

test: $(READY)  ## run every test and every documented example, with coverage
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report=term

browser:  ## install the browser that some tests of the page need (Debian's chromium, as root)
	sh scripts/browser

lint: $(READY)  ## check style (ruff), types (mypy, strict) and the direction of imports (import-linter)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(READY)  ## time gramian beside its peers; ONLY=name runs one question
	$(BIN)/python -m benchmarks $(ONLY)

reproduce: $(READY)  ## list the published tables we compute again; ONLY=name runs one
	$(BIN)/python -m reproduce $(ONLY)

docs: $(READY)  ## build the HTML documentation in docs/_build/html and check its links
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python scripts/links.py docs/_build/html
	@echo "open docs/_build/html/index.html"

wheel: $(READY)  ## build the wheel and try it in fresh environments; PYTHONS="python3.11 python3.12" names them
	$(BIN)/python scripts/try_wheel.py $(PYTHONS)

clean:  ## remove .venv and everything that was generated
	rm -rf .venv docs/_build docs/api/generated docs/examples docs/generated build dist demo \
	  .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gramian needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@touch $@
