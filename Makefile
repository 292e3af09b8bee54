# make demo   install what is needed into .venv and watch a perceptron learn
# make studio watch it in the browser: scenes, the proof, points that you draw, files of yours
# make test   the same, and run all tests
# make check  lint, types and import rules
# make dist   build the wheel and the source archive into dist/
# make test-wheel   the same, and run the README's examples with the wheel in a clean environment
# make test-oldest  run the tests with the oldest versions that pyproject.toml allows, in .venv-oldest
# make test-plain   run all tests without hand-written code; `make test` runs those of them that reach its fallbacks
# make bench  side by side with scikit-learn and river; exits non-zero where a target is missed
# make serve  show the service: predictions over HTTP, labels that come later, and a page that shows its ledger
# make crash-test   kill the service 1,000 times while clients use it; CRASH_TEST="--rounds 100" for fewer
# make fuzz   attack the package with random input, threads, signals and damaged files; FUZZ="--seconds 600" for longer

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo studio test check dist test-wheel test-oldest bench fuzz serve crash-test clean

demo: .venv/installed
	$(BIN)/novikoff demo

studio: .venv/installed-studio
	$(BIN)/novikoff studio $(STUDIO)

# Once as it is used. Then parts of it: without the JIT, and with bounds checks, where an index out of bounds is an error;
# without any hand-written code; and with new random examples, whose seed is printed if one fails. Workers that steal work
# begin far apart, and so compile different loops: with the default both compile the same ones at the same time.
PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal
test: .venv/installed-dev
	$(PYTEST)
	NUMBA_DISABLE_JIT=1 $(PYTEST) tests/perceptron/test_oracle.py tests/perceptron/test_worked_example.py \
		tests/perceptron/test_stateful_rules.py \
		tests/theory/test_hull.py tests/kernel_methods/test_budget.py tests/kernel_methods/test_products.py \
		tests/test_losses.py tests/descent/test_sgd.py tests/_compiled/test_simd.py tests/_compiled/test_hash_table.py \
		tests/regression
	NUMBA_BOUNDSCHECK=1 $(PYTEST) tests/data/formats tests/streaming/test_model.py tests/structured/test_tagger.py \
		tests/structured/test_search.py tests/regression tests/perceptron/test_stateful_rules.py \
		tests/data/encoding/test_hats.py
	NOVIKOFF_PLAIN=1 $(PYTEST) tests/_compiled/test_simd.py tests/_compiled/test_fallbacks.py tests/golden \
		tests/perceptron/test_oracle.py tests/perceptron/test_dict_fast_path.py tests/structured/test_tagger.py \
		tests/kernel_methods/test_products.py tests/data/formats/test_columnar.py
	$(PYTEST) --hypothesis-profile=explore tests/perceptron/test_theorems.py tests/perceptron/test_equivalence.py \
		tests/theory/test_bounds.py tests/data/formats/test_delimited.py

.PHONY: test-plain
test-plain: .venv/installed-dev
	NOVIKOFF_PLAIN=1 $(PYTEST)

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# hatchling writes the same bytes from the same files: it ignores times and owners.
dist: .venv/hatchling
	rm -rf dist
	$(BIN)/python -m hatchling build
	@cd dist && for wheel in *.whl; do \
		echo "To install it:          pip install dist/$$wheel"; \
		echo "With plots, or ONNX:    pip install \"dist/$$wheel[plot,onnx]\""; \
	done

test-wheel: dist
	$(BIN)/python -m tests.packaging.try_wheel dist/*.whl

OLDEST := .venv-oldest/bin/python
test-oldest:
	$(PYTHON) -m venv --clear .venv-oldest
	$(OLDEST) -m pip install --quiet --constraint constraints-oldest.txt --editable ".[plot,onnx,serve,postgres,studio]" \
		axe-playwright-python hypothesis pandas pytest pytest-timeout pytest-xdist
	$(OLDEST) -m pytest -n auto $(OLDEST_TESTS)

fuzz: .venv/installed-dev
	$(BIN)/python -m tests.fuzz $(FUZZ)

bench: .venv/installed-bench
	$(BIN)/python -m benchmarks

serve: .venv/installed-serve
	$(BIN)/python -m examples.serving

crash-test: .venv/installed-dev
	$(BIN)/python -m tests.service.crash $(CRASH_TEST)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "novikoff needs Python 3.11 or newer," \
		"and $(PYTHON) is none; name one with: make PYTHON=/path/to/python3 demo"; exit 1; }
	$(PYTHON) -m venv --clear .venv || \
		{ rm -rf .venv; echo "Python cannot make environments here; on Debian: apt install python3-venv"; exit 1; }

# Without isolation, pip builds with the hatchling of constraints.txt, and asks for no network once all is installed.
define install
@echo 'pip install $(1)'
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $(1) || \
	{ echo "pip could not install this (see above). The first time, and when pyproject.toml or constraints.txt has" \
	"changed, it needs a network, or an index of yours (PIP_INDEX_URL)."; exit 1; }
endef

.venv/hatchling: .venv/bin/python constraints.txt
	$(call install,hatchling editables)
	@touch $@

.venv/installed: .venv/hatchling pyproject.toml constraints.txt
	$(call install,--no-build-isolation --editable .)
	@touch $@

.venv/installed-%: .venv/installed
	$(call install,--no-build-isolation --editable ".[$*]")
	@touch $@

clean:
	rm -rf .venv .venv-oldest dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
