# Two commands do everything on a fresh machine with Python 3.11+ and make:
#
#   make demo    sample sessions in, questions answered
#   make test    the linters, the type checker and the tests
#
# Both set up .venv from requirements/dev.txt, the locked dependencies.

PYTHON ?= python3
BIN := .venv/bin
# Trust what the machine trusts: behind a company's proxy uv's own list of certificates is not enough.
export UV_SYSTEM_CERTS ?= 1

.PHONY: demo test lint check soak bench peers lock clean

demo: .venv/ready
	@$(BIN)/picomem demo

test: lint check

lint: .venv/ready
	$(BIN)/ruff check src benchmarks tests
	$(BIN)/ruff format --check src benchmarks tests
	$(BIN)/lint-imports
	$(BIN)/basedpyright --level error

check: .venv/ready
	$(BIN)/pytest -n 2

# The tests of docs/reliability.md at their full amounts, hours of them; one row with ROW=R8, a part with SOAK=0.1.
SOAK ?= 1

soak: .venv/ready
	SOAK=$(SOAK) $(BIN)/pytest -n 2 -m reliability --timeout 36000 $(if $(ROW),--row $(ROW)) --durations 20

bench: .venv/ready
	$(BIN)/python -m benchmarks speed
	@echo "Others: $(BIN)/python -m benchmarks --help; quality: $(BIN)/picomem bench quality FILE…  (see docs/benchmarks.md)"

# Other libraries, each in an environment of its own, for: .venv/bin/python -m benchmarks peers --peers $(PEERS)
# txtai brings torch and its CUDA libraries, 5 GB: make peers PEER=txtai
PEERS ?= .peers
PEER ?= bm25s chroma mempalace model sqlite-vec

peers: .venv/ready
	@for peer in $(PEER); do \
		place=$(PEERS)/$$peer; file=requirements/peers/$$peer.txt; echo "$$place"; \
		$(BIN)/uv venv --quiet --clear --python $(BIN)/python $$place && \
		$(BIN)/uv pip install --quiet --python $$place --no-deps --requirement $$file || exit 1; \
	done

.venv/ready: pyproject.toml requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "picomem needs Python 3.11 or newer; set PYTHON=python3.12 or the like." >&2; exit 1; }
	@echo "Setting up .venv (once)…" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		"$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements/dev.txt)"
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11 --group dev pyproject.toml --output-file requirements/dev.txt

clean:
	rm -rf .venv dist
