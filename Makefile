# Two commands do everything on a fresh machine with Python 3.11+ and make:
#
#   make demo    sample sessions in, questions answered
#   make test    the linters, the type checker and the tests, but the slowest; with SLOW=1 those too, as in CI
#
# Both set up .venv from requirements/dev.txt, the locked dependencies.

PYTHON ?= python3
BIN := .venv/bin
# Trust what the machine trusts: behind a company's proxy uv's own list of certificates is not enough.
export UV_SYSTEM_CERTS ?= 1
# Container images often forbid bytecode. Each of the hundreds of processes of the tests would then compile every module.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo screenshots docs test style layers types wheel installed lowest check postgres postgres-sample postgres-pooled citus-sample lint coverage soak bench \
	weights peers peers-tests server-memory conformance hosts unit lock clean

demo: .venv/ready
	@$(BIN)/picomem demo

# The pictures of the web page in docs/pictures; they need a browser.
screenshots: .venv/ready
	@$(BIN)/python -m tests.page.screenshots docs/pictures

# The documents as a site in .site, with a search.
docs: .envs/docs/ready
	@.envs/docs/bin/mkdocs build --quiet --config-file site/mkdocs.yml
	@echo "The site is in .site: open .site/index.html"

# The cheap steps come first. A step that fails ends the run and is named last; it also runs alone: make types
# Steps joined by "+" run beside each other, since each of them uses one core.
STEPS ?= style layers+types+installed+lowest check postgres-sample
BESIDE := -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

test: .venv/ready
	@for step in $(STEPS); do \
		echo "make test: $$step"; start=$$(date +%s); \
		case $$step in *+*) jobs="$(BESIDE)";; *) jobs=;; esac; \
		$(MAKE) --no-print-directory $$jobs $$(echo $$step | tr + ' ') || \
			{ echo "make test: the step '$$step' failed" >&2; exit 1; }; \
		echo "make test: $$step passed in $$(($$(date +%s) - start)) s"; \
	done
	@echo "make test: all steps passed: $(STEPS)"
	@$(if $(filter check,$(STEPS)),$(if $(SLOW),,echo "make test: left out the slow tests, which CI runs; with them: make test SLOW=1"))

lint: style layers types

style: .venv/ready
	$(BIN)/ruff check src benchmarks question_sets training tests
	$(BIN)/ruff format --check src benchmarks question_sets training tests

layers: .venv/ready
	$(BIN)/lint-imports

types: .venv/ready
	$(BIN)/basedpyright --level error

# What users install: the wheel with its base dependencies, and no extra, in an environment of its own.
installed: wheel .envs/base/ready
	@$(BIN)/uv pip install --quiet --python .envs/base --no-deps --reinstall .envs/dist/*.whl
	$(BIN)/uv pip check --quiet --python .envs/base
	$(BIN)/pytest tests/project/installed.py

# The wheel with the oldest versions that pyproject.toml allows, on the oldest Python: many of them have no wheels for
# newer ones.
MCP := tests/gateway/test_mcp.py
LOWEST := tests/test_imports.py tests/text/test_tokens.py tests/policy/test_ways_in.py tests/store/test_schema.py \
	tests/recall/test_lexical_search.py tests/recall/test_recall.py tests/text/test_temporal.py \
	tests/ingest/test_codex.py tests/ingest/test_ingest.py \
	$(MCP)::test_the_schema_is_rendered_from_the_request \
	$(MCP)::test_a_memory_is_stored_recalled_and_forgotten_with_the_words_of_the_plan \
	$(MCP)::test_a_process_serves_each_era_over_stdio_and_stray_output_does_not_break_it

lowest: wheel
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; \
		then $(MAKE) --no-print-directory lowest-on-3.11; \
		else echo "Left out: the oldest versions are tested on Python 3.11 alone, and .venv has a newer one."; fi

lowest-on-3.11: .envs/lowest/ready
	@$(BIN)/uv pip install --quiet --python .envs/lowest --no-deps --reinstall .envs/dist/*.whl
	$(BIN)/uv pip check --quiet --python .envs/lowest
	.envs/lowest/bin/pytest $(LOWEST)

wheel: .venv/ready
	@rm -rf .envs/dist
	@$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir .envs/dist

.envs/%/ready: requirements/%.txt .venv/ready
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .envs/$*
	@$(BIN)/uv pip sync --quiet --python .envs/$* --require-hashes $<
	@touch $@

check: .venv/ready
	$(BIN)/pytest -n 2 --dist worksteal $(if $(SLOW),,--without-slow)

# Lines and branches that the quick tests run, in the process of the tests: at least as many as `fail_under` in pyproject.toml.
coverage: .venv/ready
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n 2 --dist worksteal --without-slow
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# The tests on a PostgreSQL server that they start: all of them, or a sample of half a minute. Those that need the file of
# a store are skipped.
ON_POSTGRES = $(BIN)/pytest -n 2 --dist worksteal --database postgres
SAMPLE := tests/memory/test_remember.py tests/sessions/test_log.py tests/consolidation/test_consolidation.py \
	tests/agent/test_turns.py tests/notes/test_note_search.py tests/operations/test_paging.py tests/jobs/test_schedule.py

postgres: .venv/ready
	$(ON_POSTGRES)

postgres-sample: .venv/ready
	$(ON_POSTGRES) $(SAMPLE)

# The sample through PgBouncer in transaction mode, which must be installed: apt-get install pgbouncer
postgres-pooled: .venv/ready
	$(subst --database postgres,--database pgbouncer,$(ON_POSTGRES)) $(SAMPLE)

# The sample on what stands in for Citus, and refuses what Citus refuses. On a real one, whose addresses are in
# PICOMEM_TEST_CITUS_DSN (tests/databases.py): make citus-sample CITUS=citus
CITUS ?= citus-fake

citus-sample: .venv/ready
	$(subst --database postgres,--database $(CITUS),$(ON_POSTGRES)) $(SAMPLE)

# The tests of docs/reliability.md at their full amounts, hours of them; one row with ROW=R8, a part with SOAK=0.1.
SOAK ?= 1

soak: .venv/ready
	SOAK=$(SOAK) $(BIN)/pytest -n 2 -m reliability --timeout 36000 $(if $(ROW),--row $(ROW)) --durations 20

# The weights of the write side's classifiers, from the labelled lines in training/data; the same bytes each time.
weights: .venv/ready
	$(BIN)/python -m training

bench: .venv/ready
	$(BIN)/python -m benchmarks speed
	@echo "Others: $(BIN)/python -m benchmarks --help  (see benchmarks/README.md)"

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

# Other projects' own tests, from their pinned source distributions, with our adapters in the place of their stores.
OPENAI_TESTS := tests/memory/test_session.py tests/memory/test_session_limit.py
ANTHROPIC_TESTS := tests/lib/tools/memory_tools/test_filesystem.py
HARNESS_TESTS := tests/memory/test_stores.py
PEERS_PYTEST = PYTHONPATH=$(CURDIR)/tests/peers:. $(CURDIR)/.envs/peers-tests/bin/python -m pytest -q -p substitutes \
	-p no:cacheprovider --timeout 60 --rootdir . --override-ini asyncio_mode=auto

peers-tests: wheel .envs/peers-tests/ready .envs/peers-tests/sources
	@$(BIN)/uv pip install --quiet --python .envs/peers-tests --no-deps --reinstall .envs/dist/*.whl
	cd .envs/peers-tests/sources/openai_agents-* && $(PEERS_PYTEST) $(OPENAI_TESTS)
	cd .envs/peers-tests/sources/anthropic-* && $(PEERS_PYTEST) --noconftest -c /dev/null $(ANTHROPIC_TESTS)
	cd .envs/peers-tests/sources/pydantic_ai_harness-* && $(PEERS_PYTEST) --noconftest -c /dev/null $(HARNESS_TESTS)

# MCP's server-memory, which npm installs, and our tools of the same names with the same calls.
server-memory: .venv/ready
	@mkdir -p .envs/server-memory
	@cp tests/server_memory/package.json tests/server_memory/package-lock.json .envs/server-memory
	@npm ci --prefix .envs/server-memory --no-audit --no-fund --loglevel error
	$(BIN)/python -m tests.server_memory .envs/server-memory

# MCP's own suite against `picomem serve`. npm installs it, and the Node that it needs, in the versions of the lock file.
conformance: .venv/ready
	@mkdir -p .envs/conformance && cp tests/conformance/package.json tests/conformance/package-lock.json .envs/conformance
	@npm ci --prefix .envs/conformance --no-audit --no-fund --loglevel error
	$(BIN)/python -m tests.conformance .envs/conformance

# deploy/picomem.service under a real systemd, in namespaces of its own; it needs root and Debian's package systemd.
unit: wheel
	tests/systemd_unit/run.sh .envs/dist/*.whl

# The real Claude Code and the real Codex, in pinned versions that npm brings (800 MB), with a scripted model.
hosts: .venv/ready
	@mkdir -p .envs/hosts && cp tests/real_hosts/package.json tests/real_hosts/package-lock.json .envs/hosts
	@npm ci --prefix .envs/hosts --no-audit --no-fund --loglevel error
	$(BIN)/python -m tests.real_hosts .envs/hosts

.envs/peers-tests/sources: requirements/peers-tests-sources.txt .envs/peers-tests/ready
	@rm -rf $@ && mkdir -p $@
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary openai-agents,anthropic,pydantic-ai-harness \
		--require-hashes --requirement $< --dest $@
	@for archive in $@/*.tar.gz; do tar -xzf $$archive -C $@ || exit 1; done

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

# Three locks: of the development, of what the wheel needs (as in the first), and of the oldest that is allowed.
COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	--python-version 3.11 pyproject.toml

lock:
	$(COMPILE) requirements/peers-tests.in --output-file requirements/peers-tests.txt
	$(subst pyproject.toml,requirements/docs.in,$(COMPILE)) --output-file requirements/docs.txt
	$(COMPILE) --group dev --output-file requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt --output-file requirements/base.txt
	$(COMPILE) --group test --resolution lowest-direct --output-file requirements/lowest.txt

clean:
	rm -rf .venv .envs dist
