"""Tests of links in README and docs, in the repository and on a package page."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from helpers import ROOT
from markdown.extensions.toc import slugify

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ADDRESS = "https://code.example/people/catsofa"
FILES = ("README.md", "pyproject.toml", "CITATION.cff")


def targets(text: str) -> list[str]:
    """Returns the targets of a page's links and pictures, except those in code."""
    prose = re.sub(r"^ *(`{3,}).*?^ *\1 *$|`[^`\n]*`", "", text, flags=re.M | re.S)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(page: Path) -> set[str]:
    """Returns the headings' anchors that are the same on code hosts and on the site, which joins blanks."""
    prose = re.sub(r"^ *(`{3,}).*?^ *\1 *$", "", page.read_text("utf-8"), flags=re.M | re.S)
    heads = [re.sub(r"\]\([^)]*\)", "]", head) for head in re.findall(r"^#+ (.*)$", prose, re.M)]
    host = {re.sub(r"[^\w\s-]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return host & {slugify(head, "-") for head in heads}


def published(target: str) -> str:
    """Returns a link below the repository's address as the path of a file in it, and any other link unchanged."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        address = tomllib.load(file)["project"].get("urls", {}).get("Repository", "")
    return re.sub(rf"^{re.escape(address)}/(blob|raw)/main/", "", target) if address else target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """Relative links lead to files of the repository, and anchors to their headings."""
    for target in map(published, targets(page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_an_address_makes_every_link_of_the_readme_absolute(tmp_path: Path) -> None:
    """`make address` fills metadata, citation and README; a second address replaces the first."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    command = [sys.executable, str(tmp_path / ".ci/address.py")]
    for address in ("https://elsewhere.example/a/b.git", ADDRESS, ADDRESS):
        subprocess.run([*command, address], check=True)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Repository"] == ADDRESS
    assert project["scripts"] == {"catsofa": "catsofa.__main__:command"}
    assert all("elsewhere.example" not in (tmp_path / name).read_text("utf-8") for name in FILES)
    assert (tmp_path / "CITATION.cff").read_text("utf-8").count(f"repository-code: {ADDRESS}\n") == 1
    readme = (tmp_path / "README.md").read_text("utf-8")
    for target in targets(readme):
        assert re.match(r"https?:|#", target), target
        below = re.match(rf"{ADDRESS}/(blob|raw)/main/([^#]+)", target)
        assert not below or (ROOT / below[2]).exists(), target
    assert f"]({ADDRESS}/raw/main/docs/images/report.png)" in readme
    done = subprocess.run([*command, "catsofa"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "https://HOST/OWNER/NAME" in done.stderr
