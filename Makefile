# Short names for what scripts/ and the CMake presets do; see README.md.
#   make tune    set up, build, and tune the example payload
#   make check   set up, build, and run every test
PRESET  ?= release
PAYLOAD ?= benchmarks/payloads/matmul_512.mlir
OUT     ?= best.mlir
ARGS    ?=

.PHONY: help setup build tune check benchmarks docs clean
help: ## print this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 10
	@echo
	@echo "variables: PRESET=$(PRESET) PAYLOAD=$(PAYLOAD) OUT=$(OUT) ARGS='extra cwm-tune flags'"

setup: ## install what is missing (apt packages, .venv); instant when nothing is
	@scripts/setup.sh

build: setup ## build the tools with PRESET (release, dev, asan, gcc)
	@scripts/build.sh $(PRESET)

tune: setup ## tune PAYLOAD, write OUT; run it again to continue
	@scripts/build.sh $(PRESET) tools
	build/$(PRESET)/bin/cwm-tune $(PAYLOAD) -o $(OUT) $(ARGS)

check: setup ## build and run every test; the last line counts them
	@scripts/check.sh $(CHECK_ARGS)

benchmarks: setup ## print the table of bars; keep the machine idle (two hours)
	@scripts/build.sh release tools
	@test -x .venv-bench/bin/python3 || python3 -m venv .venv-bench
	@.venv-bench/bin/pip install -q -r benchmarks/requirements.txt
	.venv-bench/bin/python3 benchmarks/table.py $(ARGS)

docs: setup ## regenerate docs/reference from td files and --help
	@scripts/build.sh dev cwm-opt cwm-tune cwm-train cwm-runner CwmPlugin
	@scripts/generate-docs.sh build/dev

clean: ## remove build/ (keeps .venv and work directories)
	rm -rf build
