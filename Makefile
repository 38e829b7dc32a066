# Two commands: `make demo` runs the main job, `make test` passes the tests; each sets everything up by itself in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.installed

.PHONY: help demo test test-slow fuzz soak mutants lint links setup browser clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   set up .venv and score the sample (or the real captions under HARNESS_DATA)"
	@echo "make test   set up .venv, check style and types, run the fast tests"
	@echo "make test-slow   the long tests"
	@echo "make fuzz MINUTES=10   fuzz the readers and metrics"
	@echo "make soak MINUTES=10   kill, starve and tear runs; the next run must have the same results"
	@echo "make mutants           test the tests with 400 changes of the sources"

$(SETUP): pyproject.toml setup.py constraints.txt
	@echo "Setting up $(VENV) (some minutes the first time, nearly all of it downloading packages) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=24" "setuptools>=77" wheel
	@echo "  torch, as pinned in constraints.txt"
	@$(BIN)/python -m pip install --quiet -c constraints.txt torch==2.13.0
	@echo "  the harness with all extras and the development tools"
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	@# so that `python benchmarks/NAME.py` finds the package of the benchmarks
	@$(BIN)/python -c "import os, sysconfig; open(sysconfig.get_path('purelib') + '/harness-benchmarks.pth', 'w').write(os.getcwd())"
	@touch $@

setup: $(SETUP)

demo: $(SETUP)
	@echo "harness run tasks/coco.yaml --output runs/demo --fresh"
	@$(BIN)/harness run tasks/coco.yaml --output runs/demo --fresh

# pyright cannot follow the import hook of the editable install: give it a git-ignored folder of links.
links:
	@rm -rf .links && mkdir -p .links/harness
	@for f in harness/*; do ln -s ../../$$f .links/harness/; done
	@for f in plugins adapters tasks; do ln -s ../../$$f .links/harness/$$f; done

lint: $(SETUP) links
	@echo "ruff and pyright"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/pyright

# Pages are tested in a real browser. CI installs Debian's; elsewhere that test is skipped where there is none.
browser:
	@command -v chromium >/dev/null || test -z "$(CI)" || (echo "installing chromium"; apt-get update -qq && apt-get install -y -qq chromium >/dev/null)

# CI (the variable CI is set) runs the long tests too.
test: lint browser
	@echo "pytest$(if $(CI),, (fast tests; 'make test-slow' runs the long ones))"
	@$(BIN)/python -m pytest $(if $(CI),,-m "not slow") -n 2 --dist loadfile
	@echo "doctests"
	@$(BIN)/python -m pytest --doctest-modules -p no:cacheprovider harness plugins adapters tasks

test-slow: $(SETUP)
	@$(BIN)/python -m pytest -m slow

clean:
	rm -rf .links build dist *.egg-info .pytest_cache .ruff_cache

# Alters files, specs, registries, run directories, checkpoints and captions for MINUTES; findings lie in .fuzz.
MINUTES ?= 10
fuzz: $(SETUP)
	@$(BIN)/python -c "import atheris" 2>/dev/null || $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[fuzz]" || true
	@$(BIN)/python tests/fuzz/run.py --minutes $(MINUTES)

# Disturbs runs for MINUTES and compares the next run with an undisturbed one.
soak: $(SETUP)
	@$(BIN)/python tests/soak/run.py --minutes $(MINUTES)

# Changes the sources, one place at a time, and reports the changes that no test notices.
mutants: $(SETUP)
	@$(BIN)/python -c "import cosmic_ray" 2>/dev/null || $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[mutants]"
	@nice -n 10 $(BIN)/python tests/mutation/run.py
