# `make` lists the targets. Each sets up what it needs first; the second call re-uses it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
SERVER := .venv-labelstudio/.ready
HARNESS := .venv-harness/.ready-api
INSPECT := .venv-inspect/.ready
SHARING := .venv-sharing/.ready
TRACKERS := .venv-trackers/.ready
LIGHTEVAL := .venv-lighteval/.ready
SLOW := .venv/.ready-slow
CHECKERS := lttoolbox apertium-spa-cat apertium-fra-cat hunspell hunspell-es hunspell-fr hunspell-de-de
TEX := texlive-latex-base texlive-latex-recommended texlive-latex-extra
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
APT := $(SUDO) apt-get update -qq; $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

.PHONY: address help demo demo-labelstudio test install lock check check-slow programs harness inspect sharing trackers lighteval labelstudio \
	test-labelstudio docs reference pictures bench architectures chaos clean

install: $(STAMP) ## create .venv with the pinned dependencies

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
lock: ## write constraints.txt again (UPGRADE=--upgrade takes the newest versions)
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet --upgrade pip uv
	PATH=$(CURDIR)/.venv-lock/bin:$$PATH .venv-lock/bin/python .ci/requirements.py lock $(UPGRADE)

demo: $(STAMP) ## run the whole journey offline, into demo-out/
	$(BIN)/catsofa demo --out demo-out

demo-labelstudio: $(STAMP) $(SERVER) ## run the demo with its votes through a Label Studio server
	LABEL_STUDIO_EXE=$(CURDIR)/.venv-labelstudio/bin/label-studio $(BIN)/catsofa demo --label-studio --out demo-out

# two workers of one thread each: workers with a thread for every core wait for one another's threads
PYTEST = OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2

test: $(STAMP) ## run the fast tests
	$(PYTEST) -m 'not slow'

check: $(STAMP) ## check format, lint and types, and run the fast tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -m 'not slow'

# one command: brings what it needs, as far as this machine lets it, and names what it could not bring
check-slow: $(SLOW) ## install what the slow tests need, and run them
	$(MAKE) --quiet programs
	$(MAKE) $(SERVER) || echo "Label Studio could not be installed; its tests are skipped"
	$(MAKE) harness || echo "lm-evaluation-harness could not be installed; its tests are skipped"
	$(MAKE) inspect || echo "Inspect could not be installed; its tests are skipped"
	$(MAKE) sharing || echo "the packages of Every Eval Ever and Croissant could not be installed; their tests are skipped"
	$(MAKE) trackers || echo "W&B, MLflow and trackio could not be installed; their tests are skipped"
	$(MAKE) lighteval || echo "lighteval could not be installed; its test is skipped"
	$(BIN)/pip install --quiet --no-deps girth==0.8.0 || echo "girth could not be installed; its test is skipped"
	$(PYTEST) --dist loadfile -m slow --durations 30

$(SLOW): $(STAMP)
	$(BIN)/python .ci/requirements.py needs cluster > .venv/needs-slow.txt
	$(call PIP,.venv) --requirement .venv/needs-slow.txt
	touch $(SLOW)

# a browser for the pages, a TeX with booktabs and longtable, a proxy, a database, checkers of languages, where apt is at hand
programs: ## install a browser, TeX, npm, Caddy, PostgreSQL and checkers of languages with apt
	-command -v $${CATSOFA_CHROMIUM:-/usr/bin/chromium} || { $(APT) chromium; }
	-command -v pdflatex && kpsewhich booktabs.sty longtable.sty array.sty || { $(APT) $(TEX); }
	-command -v npm || { $(APT) npm; }
	-command -v caddy || { $(APT) caddy; }
	-ls /usr/lib/postgresql/*/bin/initdb || command -v initdb || { $(APT) postgresql; }
	-command -v lt-proc hunspell || { $(APT) $(CHECKERS); }

# Label Studio holds back libraries that models need, so it has an environment of its own
labelstudio: $(SERVER) ## install Label Studio into .venv-labelstudio

$(SERVER): annotation/label_studio/server.py
	$(PYTHON) -m venv .venv-labelstudio
	.venv-labelstudio/bin/pip install --quiet label-studio==$$(sed -n 's/^VERSION = "\(.*\)"/\1/p' annotation/label_studio/server.py)
	touch $(SERVER)

# lm-evaluation-harness holds other libraries than we do, so it has an environment of its own
harness: $(HARNESS) ## install lm-evaluation-harness into .venv-harness

$(HARNESS): | $(STAMP)
	$(PYTHON) -m venv .venv-harness
	$(call TORCH,.venv-harness)
	$(call PIP,.venv-harness) torch transformers accelerate
	.venv-harness/bin/pip install --quiet 'lm_eval[api]==0.4.13'
	touch $(HARNESS)

# Inspect too; its tasks import catsofa
inspect: $(INSPECT) ## install Inspect into .venv-inspect

$(INSPECT): | $(STAMP)
	$(PYTHON) -m venv .venv-inspect
	.venv-inspect/bin/pip install --quiet 'inspect-ai==0.3.285' openai --editable .
	touch $(INSPECT)

# the package of Every Eval Ever asks for Python 3.12; its validator runs on 3.11, and needs only these libraries
sharing: $(SHARING) ## install the validators of Every Eval Ever and Croissant into .venv-sharing

$(SHARING):
	$(PYTHON) -m venv .venv-sharing
	.venv-sharing/bin/pip install --quiet mlcroissant==1.1.1 huggingface_hub jsonschema pyarrow pydantic pyyaml requests rich
	.venv-sharing/bin/pip install --quiet --no-deps --ignore-requires-python every-eval-ever==0.3.0
	touch $(SHARING)

# experiment trackers, for the loggers of catsofa/integrations
trackers: $(TRACKERS) ## install W&B, MLflow and trackio into .venv-trackers

$(TRACKERS):
	$(PYTHON) -m venv .venv-trackers
	.venv-trackers/bin/pip install --quiet wandb==0.31.0 mlflow-skinny==3.17.2 trackio==0.43.0 pandas --editable .
	touch $(TRACKERS)

# lighteval too; its task imports catsofa
lighteval: $(LIGHTEVAL) ## install lighteval into .venv-lighteval

$(LIGHTEVAL): | $(STAMP)
	$(PYTHON) -m venv .venv-lighteval
	$(call TORCH,.venv-lighteval)
	.venv-lighteval/bin/pip install --quiet lighteval==0.13.0 --editable .
	# an import of lighteval fetches a file for a task that nobody runs here; offline an empty one does
	touch $$(echo .venv-lighteval/lib/python*/site-packages/lighteval/tasks/tasks)/tinyBenchmarks.pkl
	touch $(LIGHTEVAL)

# where the server cannot be installed (no way to an index) its tests say so and are skipped
test-labelstudio: $(STAMP) ## run the tests on a real Label Studio server
	$(MAKE) $(SERVER) || echo "Label Studio could not be installed here"
	$(BIN)/pytest -q tests/annotation/test_five_ways.py tests/annotation/label_studio/test_people.py

# a broken link or example is an error; NO_MKDOCS_2_WARNING hushes a notice that is not about this site
docs: $(STAMP) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

reference: $(STAMP) ## write the pages of formats, protocols and released sets from the program
	$(BIN)/python docs/site_hooks.py

# 100 kills at random instants; SEED=7 repeats those of an earlier call
chaos: $(STAMP) ## kill long commands 100 times and compare the ends (SEED=7 repeats a call)
	PYTHONPATH=tests $(BIN)/python -m chaos $(if $(SEED),--seed $(SEED))

# a page of the docs: every architecture against a plain loop (about two minutes)
architectures: $(STAMP) ## write the page that compares every architecture with a plain loop
	PYTHONPATH=tests $(BIN)/python -m helpers.architectures.page

# demo's groups and simulated models, in Chromium; a test compares the words of the pages with those of the pictures
pictures: $(STAMP) ## take the pictures of README and docs
	PYTHONPATH=tests $(BIN)/python -m helpers.pictures

bench: $(STAMP) ## run every benchmark; WRITE=--write keeps the results
	$(BIN)/python -m benchmarks $(WRITE)

# a repository's address is nowhere until somebody gives it one
address: ## write the address of the repository into metadata, README and citation (URL=https://HOST/OWNER/NAME)
	$(PYTHON) .ci/address.py $(URL)

clean: ## delete the environments and the built files
	rm -rf .venv .venv-labelstudio .venv-harness .venv-inspect .venv-sharing .venv-trackers .venv-lighteval .venv-lock build dist site *.egg-info demo-out
