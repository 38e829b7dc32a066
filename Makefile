# Two commands: `make demo` runs the main job, `make test` passes the tests; each sets everything up by itself in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.installed
KERNELS := $(VENV)/.kernels
KERNEL_FILES := kernels/editable/CMakeLists.txt $(shell find kernels -path kernels/build -prune -o -path kernels/editable -prune -o \
  -path kernels/js -prune -o -path kernels/caption_kernels/browser -prune -o -path kernels/wasm -prune -o -type f -not -name '*.so' -not -path '*/__pycache__/*' -print)

.PHONY: help demo figures picture gallery test pytest doctests test-slow test-bits docs package release-check sbom fuzz soak benchmarks-smoke mutants kernel-mutants sanitize stub lint setup browser vendor wasm artefacts clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:
	@echo "make setup     set up .venv"
	@echo "make demo      set up .venv and score the sample (or the real captions under HARNESS_DATA)"
	@echo "make test      set up .venv, check style and types, run the fast tests"
	@echo "make pytest    the fast tests alone"
	@echo "make lint      style and types alone"
	@echo "make doctests  the examples in docstrings"
	@echo "make docs      build the documentation site in site/"
	@echo "make clean     remove what was built"
	@echo
	@echo "maintainers:"
	@echo "  make test-slow       the long tests"
	@echo "  make test-bits       the tests of equal digits, as other processors compute"
	@echo "  make fuzz MINUTES=10 fuzz readers, metrics, servers and what is printed"
	@echo "  make soak MINUTES=10 kill, starve, tear and swap runs under all verbs; the next command must have the same results"
	@echo "  make benchmarks-smoke  run every benchmark with tiny input"
	@echo "  make mutants         test the tests with changes of the sources"
	@echo "  make kernel-mutants  test the tests of the C++ kernels with 200 changes"
	@echo "  make sanitize        run the C++ kernels under the sanitizers"
	@echo "  make package         build, check, install and exercise the distributions"
	@echo "  make release-check   all that a release needs and no account, and what is left for a person (QUICK=1: no builds)"
	@echo "  make sbom            list the dependencies with versions and licences"
	@echo "  make wasm            build the kernels for browsers (kernels/js) and the page that scores (out/score.html)"
	@echo "  make artefacts       build score.html and a report page into docs/artefacts, with checksums"
	@echo "  make figures, picture, gallery   draw the figures of the docs, the README's picture, pages of real captions (chromium)"
	@echo "  make stub, vendor    write the stub of the extension, bundle the libraries of the report page"

$(BIN)/python:
	@echo "Setting up $(VENV) (some minutes the first time, nearly all of it downloading packages) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=24" "setuptools>=77" wheel

# Built again when any file of kernels/ is newer.
$(KERNELS): $(KERNEL_FILES) | $(BIN)/python
	@echo "  the compiled kernels"
	@kernels/install.sh $(BIN)/python
	@touch $@

$(SETUP): pyproject.toml constraints.txt tools/repair_torchvision.py | $(KERNELS)
	@echo "  torch, as pinned in constraints.txt"
	@$(BIN)/python -m pip install --quiet -c constraints.txt torch==2.13.0
	@echo "  the harness with all extras and the development tools"
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	@# open_clip brings torchvision, whose wheel on PyPI is built for torch with CUDA. Beside the CPU build its import fails, and with it
	@# open_clip and the models of transformers. It is repaired, or removed: transformers works without it.
	@$(BIN)/python -m tools.repair_torchvision || $(BIN)/python -m pip uninstall --quiet --yes torchvision
	@echo "  dictionaries of the metrics"
	@$(BIN)/harness warm
	@touch $@

setup: $(SETUP)

demo: $(SETUP)
	@echo "harness run tasks/coco.yaml --output runs/demo --fresh"
	@$(BIN)/harness run tasks/coco.yaml --output runs/demo --fresh

# The figures of docs/concepts.md, from the sample that ships with the harness.
figures: $(SETUP)
	@HARNESS_DATA= $(BIN)/harness run coco --output runs/figures --fresh
	@$(BIN)/harness report runs/figures --figures out/figures
	@mkdir -p docs/figures
	@sed '1s/ width="[0-9.]*" height="[0-9.]*" viewBox/ width="850" viewBox/' out/figures/overview-double.svg > docs/figures/coco.svg
	@$(BIN)/python -m tools.documentation.drawing

# The printed table and the picture of README.md and docs/index.md, as a terminal of 80 columns shows it.
picture: $(SETUP) browser
	@$(BIN)/python -m tools.showcase.readme

gallery: $(SETUP) browser
	@$(BIN)/python -m tools.showcase.gallery

# The stub of the extension, committed beside it; tests/kernels/test_stub.py compares.
stub: $(KERNELS)
	@$(BIN)/python kernels/generators/make_stub.py
	@touch $(KERNELS)

lint: $(SETUP)
	@echo "ruff and pyright"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/pyright

# Pages are tested in a real browser. CI installs Debian's; elsewhere that test is skipped where there is none.
browser:
	@command -v chromium >/dev/null || test -z "$(CI)" || (echo "installing chromium"; apt-get update -qq && apt-get install -y -qq chromium >/dev/null)

# Libraries of the report page: the versions of package.json, checked against package-lock.json, bundled with their licences (needs node).
VENDOR := harness/page/vendor
vendor:
	@cd $(VENDOR) && npm ci --no-audit --no-fund --silent && node build.mjs
	@cat $(VENDOR)/SHA256SUMS

# Style, types and doctests run beside the tests at the lowest priority, in what the tests leave of the cores; what they print comes after
# them. CI (the variable CI is set) runs the long tests too.
test: $(SETUP) browser
	@echo "pytest$(if $(CI),, (fast tests; 'make test-slow' runs the long ones)); ruff, pyright and doctests beside it"
	@log=$$(mktemp); \
	nice -n 19 $(MAKE) --no-print-directory lint doctests > $$log 2>&1 & beside=$$!; \
	$(MAKE) --no-print-directory pytest; tests=$$?; \
	wait $$beside; checks=$$?; cat $$log; rm -f $$log; \
	test $$tests -eq 0 && test $$checks -eq 0

# The compiled test modules are kept, whatever the environment says: without them pytest takes twice the time to collect the tests.
pytest: $(SETUP)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(if $(CI),,-m "not slow") -n 2 --dist loadfile

doctests: $(SETUP)
	@echo "doctests"
	@$(BIN)/python -m pytest --doctest-modules -p no:cacheprovider harness plugins adapters tasks kernels/caption_kernels kernels/reference

test-slow: $(SETUP)
	@HYPOTHESIS_PROFILE=full $(BIN)/python -m pytest -m slow

test-bits: $(SETUP)
	@$(BIN)/python -m tools.other_processors

# The site in site/ opens from the disk: no request leaves its pages. Its figures are drawn and its pages generated by documentation/.
docs: $(SETUP)
	@$(BIN)/python -m tools.documentation.build

package: $(SETUP)
	@$(BIN)/python -c "import auditwheel, ziglang" 2>/dev/null || $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[wheels]"
	@$(BIN)/python -m tools.release.package $(if $(ONLY),--only $(ONLY))

# All that a release needs and no account: it prints what is left for a person (docs/release.md).
release-check: $(SETUP)
	@$(BIN)/python -c "import auditwheel, ziglang, comrak" 2>/dev/null || $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[wheels]"
	@$(BIN)/python -m tools.release.check $(if $(QUICK),--quick)

sbom: $(SETUP)
	@$(BIN)/python -m tools.release.sbom

# The kernels in WebAssembly and the page that scores. The compiler, a wheel of 100 MB, has an environment of its own; its first build makes
# the C++ library of the target too and takes some minutes, which CI does not spend: tests of the module are skipped without it.
ZIG := build/zig
WASM := kernels/js/caption_kernels.wasm
wasm: $(WASM)
	@$(PYTHON) -m tools.score_page

$(WASM): $(shell find kernels/core kernels/include kernels/wasm -type f)
	@test -x $(ZIG)/bin/python || $(PYTHON) -m venv $(ZIG)
	@$(ZIG)/bin/python -m pip install --quiet --disable-pip-version-check ziglang==0.17.1
	@ZIG_PYTHON=$(CURDIR)/$(ZIG)/bin/python kernels/wasm/build.sh
	@echo "$@: $$(wc -c < $@) bytes, $$(gzip -9c $@ | wc -c) compressed"

# The pages that a release has, which the repository holds with their checksums: docs/artefacts.
artefacts: $(SETUP) wasm
	@$(BIN)/python -m tools.release.artefacts

clean:
	rm -rf build $(WASM) kernels/caption_kernels/browser kernels/build kernels/caption_kernels/*.so dist site gallery *.egg-info */*.egg-info kernels/reference/*.egg-info .pytest_cache .ruff_cache

# Alters files, specs, registries, run directories, checkpoints, captions, replies and labels for MINUTES; findings lie in .fuzz.
MINUTES ?= 10
fuzz: $(SETUP)
	@$(BIN)/python -c "import atheris" 2>/dev/null || $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[fuzz]" || true
	@$(BIN)/python -m tools.fuzz.run --minutes $(MINUTES)

# Disturbs commands for MINUTES and compares what the next one finds with an undisturbed directory; fails below 30 histories a minute.
soak: $(SETUP)
	@$(BIN)/python -m tools.soak.run --minutes $(MINUTES)

# Every benchmark with tiny input: each runs to its end, whatever its goals say.
benchmarks-smoke: $(SETUP)
	@nice -n 10 $(BIN)/python -m benchmarks.smoke

# Changes the sources, one place at a time, and reports the changes that no test notices.
mutants: $(SETUP)
	@$(BIN)/python -c "import cosmic_ray" 2>/dev/null || $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[mutants]"
	@nice -n 10 $(BIN)/python -m tools.mutants.run

# The same for the C++ of kernels/core; the results are kept, so that a second run continues.
kernel-mutants: $(SETUP)
	@nice -n 10 $(BIN)/python -m tools.kernel_mutants

# The C++ kernels under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer, then the golden sets through Python.
sanitize: $(SETUP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python kernels/driver/sanitize.py
