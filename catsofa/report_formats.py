"""A report as HTML, Markdown, CSV, JSON or LaTeX, all of one document."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any, Literal, get_args

from catsofa import figures
from catsofa.data.files import atomic_write
from catsofa.report_document import Cell, Document, Number, Table

Format = Literal["html", "markdown", "csv", "json", "latex"]
WRAPPED = 48
"""Letters of a cell beyond which its column wraps on paper."""
FORMATS: tuple[Format, ...] = get_args(Format)
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "—": "---", "“": "``", "”": "''", "−": "$-$", "ρ": r"$\rho$",
    "τ": r"$\tau$", "…": r"\ldots{}", "≤": r"$\leq$", "≥": r"$\geq$", "κ": r"$\kappa$", "α": r"$\alpha$",
}  # fmt: skip


def write(document: Document, path: Path | str, form: Format = "html", pictures: Path | str | None = None) -> None:
    """Write a report whole or not at all; `pictures` is a folder for its figures as PDF, PNG and SVG."""
    text = WRITE[form](document)
    if pictures:
        for section in document.sections:
            for figure in section.figures:
                figures.save(figures.draw(figure.draw), Path(pictures), figure.name)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def html(document: Document) -> str:
    """One page that needs nothing else; every text in it is escaped."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # matplotlib escapes the texts of a drawing itself
    page.filters["svg"] = lambda figure: Markup(figures.svg(figures.draw(figure.draw), figure.name))
    page.tests["number"] = lambda cell: isinstance(cell, Number)
    page.tests["count"] = lambda cell: isinstance(cell, int) or (isinstance(cell, str) and bool(COUNT.fullmatch(cell)))
    template = files("catsofa").joinpath("templates/report.html.j2").read_text(encoding="utf-8")
    return page.from_string(template).render(document=document, version=version("catsofa"))


COUNT = re.compile(r"[\d,]+ of [\d,]+|\d{4}-\d\d-\d\d( \d\d:\d\d)?")
"""What stands on one line: 3 of 4, and a day with its time."""


def markdown(document: Document) -> str:
    """The report as Markdown, its texts escaped so that they are no markup."""
    lines = [f"# {_plain(document.title)}", "", f"**Content warning.** {document.warning}", ""]
    lines += [line for note in document.notes for line in (f"> {_plain(note)}", "")]
    for section in document.sections:
        lines += [f"## {_plain(section.title)}", "", _plain(section.lead), "", f"> {_plain(section.limits)}", ""]
        for table in section.tables:
            lines += [f"### {_plain(table.caption)}", ""]
            lines += ["<details><summary>May offend: open to read</summary>", ""] if table.offensive else []
            lines += [_bar(table.columns), _bar("---" for _ in table.columns)]
            lines += [_bar(_plain(str(cell)) for cell in row) for row in table.rows]
            lines += ["", *(["</details>", ""] if table.offensive else [])]
            lines += [f"- {_plain(note)}" for note in (*table.notes, *table.unscored)]
            lines += [f"- `{' '.join(line.replace('`', chr(39)).split())}`" for line in table.signatures] + [""]
    return "\n".join(lines)


def _bar(cells: Any) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """A text in which Markdown and HTML find no markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", " ".join(text.split()))


def latex(document: Document) -> str:
    """Tables for `\\input`, with booktabs and longtable; offensive ones are marked by a comment."""
    parts = [
        "% Needs \\usepackage{booktabs,longtable}; other scripts than Latin need LuaLaTeX or XeLaTeX.",
        "% Content warning: it may repeat offensive text.",
    ]
    for section in document.sections:
        for table in section.tables:
            note = " ".join(
                [section.limits, *table.notes, *table.unscored, "Signatures: " + "; ".join(table.signatures)]
            )
            # after \\ a bracket would open an argument
            rows = ["{}" + " & ".join(_tex(str(cell)) for cell in row) + r" \\" for row in table.rows]
            head = " & ".join(_tex(name) for name in table.columns) + r" \\"
            parts += [
                *(["% May offend."] if table.offensive else []),
                f"\\begin{{longtable}}{{{_layout(table)}}}",
                f"\\caption{{{_tex(table.caption)}}}\\label{{tab:{table.name}}}\\\\",
                "\\toprule", head, "\\midrule\\endhead", *rows, "\\bottomrule", "\\end{longtable}",
                f"{{\\footnotesize\\raggedright {_tex(note)}\\par}}", "",
            ]  # fmt: skip
    return "\n".join(parts)


def _layout(table: Table) -> str:
    """How the columns are set: those of long texts share two thirds of the line and wrap there."""
    long = [any(len(str(row[at])) > WRAPPED for row in table.rows) for at in range(len(table.columns))]
    return "".join(f"p{{{0.66 / sum(long):.2f}\\linewidth}}" if wraps else "l" for wraps in long)


def _tex(text: str) -> str:
    """A text as LaTeX sets it."""
    return "".join(LATEX.get(letter, letter) for letter in " ".join(text.split()))


def comma(document: Document) -> str:
    """A line for each cell of each table, numbers in full, with the signatures of its table."""
    text = StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["section", "table", "row", "column", "value", "low", "high", "mark", "signatures"])
    for section in document.sections:
        for table in section.tables:
            for at, column, cell in _cells(table):
                of = cell if isinstance(cell, Number) else Number(None)
                value = of.value if isinstance(cell, Number) else _cell_of_sheet(cell)
                place = (_cell_of_sheet(section.title), table.name, at, column)
                out.writerow([*place, value, of.low, of.high, of.mark, _cell_of_sheet("; ".join(table.signatures))])
    return text.getvalue()


def _cells(table: Table) -> Iterator[tuple[int, str, Cell]]:
    """Every cell with its row and column."""
    for at, row in enumerate(table.rows, 1):
        for column, cell in zip(table.columns, row, strict=True):
            yield at, column, cell


def _cell_of_sheet(cell: str | int) -> str | int:
    """A text that a spreadsheet does not take for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def data(document: Document) -> str:
    """The document as JSON, numbers in full; figures by their captions and texts."""
    found = {"catsofa": version("catsofa"), **asdict(document)}
    for section in found["sections"]:
        for figure in section["figures"]:
            del figure["draw"]
    return json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False)


WRITE: dict[Format, Callable[[Document], str]] = {
    "html": html,
    "markdown": markdown,
    "csv": comma,
    "json": data,
    "latex": latex,
}
