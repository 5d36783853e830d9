# Everything a newcomer, a curator or CI does. `make demo` sets up what it needs.
TASK ?= tomlkit-0.15.2
DEMO ?= unidiff-1.0.1
BUNDLE ?= runs/demo-oracle
PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
FUZZ_ARGS ?=
NANOBENCH := .venv/bin/nanobench

.PHONY: setup demo test attacks lint lock run matrix verify bench fuzz golden clean

setup: .venv/ready

.venv/ready: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --require-hashes --requirement requirements.txt
	.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

# The whole way of a task: lock it (from its pins: no byte changes), let the agent run twice, verify what came out.
demo: setup
	rm -rf runs/demo-oracle runs/demo-nop
	$(NANOBENCH) lock $(DEMO)
	$(NANOBENCH) run --locked $(DEMO) --provider oracle --out runs/demo-oracle
	$(NANOBENCH) run --locked $(DEMO) --provider nop --out runs/demo-nop
	$(NANOBENCH) verify runs/demo-oracle

# Two files of tests at a time: more would need more Docker daemons and memory than a small machine has.
test: setup
	.venv/bin/python -m pytest -n 2 --dist loadfile $(PYTEST_ARGS)

# Every published attack on the grader: a table, and an error when one came to something else than it should.
attacks: setup
	$(NANOBENCH) selftest --attacks

lint: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

lock: setup
	$(NANOBENCH) lock $(TASK)

run: setup
	$(NANOBENCH) run --locked $(TASK) --provider oracle

# The whole of matrix.toml without a model, and every report of it in runs/matrix-report.
matrix: setup
	rm -rf runs/matrix runs/matrix-report
	$(NANOBENCH) run --matrix matrix.toml --out runs/matrix
	$(NANOBENCH) report runs/matrix
	$(NANOBENCH) report runs/matrix --html runs/matrix-report
	for form in markdown json csv; do \
		$(NANOBENCH) report runs/matrix --format $$form >runs/matrix-report/report.$$form || exit; \
	done
	$(NANOBENCH) report runs/matrix --comment --link https://example.org/report >runs/matrix-report/comment.md

verify: setup
	$(NANOBENCH) verify $(BUNDLE)

bench: setup
	.venv/bin/python -m benchmarks $(BENCH_ARGS)

# Coverage-guided, for as long as you like; needs `.venv/bin/pip install atheris`.
fuzz: setup
	.venv/bin/python -m tests.fuzz $(FUZZ_ARGS)

golden: setup
	.venv/bin/python -m nanobench.cli.golden .
	.venv/bin/python -m tests.report.golden

clean:
	rm -rf .venv .cache runs
