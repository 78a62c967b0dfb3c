"""The commands about Prolific, and a study that they publish."""

from click.testing import Result
from typer.testing import CliRunner

from catsofa.annotation.study import Study
from catsofa.cli import app

ADDRESS = "https://study.example.org"
TOML = """
[people]
session = 10
[quality]
first = 3
checks_every = 4
[platform]
name = "prolific"
devices = ["desktop", "mobile"]
filters = [{ filter_id = "handedness", selected_values = ["0"] }]
codes.completed = "DONE1"
codes.no_consent = "NOPE2"
codes.failed_checks = "FAIL3"
codes.screened_out = "FULL4"
codes.failed_practice = "PRAC5"
codes.paused = "PAUS6"
"""


def run(command: str, study: Study, *more: str) -> Result:
    """Runs one command about Prolific."""
    return CliRunner().invoke(app, ["annotate", "prolific", command, str(study.folder), *more])


def said(done: Result) -> str:
    """Returns the output of a command and its error."""
    return f"{done.output} {done.exception or ''}"


def published(study: Study, places: int = 20) -> None:
    """Publishes the study on Prolific."""
    assert run("create", study, "--address", ADDRESS, "--places", str(places)).exit_code == 0
    assert run("state", study, "publish", "--yes").exit_code == 0
