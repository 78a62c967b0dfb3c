"""What `make install` installs, and the file that pins it: `tools`, `needs EXTRA…` and `lock`.

    python .ci/requirements.py tools         # pip and setuptools with their hashes, as a pip of any age reads them
    python .ci/requirements.py needs dev     # the requirements of the project with these extras, one a line
    python .ci/requirements.py lock          # constraints.txt again: the same versions, all hashes of the index
    python .ci/requirements.py lock --upgrade

`lock` needs uv and the index that uv is set to. Hashes of torch's CPU build come from the wheels that pip finds as
`torch==VERSION+cpu`, for instance in a folder that PIP_FIND_LINKS names; those that it cannot find are kept.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
EXTRAS = ("dev", "cluster")
TOOLS = ("pip", "setuptools>=77")
"""What installs the project itself."""
PYTHONS = ("3.11", "3.12", "3.13")
OLDEST, TOO_NEW = "3.11.5", "3.14"
"""The Python versions whose files are pinned: from the first, below the second."""
HEAD = """\
# Versions known to work together on Linux with Python 3.11 to 3.13, each with the SHA-256 of its files as the index
# publishes them. `make install` takes no other file; `make lock` writes this list again. torch carries no +cpu or +cu
# tag: make takes the CPU wheel where one is at hand, and the CUDA build of the same release elsewhere. Both are listed.
"""


def needs(*extras: str) -> Iterator[str]:
    """The requirements of the project with these extras, those of extras within extras too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    yield from project["dependencies"]
    waiting = list(extras)
    while waiting:
        for line in project["optional-dependencies"][waiting.pop()]:
            if inner := re.fullmatch(rf"{project['name']}\[(.*)\]", line):
                waiting += inner[1].split(",")
            else:
                yield line


def pins(text: str) -> dict[str, list[str]]:
    """The hashes of each pin (`name==version`) of a constraints file."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.M))
    return {line.split()[0]: re.findall(r"--hash=sha256:([0-9a-f]{64})", line) for line in joined.splitlines() if line}


def tools(pinned: dict[str, list[str]]) -> dict[str, list[str]]:
    """The pins of what installs the others."""
    names = {re.split(r"[^\w-]", tool)[0] for tool in TOOLS}
    return {pin: hashes for pin, hashes in pinned.items() if pin.partition("==")[0] in names}


def written(pinned: dict[str, list[str]]) -> str:
    """A constraints file with these pins."""
    listed = (" \\\n    ".join([pin, *(f"--hash=sha256:{one}" for one in sorted(set(hashes)))]) + "\n"
              for pin, hashes in sorted(pinned.items(), key=lambda item: item[0].lower()))  # fmt: skip
    return HEAD + "".join(listed)


def lock(*options: str) -> None:
    """Write constraints.txt again."""
    before = pins(CONSTRAINTS.read_text("utf-8")) if CONSTRAINTS.exists() else {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "needs.in").write_text("\n".join(sorted({*needs(*EXTRAS), *TOOLS})) + "\n")
        where = f"sys_platform == 'linux' and python_version < '{TOO_NEW}'"
        (folder / "pyproject.toml").write_text(f'[tool.uv]\nenvironments = ["{where}"]\n')
        (folder / "out.txt").write_text("".join(f"{pin}\n" for pin in before))
        uv = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", OLDEST, "--generate-hashes"]
        uv += ["--no-header", "--no-annotate", "--output-file", "out.txt", *options, "needs.in"]
        subprocess.run(uv, cwd=folder, check=True)
        found = pins((folder / "out.txt").read_text("utf-8"))
        torch = next(pin for pin in found if pin.startswith("torch=="))
        found[torch] += [*before.get(torch, []), *cpu_builds(torch, folder)]
    CONSTRAINTS.write_text(written(found), "utf-8")


def cpu_builds(torch: str, folder: Path) -> Iterator[str]:
    """The SHA-256 of each wheel of torch's CPU build that pip finds."""
    for python in PYTHONS:
        place = folder / python
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(place)]
        pip += ["--python-version", python, "--only-binary", ":all:", f"{torch}+cpu"]
        if subprocess.run(pip, capture_output=True, check=False).returncode:
            sys.stderr.write(f"no CPU build of {torch} for Python {python} is at hand; hashes known before are kept\n")
        for wheel in sorted(place.glob("*.whl")):
            with wheel.open("rb") as file:
                yield file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    if sys.argv[1:2] == ["lock"]:
        lock(*sys.argv[2:])
    elif sys.argv[1:2] == ["tools"]:
        sys.stdout.write(written(tools(pins(CONSTRAINTS.read_text("utf-8")))))
    else:
        sys.stdout.write("\n".join(sorted(set(needs(*sys.argv[2:])))) + "\n")
