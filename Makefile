# Two commands: `make demo` and `make test`. Each sets up what it needs first; the second call re-uses it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
SERVER := .venv-labelstudio/.ready
HARNESS := .venv-harness/.ready
SLOW := .venv/.ready-slow
TEX := texlive-latex-base texlive-latex-recommended texlive-latex-extra
APT := apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends

.PHONY: demo demo-labelstudio test install lock check check-slow programs harness labelstudio test-labelstudio docs bench \
	architectures chaos clean

install: $(STAMP)

# constraints.txt holds the SHA-256 of every file that pip may take; pip refuses others, and packages without a pin. Hashes
# in constraints need a new pip, so the pinned one comes first. The project itself has no file to hash: it comes last,
# without dependencies, built by the pinned setuptools
PIP = $(BIN)/pip --python $(1)/bin/python install --quiet --require-hashes --constraint constraints.txt
# pip prefers a file whose hash the index names, which is torch's CUDA build; so the CPU build comes first where it is at hand
CPU = torch==$$(sed -n 's/^torch==\([^ ]*\).*/\1/p' constraints.txt)+cpu
TORCH = $(call PIP,$(1)) --no-deps "$(CPU)" 2>/dev/null || echo "no CPU build of torch is at hand; the CUDA build is taken"
$(STAMP): pyproject.toml constraints.txt .ci/requirements.py
	$(PYTHON) -m venv .venv
	$(BIN)/python .ci/requirements.py tools > .venv/tools.txt
	$(BIN)/pip install --quiet --require-hashes --requirement .venv/tools.txt
	$(BIN)/python .ci/requirements.py needs dev > .venv/needs.txt
	$(call TORCH,.venv)
	$(call PIP,.venv) --requirement .venv/needs.txt
	PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(STAMP)

# the same versions with the hashes that the index publishes; `make lock UPGRADE=--upgrade` takes the newest versions
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet --upgrade pip uv
	PATH=$(CURDIR)/.venv-lock/bin:$$PATH .venv-lock/bin/python .ci/requirements.py lock $(UPGRADE)

demo: $(STAMP)
	$(BIN)/catsofa demo --out demo-out

demo-labelstudio: $(STAMP) $(SERVER)
	LABEL_STUDIO_EXE=$(CURDIR)/.venv-labelstudio/bin/label-studio $(BIN)/catsofa demo --label-studio --out demo-out

test: $(STAMP)
	$(BIN)/pytest -q -n 2 -m 'not slow'

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n 2 -m 'not slow'

# one command: brings what it needs, as far as this machine lets it, and names what it could not bring
check-slow: $(SLOW)
	$(MAKE) --quiet programs
	$(MAKE) $(SERVER) || echo "Label Studio could not be installed; its tests are skipped"
	$(MAKE) harness || echo "lm-evaluation-harness could not be installed; its tests are skipped"
	$(BIN)/pytest -q -n 2 --dist loadfile -m slow

$(SLOW): $(STAMP)
	$(BIN)/python .ci/requirements.py needs cluster > .venv/needs-slow.txt
	$(call PIP,.venv) --requirement .venv/needs-slow.txt
	touch $(SLOW)

# a browser for the pages, and a TeX with booktabs and longtable for the tables, where apt is at hand
programs:
	-command -v $${CATSOFA_CHROMIUM:-/usr/bin/chromium} || { $(APT) chromium; }
	-command -v pdflatex && kpsewhich booktabs.sty longtable.sty array.sty || { $(APT) $(TEX); }
	-command -v npm || { $(APT) npm; }

# Label Studio holds back libraries that models need, so it has an environment of its own
labelstudio: $(SERVER)

$(SERVER): annotation/label_studio/server.py
	$(PYTHON) -m venv .venv-labelstudio
	.venv-labelstudio/bin/pip install --quiet label-studio==$$(sed -n 's/^VERSION = "\(.*\)"/\1/p' annotation/label_studio/server.py)
	touch $(SERVER)

# lm-evaluation-harness holds other libraries than we do, so it has an environment of its own
harness: $(HARNESS)

$(HARNESS): | $(STAMP)
	$(PYTHON) -m venv .venv-harness
	$(call TORCH,.venv-harness)
	$(call PIP,.venv-harness) torch transformers accelerate
	.venv-harness/bin/pip install --quiet 'lm_eval==0.4.13'
	touch $(HARNESS)

# where the server cannot be installed (no way to an index) its tests say so and are skipped
test-labelstudio: $(STAMP)
	$(MAKE) $(SERVER) || echo "Label Studio could not be installed here"
	$(BIN)/pytest -q tests/annotation/test_five_ways.py tests/annotation/study/test_people.py tests/annotation/portal/test_portal.py

# a broken link or example is an error; NO_MKDOCS_2_WARNING hushes a notice that is not about this site
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# 100 kills at random instants; SEED=7 repeats those of an earlier call
chaos: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m chaos $(if $(SEED),--seed $(SEED))

# a page of the docs: every architecture against a plain loop (about two minutes)
architectures: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m helpers.architectures.page

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .venv-labelstudio .venv-harness .venv-lock build dist *.egg-info demo-out
