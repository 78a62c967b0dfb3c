"""Write the address of the repository: `python .ci/address.py URL`, which `make address URL=…` calls.

It goes into the package's metadata, the citation, and the README, whose links then work on the page of the package. A
second address takes the place of the first.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(!?)(\[[^\]]*\])\(([^)]+)\)")
BRANCH = "main"


def links(readme: str, url: str, before: str) -> str:
    """The README with absolute links below this address, where they were relative or below the address before."""

    def written(found: re.Match[str]) -> str:
        image, words, target = found.groups()
        own = re.compile(rf"{re.escape(before)}/(?:blob|raw)/{BRANCH}/") if before else None
        target = own.sub("", target, count=1) if own and own.match(target) else target
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        return f"{image}{words}({url}/{'raw' if image else 'blob'}/{BRANCH}/{target})"

    return LINK.sub(written, readme)


def main(url: str) -> None:
    """Write this address into every file that has one."""
    url = url.rstrip("/").removesuffix(".git")
    if not re.fullmatch(r"https://[\w.-]+(/[\w.~-]+)+", url):
        sys.exit(f"{url!r} is no address of a repository: give https://HOST/OWNER/NAME")
    paths = {name: ROOT / name for name in ("pyproject.toml", "CITATION.cff", "README.md")}
    texts = {name: path.read_text("utf-8") for name, path in paths.items()}
    had = re.search(r'^Repository = "(.*)"$', texts["pyproject.toml"], re.M)
    urls = {
        "Repository": url,
        "Documentation": f"{url}/blob/{BRANCH}/docs/index.md",
        "Changelog": f"{url}/blob/{BRANCH}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }
    table = "[project.urls]\n" + "".join(f'{name} = "{at}"\n' for name, at in urls.items()) + "\n"
    without = re.sub(r"^\[project\.urls\]\n.*?\n\n", "", texts["pyproject.toml"], flags=re.M | re.S)
    texts["pyproject.toml"] = without.replace("[project.scripts]\n", f"{table}[project.scripts]\n", 1)
    cited = re.sub(r"^repository-code: .*\n", "", texts["CITATION.cff"], flags=re.M)
    texts["CITATION.cff"] = cited.replace("\nlicense:", f"\nrepository-code: {url}\nlicense:", 1)
    texts["README.md"] = links(texts["README.md"], url, had[1] if had else "")
    for name, text in texts.items():
        paths[name].write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
