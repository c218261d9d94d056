# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run ladder whole example test test-long agents small-model lint bench clean
.DEFAULT_GOAL := run

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (make PYTHON=python3.12 run)")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	touch $@

run: $(STAMP)
	$(BIN)/dreambench run fold=quick family=quick

ladder: $(STAMP)
	$(BIN)/dreambench run fold=quick conditions=all --out runs/ladder-0
	$(BIN)/dreambench run fold=quick conditions=all haystack=200 --facts-from runs/ladder-0 --out runs/ladder-200

SIX := B0,B5,ALL,DF,EVIDENCE,POISON
whole: $(STAMP)
	$(BIN)/dreambench run fold=c1-c10 conditions=$(SIX) --out runs/whole-0
	$(BIN)/dreambench run fold=c1-c10 conditions=$(SIX) haystack=200 --facts-from runs/whole-0 --out runs/whole-200
	$(BIN)/dreambench trap instruments runs/whole-0 runs/whole-200

# The bundle that docs/auditing.md goes through; its private key is thrown away.
EXAMPLE := build/example
example: $(STAMP)
	rm -rf $(EXAMPLE)
	$(BIN)/dreambench key new $(EXAMPLE)/key.pem
	$(BIN)/dreambench plan freeze examples/parcels.toml --out $(EXAMPLE)/run --sign $(EXAMPLE)/key.pem
	$(BIN)/dreambench run --out $(EXAMPLE)/run
	$(BIN)/dreambench freeze $(EXAMPLE)/run --out examples/parcels.dbf --sign $(EXAMPLE)/key.pem --reveal
	$(BIN)/dreambench freeze $(EXAMPLE)/run --out examples/parcels-sealed.dbf --sign $(EXAMPLE)/key.pem
	cp $(EXAMPLE)/run/seal.key examples/parcels.seal.key
	cp $(EXAMPLE)/key.pem.pub examples/parcels.pub.pem
	tar -xOf examples/parcels.dbf plan.json | sha256sum | sed 's/-$$/plan.json/' > examples/parcels.plan.sha256
	rm -r $(EXAMPLE)

test: $(STAMP)
	$(BIN)/python -m pytest

test-long: $(STAMP)
	$(BIN)/python -m pytest -m 'long and not by_hand'

# Every real program on the quick fold, before a scripted model, in both sandboxes.
agents: $(STAMP)
	$(BIN)/python -m pytest -n 0 tests/agents -m 'long or by_hand'

# A model of your own on this machine (docs/small-model.md): start its server first, or name another endpoint.
SMALL := http://127.0.0.1:8080/v1
small-model: $(STAMP)
	$(BIN)/dreambench run examples/small-model/run.toml model.base_url=$(SMALL) --out runs/small-model

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) build *.egg-info
