"""A local `transformers serve`, and chat models that have memorised dialogues."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from helpers.servers.label_studio_server import free_port

CHAT_MODEL = Path(__file__).with_name("chat_model.py")


def _environment(folder: Path) -> dict[str, str]:
    """Returns an environment without the hub, which reads no other folders."""
    (folder / "home/hub").mkdir(parents=True, exist_ok=True)
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}


def learnt(dialogues: Sequence[dict[str, str]], folder: Path) -> Path:
    """Trains a tiny chat model that gives the `reply` to each `prompt`."""
    (folder / "dialogues.json").write_text(json.dumps(dialogues))
    command = [sys.executable, str(CHAT_MODEL), folder / "dialogues.json", folder / "model"]
    subprocess.run(command, check=True, env=_environment(folder))
    return folder / "model"


@contextmanager
def serving(model: Path, folder: Path) -> Iterator[str]:
    """Starts a server of this model, which is named by its folder, and returns its address."""
    port, log = free_port(), folder / "log"
    program = Path(sys.executable).with_name("transformers")
    command = [program, "serve", str(model), "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("w") as file:
        process = subprocess.Popen(command, env=_environment(folder), stdout=file, stderr=file)
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Waits until the server answers."""
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())
