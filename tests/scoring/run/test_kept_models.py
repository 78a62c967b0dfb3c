"""A finished run is reported again without its model: torch is not imported, and every number is the same."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catsofa.data.files import jsonl
from catsofa.data.records import AssociationTest, WordSet
from catsofa.scoring import evaluate as evaluate_module
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors import local
from catsofa.scoring.models import load
from catsofa.scoring.protocols import named

Tiny = Callable[[str], Path]
AGAIN = """
import json, sys
from catsofa.scoring.evaluate import evaluate
found = evaluate(sys.argv[1], sys.argv[2], out=sys.argv[3], resamples=20)
print(json.dumps([found.to_dict(), "torch" in sys.modules, "transformers" in sys.modules]))
"""


def test_the_same_call_on_a_finished_run_imports_no_torch(tiny: Tiny, files: Path) -> None:
    """In a process of its own, the report is that of the first call, without torch and transformers."""
    model, out = tiny("gpt2"), files / "run"
    first = evaluate(model, files / "cats.jsonl", out=out, resamples=20).to_dict()
    command = [sys.executable, "-c", AGAIN, str(model), str(files / "cats.jsonl"), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    again, torch, transformers = json.loads(done.stdout)
    assert not torch
    assert not transformers
    assert again == json.loads(json.dumps(first))


def test_a_full_run_that_was_finished_with_a_limit_goes_on(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of all records is stopped, finished with a limit, and begun again: it is not taken for a finished one."""

    def run(limit: int | None = None, out: str = "run") -> dict[str, Any]:
        model, data = tiny("gpt2"), files / "cats.jsonl"
        return evaluate(model, data, out=files / out, resamples=20, limit=limit).to_dict()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(evaluate_module, "score_all", stop)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert run(limit=2)["signature"]["subset"]
    assert run() == run(out="other")


def test_a_call_that_differs_in_anything_loads_the_model(
    tiny: Tiny, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another precision, protocol or file of the model loads the model, and the folder refuses a different run."""
    model, out = files / "model", files / "run"
    shutil.copytree(tiny("gpt2"), model)
    evaluate(model, files / "cats.jsonl", out=out, resamples=20)
    loaded = list[str]()

    def loading(name: str, **how: Any) -> Any:
        loaded.append(name)
        return load(name, **how)

    monkeypatch.setattr(local, "load", loading)
    evaluate(model, files / "cats.jsonl", out=out, resamples=20)
    assert not loaded
    with pytest.raises(ValueError, match="different run"):
        evaluate(model, files / "cats.jsonl", out=out, resamples=20, dtype="float64")
    with pytest.raises(ValueError, match="different run"):
        evaluate(model, files / "cats.jsonl", out=out, resamples=20, protocol="stereoset-v1")
    evaluate(model, files / "cats.jsonl", out=out, resamples=20, dtype="auto")
    (model / "extra.json").write_text("{}")
    with pytest.raises(ValueError, match="different run"):
        evaluate(model, files / "cats.jsonl", out=out, resamples=20)
    assert len(loaded) == 4


ASSOCIATED = AssociationTest(
    id="zorbs",
    x=WordSet(name="zorbs", items=("zorb", "zorbs")),
    y=WordSet(name="quibs", items=("quib", "quibs")),
    a=WordSet(name="early", items=("early", "soon")),
    b=WordSet(name="late", items=("late", "tardy")),
)


def test_a_finished_run_of_association_tests_imports_no_torch(tiny: Tiny, tmp_path: Path) -> None:
    """The report is that of the first call; other pooling is refused, and other resamples are computed."""
    model, out, data = tiny("gpt2"), tmp_path / "run", tmp_path / "tests.jsonl"
    jsonl.write([ASSOCIATED], data)
    first = evaluate(model, data, out=out, resamples=20)
    command = [sys.executable, "-c", AGAIN, str(model), str(data), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    again, torch, transformers = json.loads(done.stdout)
    assert not torch
    assert not transformers
    assert again == json.loads(json.dumps(first.to_dict()))
    assert evaluate(model, data, out=out, resamples=20).items().equals(first.items())
    with pytest.raises(ValueError, match="different run"):
        evaluate(model, data, out=out, resamples=20, protocol=named("catsofa").changed(pooling="mean"))
    assert evaluate(model, data, out=out, resamples=30).signature.resamples == 30
