"""Tests a model that is not on this machine while the hub does not answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIND = """
import sys
from catsofa.scoring.models import load
try:
    load("zorb-model")
except ValueError as error:
    print(error)
print(sorted({"torch", "transformers"} & sys.modules.keys()))
"""


@pytest.mark.parametrize(("name", "value"), [("HF_HUB_OFFLINE", "1"), ("HF_ENDPOINT", "http://127.0.0.1:9")])
def test_an_unknown_model_is_refused_before_anything_heavy_is_imported(name: str, value: str, tmp_path: Path) -> None:
    """The error names the cache and the command to download the model; it does not ask to unset the user's settings."""
    env = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path), "no_proxy": "*", name: value}
    done = subprocess.run([sys.executable, "-c", FIND], capture_output=True, text=True, check=False, env=env)
    message, imported = done.stdout.splitlines()
    assert imported == "[]"
    assert str(tmp_path / "hub") in message
    assert "hf download zorb-model" in message
    assert "unset" not in message


REPLY = """
from huggingface_hub import HfApi
from catsofa.scoring.models.files import find
HfApi.model_info = lambda *_, **__: {}["id"]
try:
    find("zorb-model")
except ValueError as error:
    print(error)
"""


def test_a_reply_of_something_that_is_no_hub_is_one_sentence() -> None:
    """JSON without an id, as a proxy or a wrong address may send, gives a one-line error."""
    done = subprocess.run([sys.executable, "-c", REPLY], capture_output=True, text=True, check=False)
    assert "has no 'id'" in done.stdout
    assert done.stderr == ""
