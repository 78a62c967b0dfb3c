"""Writes a report as HTML, Markdown, CSV, JSON or LaTeX."""

import base64
import csv
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any, Literal, get_args

from catsofa.data.files import BadInput, atomic_write
from catsofa.data.processes import in_processes
from catsofa.data.visible import markdown as plain
from catsofa.data.visible import visible, visible_json
from catsofa.report import figures, glossary
from catsofa.report.elements import BEST, Cell, Document, Figure, Number, Table, written
from catsofa.report.latex import latex

Format = Literal["html", "markdown", "csv", "json", "latex"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {
    ".html": "html", ".htm": "html", ".md": "markdown", ".csv": "csv", ".json": "json", ".tex": "latex", "": "html",
}  # fmt: skip


def format_of(path: Path | str) -> Format:
    """Returns the format for the suffix of a file; HTML if the name has no suffix."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(path, f"the ending {ending!r}", f"one of {', '.join(filter(None, ENDINGS))}; or name a --format")
    return ENDINGS[ending]


def write(document: Document, path: Path | str, form: Format = "html", pictures: Path | str | None = None) -> None:
    """Writes a report atomically; `pictures` is a folder for its figures as PDF, PNG and SVG."""
    text = WRITE[form](document)
    if pictures:
        for section in document.sections:
            for figure in section.figures:
                figures.save(figures.draw(figure.draw), Path(pictures), figure.name)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def html(document: Document) -> str:
    """Returns the report as one self-contained page with all texts escaped."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # names may break after _, / and @; texts between backticks are code; matplotlib itself escapes the texts of a
    # drawing
    drawn = [figure for section in document.sections for figure in section.figures]
    texts = dict(zip(drawn, in_processes(_svg, drawn), strict=True))
    page.filters["svg"] = lambda figure: Markup(texts[figure])
    page.filters |= {"written": written, "broken": partial(_marked, r"([_/@])(?=.)", r"\1<wbr>")}
    page.filters["prose"] = partial(_marked, r"`([^`]+)`", r"<code>\1</code>")
    page.filters["sorted_by"] = lambda cell: Markup("") if (v := _number(cell)) is None else Markup(f' data-v="{v!r}"')
    page.tests["number"] = lambda cell: isinstance(cell, Number)
    page.tests["best"] = lambda cell: cell.mark.endswith(BEST)
    page.tests["count"] = lambda cell: isinstance(cell, int) or (isinstance(cell, str) and bool(COUNT.fullmatch(cell)))
    folder = files("catsofa").joinpath("templates")
    script = folder.joinpath("report.js").read_text(encoding="utf-8")
    return page.from_string(folder.joinpath("report.html.j2").read_text(encoding="utf-8")).render(
        document=document,
        terms=glossary.used(document),
        version=version("catsofa"),
        script=Markup(script),
        hash=Markup(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
    )


def _svg(figure: Figure) -> str:
    """Returns a figure as SVG."""
    return figures.svg(figures.draw(figure.draw), figure.name)


def _number(cell: Cell) -> float | None:
    """Returns the sort key of a cell; None for a text."""
    return cell.value if isinstance(cell, Number) else cell if isinstance(cell, int) else None


def _marked(pattern: str, markup: str, text: Cell) -> Any:
    """Returns the escaped text with markup around the matches of a pattern."""
    from markupsafe import Markup, escape

    return Markup(re.sub(pattern, markup, str(escape(text))))


COUNT = re.compile(r"[\d,]+ of [\d,]+|[\d,]+ \([\d.]+ % of \w+\)|\d{4}-\d\d-\d\d( \d\d:\d\d)?")
"""Cells that must not wrap: `3 of 4`, a number with its share, and a date with its time."""


def markdown(document: Document) -> str:
    """Returns the report as Markdown; the texts are escaped, so that they contain no markup."""
    lines = [f"# {plain(document.title)}", "", f"**Content warning.** {document.warning}", ""]
    for finding in document.findings:
        lines += [f"**{plain(finding.about)}.** {' '.join(map(plain, finding.sentences))}", ""]
    if document.summary:
        lines += _markdown_table(replace(document.summary, signatures=()))
    lines += [line for note in document.notes for line in (f"> {plain(note)}", "")]
    for section in document.sections:
        lines += [f"## {plain(section.title)}", "", plain(section.lead), "", f"> {plain(section.limits)}", ""]
        lines += [line for table in section.tables for line in _markdown_table(table)]
    return "\n".join(lines)


def _markdown_table(table: Table) -> list[str]:
    """Returns the lines of a table with its heading."""
    return [
        f"### {plain(table.caption)}",
        "",
        *(["<details><summary>May offend: open to read</summary>", ""] if table.offensive else []),
        _bar(map(plain, table.columns)),
        _bar("---" for _ in table.columns),
        *(_bar(plain(written(cell)) for cell in row) for row in table.rows),
        "",
        *(["</details>", ""] if table.offensive else []),
        *(line for warning in table.warnings for line in (f"> **Warning.** {plain(warning)}", "")),
        *(f"- {plain(note)}" for note in (*table.notes, *table.unscored)),
        *(f"- `{' '.join(line.replace('`', chr(39)).split())}`" for line in table.signatures),
        "",
    ]


def _bar(cells: Any) -> str:
    """Returns a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def comma(document: Document) -> str:
    """Returns the report as CSV: a row for each cell of each table, with full-precision numbers and the signatures."""
    text = StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["section", "table", "row", "column", "value", "low", "high", "mark", "signatures", "warnings"])
    # the sections repeat the numbers of the summary, with their signatures
    tables = [(section.title, table) for section in document.sections for table in section.tables]
    if summary := document.summary:
        tables.insert(0, ("Summary", replace(summary, signatures=("see the sections",), warnings=summary.notes)))
    for title, table in tables:
        beside = [_cell_of_sheet("; ".join(lines)) for lines in (table.signatures, table.warnings)]
        for index, row in enumerate(table.rows, 1):
            for column, cell in zip(table.columns, row, strict=True):
                number = cell if isinstance(cell, Number) else Number(None)
                value = number.value if isinstance(cell, Number) else _cell_of_sheet(cell)
                place = (_cell_of_sheet(title), table.name, index, _cell_of_sheet(column))
                out.writerow([*place, value, number.low, number.high, number.mark, *beside])
    return text.getvalue()


def _cell_of_sheet(cell: str | int) -> str | int:
    """Returns the text with a leading quote if a spreadsheet would read it as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def data(document: Document) -> str:
    """Returns the document as JSON with full-precision numbers; a figure has its caption and alternative text."""
    content = {"catsofa": version("catsofa"), **asdict(document)}
    del content["items"]  # the address is relative to the report, and JSON may be anywhere
    for section in content["sections"]:
        for figure in section["figures"]:
            del figure["draw"]
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def _visible(part: Any) -> Any:
    """Returns a part of a document with all invisible and control characters of its texts made visible."""
    if isinstance(part, str):
        return visible(part)
    if isinstance(part, tuple):
        return tuple(map(_visible, part))
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{field.name: _visible(getattr(part, field.name)) for field in fields(part)})
    return part


def _for_people(make: Callable[[Document], str]) -> Callable[[Document], str]:
    """Returns a writer that first makes the control characters in all texts visible."""
    return lambda document: make(_visible(document))


WRITE: dict[Format, Callable[[Document], str]] = {
    "html": _for_people(html),
    "markdown": _for_people(markdown),
    "csv": _for_people(comma),
    "json": lambda document: visible_json(data(document)),
    "latex": _for_people(latex),
}
