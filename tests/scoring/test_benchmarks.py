"""What the documentation says of speed and scale is what the scripts print from the kept results."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("script", "pages"), [("tables", ["speed", "scale"]), ("plan", ["scale"]), ("cluster --table", ["scale"])]
)
def test_every_printed_row_stands_in_the_documentation(script: str, pages: list[str]) -> None:
    """A figure that is measured again changes the page, or this fails."""
    command = [sys.executable, "-m", *f"benchmarks.{script}".split()]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    written = "".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    rows = [line for line in printed.splitlines() if line]
    assert len(rows) > 4
    assert [row for row in rows if row not in written] == []


def test_results_name_no_place_on_the_machine() -> None:
    """A kept result holds figures and the machine's facts, never a path."""
    for file in (ROOT / "benchmarks" / "results").rglob("*.json"):
        text = file.read_text(encoding="utf-8")
        assert not any(place in text for place in ("/tmp", "/work", "/home", "/root")), file.name
