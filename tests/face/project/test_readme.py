import pytest
from helpers import ROOT
from helpers.commands import commands, resolved

README = (ROOT / "README.md").read_text("utf-8")
LINES = [line for line in README.splitlines() if line.startswith("catsofa ")]


@pytest.mark.parametrize("line", LINES)
def test_every_command_of_the_readme_is_one_that_the_program_takes(line: str) -> None:
    """Each line parses: the command and its options exist."""
    for part in line.split(" && "):
        name, arguments = resolved(part.removeprefix("catsofa "))
        commands()[name].make_context(name, arguments)
