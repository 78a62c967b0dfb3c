"""Tests of loggers for experiment trackers, with the real programs in a separate environment."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT

PYTHON = Path(os.environ.get("TRACKERS_PYTHON", ROOT / ".venv-trackers/bin/python"))
REPORT = """
import json, os, sys
from catsofa.data.records import Pair, Score
from catsofa.scoring.protocols import named
from catsofa.scoring.results import report

kinds = ["tidy/clean"] * 3 + ["music"]
pairs = [Pair(id=str(n), more="a", less="b", bias_type=kind, direction="stereo") for n, kind in enumerate(kinds)]
scores = [Score(item=str(n), task=side, score=at) for n in range(3) for side, at in (("more", -1.0), ("less", -2.0))]
found = report(pairs, scores, named("catsofa"), data="four zorbs", model="by hand")
"""
PROGRAMS = {
    "wandb": """
import wandb
from catsofa.integrations.wandb import log
try:
    log(found)
except ValueError as error:
    assert "wandb.init" in str(error)
run = wandb.init(mode="offline", project="zorbs")
for step in range(3):
    run.log({"loss": 1.0})  # another caller, whose steps have passed ours
log(found, step=1)
kept = {name: run.summary[name] for name in run.summary.keys() if name.startswith("catsofa/")}
rows = kept.pop("catsofa/crows_pairs/rows")
assert rows["_type"] == "table-file" and rows["nrows"] == len(found.rows())
assert kept.pop("catsofa/step") == 1
run.finish()
""",
    "mlflow": """
import mlflow
from catsofa.integrations.mlflow import log
mlflow.set_tracking_uri("file:./mlruns")
with mlflow.start_run() as run:
    log(found, step=5)
client = mlflow.MlflowClient()
kept = client.get_run(run.info.run_id).data.metrics
assert client.get_metric_history(run.info.run_id, "catsofa/crows_pairs/score")[0].step == 5
artifact = mlflow.artifacts.load_dict(f"runs:/{run.info.run_id}/catsofa/crows_pairs-5.json")
assert artifact["signature"]["line"] == str(found.signature)
""",
    "trackio": """
import trackio
from catsofa.integrations.trackio import log
try:
    log(found)
except ValueError as error:
    assert "trackio.init" in str(error)
else:
    raise AssertionError("logged without a run")
trackio.init(project="zorbs", name="one", embed=False)
log(found, step=5)
trackio.finish()
from trackio.sqlite_storage import SQLiteStorage
[row] = [row for row in SQLiteStorage.get_logs("zorbs", "one") if "catsofa/crows_pairs/score" in row]
assert row["step"] == 5 and "catsofa/crows_pairs/rows" in row
kept = {name: at for name, at in row.items() if name.startswith("catsofa/") and not name.endswith("rows")}
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_tracker_keeps_every_number_with_its_interval_and_the_signature(program: str, tmp_path: Path) -> None:
    """Three of four pairs have scores, all for the stereotype: the score is 100 and the coverage 0.75."""
    if not PYTHON.exists():
        pytest.skip("no .venv-trackers; `make trackers` installs W&B, MLflow and trackio")
    script = f"{REPORT}{PROGRAMS[program]}\nopen('kept.json', 'w').write(json.dumps(kept))\n"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TRACKIO_DIR": str(tmp_path / "trackio")}
    environment |= {"HF_HUB_OFFLINE": "1", "MLFLOW_ALLOW_FILE_STORE": "true", "WANDB_SILENT": "true"}
    done = subprocess.run(
        [PYTHON, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    metrics = json.loads((tmp_path / "kept.json").read_text("utf-8"))
    assert metrics["catsofa/crows_pairs/score"] == 100
    assert metrics["catsofa/crows_pairs/coverage"] == 0.75
    assert metrics["catsofa/crows_pairs/score_low"] < metrics["catsofa/crows_pairs/score_high"] == 100
    assert metrics["catsofa/crows_pairs/tidy/clean/score"] == 100
    assert "catsofa/crows_pairs/music/score" not in metrics  # no pair of it has scores
