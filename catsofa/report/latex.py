"""Writes a report as LaTeX tables for `\\input`, within the lines of a one-column article."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from catsofa.report.elements import Cell, Document, Number, Table, written

SIZES = {"footnotesize": (76, 3), "scriptsize": (86, 2)}
"""Maps a LaTeX font size to the characters per line of the article class and the points on each side of a column."""
PIECE = 16
"""Longest word that does not break; a longer word may break into pieces of at most this many letters."""
NAME = 16
"""Letters of a first column that may wrap, so that more columns fit a line."""
BELOW = r"\providecommand{\withlimits}[2]{\begin{tabular}[t]{@{}l@{}}#1\\{\scriptsize #2}\end{tabular}}"
"""The command that sets the limits of a number below it; a paper may define its own before `\\input`."""
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "—": "---", "“": "``", "”": "''", "−": "$-$", "ρ": r"$\rho$",
    "τ": r"$\tau$", "…": r"\ldots{}", "≤": r"$\leq$", "≥": r"$\geq$", "κ": r"$\kappa$", "α": r"$\alpha$",
    "\u00a0": "~", "★": r"$\star$", "→": r"$\rightarrow$",
}  # fmt: skip


def latex(document: Document) -> str:
    """Returns tables for `\\input`, with booktabs and longtable; a comment marks offensive tables."""
    parts = [
        "% Needs \\usepackage{array,booktabs,longtable}; other scripts than Latin need LuaLaTeX or XeLaTeX.",
        "% Content warning: it may repeat offensive text.",
    ]
    if document.summary:
        parts += [BELOW, *_booktabs(document.summary), ""]
    for section in document.sections:
        for table in section.tables:
            note = " ".join(
                [
                    *(f"Warning: {warning.rstrip('.')}." for warning in table.warnings),
                    section.limits,
                    *table.notes,
                    *table.unscored,
                    "Signatures: " + "; ".join(table.signatures),
                ]
            )
            parts += [*(["% May offend."] if table.offensive else []), *_longtable(table)]
            parts += [f"{{\\footnotesize\\raggedright {_tex(note)}\\par}}", ""]
    return "\n".join(parts)


def _panels(table: Table) -> tuple[str, list[Table]]:
    """Returns the font size of a table, and its panels: parts of its columns that fit a line, each with the first.

    The first column may wrap to names of `NAME` letters, and limits are below their numbers.
    """
    columns = list(zip(table.columns, *table.rows, strict=True))
    first, *others = (max(_unbroken(cell, True) for cell in column) for column in columns)
    first = max(first, min(NAME, max(len(written(cell)) for cell in columns[0])))
    packed = {size: _packed(first, others, size) for size in SIZES}
    size = next((size for size, chunks in packed.items() if len(chunks) == 1), next(iter(SIZES)))
    return size, [
        replace(
            table,
            columns=tuple(table.columns[index] for index in (0, *chunk)),
            rows=tuple(tuple(row[index] for index in (0, *chunk)) for row in table.rows),
        )
        for chunk in packed[size]
    ]


def _packed(first: int, others: Sequence[int], size: str) -> list[list[int]]:
    """Returns the columns after the first in chunks that fit a line together with the first."""
    chunks: list[list[int]] = [[]]
    for index, width in enumerate(others, 1):
        used = first + sum(others[place - 1] for place in chunks[-1]) + width
        if chunks[-1] and used > _room(size, len(chunks[-1]) + 2):
            chunks.append([])
        chunks[-1].append(index)
    return chunks


def _booktabs(table: Table) -> Iterator[str]:
    """Yields the lines of one floating table with a row for each model, without signatures; panels if it is wide."""
    size, panels = _panels(table)
    yield from ("\\begin{table}", f"\\centering\\{size}\\setlength{{\\tabcolsep}}{{{SIZES[size][1]}pt}}")
    yield f"\\caption{{{_tex(table.caption)}}}\\label{{tab:{table.name}}}"
    for number, panel in enumerate(panels):
        if number:
            yield "\\par\\medskip"
        yield from (
            f"\\begin{{tabular}}{{{_layout(panel, size)[1]}}}",
            "\\toprule",
            " & ".join(map(_tex, panel.heads)) + r" \\",
            "\\midrule",
        )
        rows = ["{}" + " & ".join(_cell(cell, below=True) for cell in row) + r" \\" for row in panel.rows]
        yield "\n\\addlinespace[2pt]\n".join(rows)
        yield from ("\\bottomrule", "\\end{tabular}")
    yield from (f"\\par\\smallskip{{\\raggedright {_tex(note)}\\par}}" for note in table.notes)
    yield "\\end{table}"


def _longtable(table: Table) -> Iterator[str]:
    """Yields the lines of a table across pages, in a small font, with its headings between its rows."""
    head = " & ".join(_tex(name) for name in table.heads) + r" \\"
    size, columns = _layout(table)
    yield f"{{\\{size}\\setlength{{\\tabcolsep}}{{{SIZES[size][1]}pt}}\\setlength{{\\LTcapwidth}}{{\\linewidth}}"
    yield f"\\begin{{longtable}}{{{columns}}}"
    yield f"\\caption{{{_tex(table.caption)}}}\\label{{tab:{table.name}}}\\\\"
    yield from ("\\toprule", head, "\\midrule\\endhead")
    for heading, rows in table.groups:
        if table.by:
            # `\\*` forbids a page break after a heading
            yield f"\\multicolumn{{{len(table.heads)}}}{{l}}{{\\itshape {_tex(heading)}}}\\\\*"
        # `{}` keeps LaTeX from reading a bracket after `\\` as an optional argument
        yield from ("{}" + " & ".join(_cell(cell) for cell in row) + r" \\" for row in rows)
    yield from ("\\bottomrule", "\\end{longtable}}")


def _cell(cell: Cell, *, below: bool = False) -> str:
    """Returns a cell as LaTeX; its limits do not wrap, and are on a line of their own if `below`."""
    if not isinstance(cell, Number):
        return _tex(written(cell))
    parts = [_tex(part) for part in (cell.point, cell.limits.replace(" ", "\u00a0")) if part]
    return f"\\withlimits{{{parts[0]}}}{{{parts[1]}}}" if below and len(parts) > 1 else " ".join(parts)


def _layout(table: Table, given: str = "") -> tuple[str, str]:
    """Returns the font size and the column specification; columns that do not fit the line share its width and wrap.

    With a given size, limits are below their numbers.
    """
    cells = [
        [name, *(row[index] for row in table.rows)] for index, name in enumerate(table.columns) if name not in table.by
    ]
    below = bool(given)
    widest = [max(_length(cell, below) for cell in column) for column in cells]
    least = [max(_unbroken(cell, below) for cell in column) for column in cells]
    for size in [given] if given else SIZES:
        room = _room(size, len(cells))
        if sum(widest) <= room:
            return size, "".join("r" if name in table.flush else "l" for name in table.heads)
        if sum(least) <= room:
            break
    else:
        least = [max(_unbroken(cell, True) for cell in column) for column in cells]
    spare, more = max(0.0, room - sum(least)), max(1, sum(widest) - sum(least))
    wide = [(low + spare * (high - low) / more) / SIZES[size][0] for low, high in zip(least, widest, strict=True)]
    sides = (r"\raggedleft" if name in table.flush else r"\raggedright" for name in table.heads)
    return size, "".join(
        f">{{{side}\\arraybackslash}}p{{{width:.3f}\\linewidth}}" for side, width in zip(sides, wide, strict=True)
    )


def _length(cell: Cell, below: bool) -> int:
    """Returns the characters of a cell on one line; limits may be below their number."""
    return _unbroken(cell, True) if below and isinstance(cell, Number) else len(written(cell))


def _room(size: str, columns: int) -> float:
    """Returns the characters of a font size on a line, less the space between columns, at four points a character."""
    letters, points = SIZES[size]
    return letters - columns * 2 * points / 4


def _unbroken(cell: Cell, limits_below: bool = False) -> int:
    """Returns the length of the longest unbreakable part of a cell; limits may go below their number."""
    if isinstance(cell, Number):
        return max(len(cell.point), len(cell.limits)) if limits_below else len(str(cell))
    return max((len(piece) for word in written(cell).split() for piece in _pieces(word)), default=0)


def _tex(text: str) -> str:
    """Returns a text escaped for LaTeX; long words may break between their pieces."""
    words = re.split(r"[^\S\u00a0]+", text.strip())
    return " ".join(
        r"\allowbreak{}".join("".join(LATEX.get(letter, letter) for letter in piece) for piece in _pieces(word))
        for word in words
    )


def _pieces(word: str) -> list[str]:
    """Returns the pieces of a long word; each piece ends with its punctuation."""
    return re.findall(rf"[^\W_]{{1,{PIECE}}}[\W_]*|[\W_]+", word) if len(word) > PIECE else [word]
