"""Pages made from the program itself, so that they cannot drift from it, and formulas as MathML, without a script."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from html import unescape
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from mkdocs.structure.files import File, Files

PROGRAM = "catsofa"
FORMULA = re.compile(r'<script type="math/tex(?P<display>; mode=display)?">(?P<tex>.*?)</script>', re.DOTALL)
FENCED = re.compile(r"^( *)```\w.*?^\1```\n", re.DOTALL | re.MULTILINE)
WORDS = {Path: "path", int: "number", float: "number"}


def on_files(files: Files, config: Any) -> Files:
    """Add the page of the command line, which is not in the repository."""
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put each block of code apart from the paragraphs beside it."""
    return FENCED.sub(r"\n\g<0>\n", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Put MathML where a formula's TeX stands; what scrolls on a phone can be reached by keyboard."""
    reached = '<div class="arithmatex" role="group" aria-label="Formula" tabindex="0">'
    return FORMULA.sub(_formula, html).replace('<div class="arithmatex">', reached)


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's search dialog for screen readers."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _formula(found: re.Match[str]) -> str:
    """One formula as MathML, which browsers draw and screen readers read by themselves."""
    from latex2mathml.converter import convert

    return str(convert(unescape(found["tex"]).strip(), display="block" if found["display"] else "inline"))


def command_line() -> str:
    """Every command: what it does, what it takes, how people call it."""
    pages = ["# Command line", "Made from the program's own help: `catsofa COMMAND --help` says the same."]
    for words, command in commands():
        pages += [f"## {PROGRAM} {words}", *_about(words, command)]
    return "\n\n".join(pages) + "\n"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by the words one types, in the order of the help."""
    import typer

    from catsofa.cli import app

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        inner = getattr(command, "commands", None)
        if inner is None:
            yield " ".join(words), command
        for name, one in (inner or {}).items():
            if not one.hidden:
                yield from walk(one, (*words, name))

    return walk(typer.main.get_command(app), ())


def _about(words: str, command: Any) -> Iterator[str]:
    """The parts of one command's section."""
    yield inspect.cleandoc(command.help or "")
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    given = [one for one in shown if one.param_type_name == "argument"]
    usage = " ".join([PROGRAM, words, *[_placeholder(one) for one in given], "[OPTIONS]"])
    yield f"```text\n{usage}\n```"
    rows = [f"| {_names(one)} | {_cell(one.help or '')} | {_default(one)} |" for one in shown]
    yield "\n".join(["| takes | which is | default |", "|---|---|---|", *rows])
    examples = re.findall(r"^\s*\$ (.*)$", command.epilog or "", re.M)
    yield "\n".join(["```bash", *examples, "```"])


def _placeholder(argument: Any) -> str:
    """How an argument stands in a usage line."""
    name = str(argument.metavar or argument.name.upper()).removesuffix("…").removesuffix("...")
    name += "…" if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _names(parameter: Any) -> str:
    """A parameter as one types it, with what it takes."""
    if parameter.param_type_name == "argument":
        return f"`{_placeholder(parameter)}`".replace("|", "\\|")
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return names
    return f"{names} {_takes(parameter)}" + ("; may be repeated" if parameter.multiple else "")


def _takes(parameter: Any) -> str:
    """What an option takes: its choices, or a word for its type."""
    wanted = parameter.type_descriptor.annotation
    while get_origin(wanted) in (list, Union, UnionType):
        wanted = get_args(wanted)[0]
    if get_origin(wanted) is Literal:
        return " \\| ".join(f"`{choice}`" for choice in get_args(wanted))
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return " \\| ".join(f"`{choice.value}`" for choice in wanted)
    return f"*{(parameter.metavar or WORDS.get(wanted, 'text')).lower()}*"


def _default(parameter: Any) -> str:
    """A default people would want to know."""
    if parameter.required:
        return "required"
    value = parameter.default
    if callable(value) or value in (None, "", False) or parameter.is_flag or str(value).startswith("Sentinel"):
        return ""
    return f"`{getattr(value, 'value', value)}`"


def _cell(text: str) -> str:
    """A help text in a table's cell; rich's marks become Markdown's."""
    bold = re.sub(r"\[/?bold\]", "**", " ".join(text.split()))
    return bold.replace("|", "\\|")


def protocols() -> str:
    """Every preset: what it reproduces, and each option in which it differs from ours."""
    from catsofa.scoring.protocols import PRESETS

    pages = [
        "# Protocols",
        "A protocol is a name for all choices that a number depends on. The signature of each number contains it, and "
        "numbers of different protocols are never in one column. Options can follow the name, for example "
        "`--protocol sent-bias,pooling=mean,layer=-2`. `make reference` writes this page from the program; "
        "`catsofa protocols show NAME` prints the same.",
    ]
    for name, preset in PRESETS.items():
        pages += [f"## {name}", preset.about]
        if preset.reproduces:
            pages += [f"Reproduces: {preset.reproduces}."]
        differs = [
            f"| `{option}` | `{value}` | `{default}` | {_cell(why)} |"
            for option, (value, default, why) in preset.differences().items()
        ]
        if differs:
            pages += ["\n".join(["| option | here | default | why |", "|---|---|---|---|", *differs])]
        else:
            chosen = [
                f"| {measure.replace('_', '-')} | `{option}` | `{value}` |"
                for measure, options in preset.by_measure().items()
                for option, value in options.items()
            ]
            pages += ["\n".join(["| of | option | value |", "|---|---|---|", *chosen])]
    return "\n\n".join(pages) + "\n"


def sources() -> str:
    """Every released set: what it holds, its licence, whom to cite."""
    from catsofa.data.sources.released import table

    pages = [
        "# Released sets",
        "`catsofa data fetch NAME` downloads these sets and checks each file's checksum. Every command that takes a "
        "file of data also takes one of these names. The sets are not part of catsofa: each has its own licence and "
        "its own paper. **They contain hurtful sentences about people.** `make reference` writes this page from the "
        "program.",
        "\n".join(
            [
                "| name | holds | licence | cite |",
                "|---|---|---|---|",
                *[
                    f"| `{one.name}` | {_cell(one.holds)} | {_cell(one.licence)} | {_cell(one.citation)} |"
                    for one in table().values()
                ],
            ]
        ),
    ]
    return "\n\n".join(pages) + "\n"


def _ending(suffix: str | None) -> str:
    """The ending of a file in a format, for the table."""
    return "read only" if suffix is None else f"`{suffix}`" if suffix else "a folder"


def formats() -> str:
    """The page of formats with a new table between its marks."""
    page = Path(__file__).with_name("reference").joinpath("formats.md").read_text("utf-8")
    begin, end = "<!-- formats: make reference -->\n\n", "\n\n<!-- end of formats -->"
    return page.partition(begin)[0] + begin + _table_of_formats() + end + page.partition(end)[2]


def _table_of_formats() -> str:
    """Every format: what it holds, and whether it is written by the ending of a file."""
    from catsofa.data.formats import MODULES, named
    from catsofa.data.records import kind_name

    rows = []
    for name in MODULES:
        one = named(name)
        rows.append(
            f"| `{name}` | {', '.join(map(kind_name, one.holds))} | {_cell(one.about)} | {_ending(one.suffix)} |"
        )
    return "\n".join(["| format | holds | is | ending |", "|---|---|---|---|", *rows])


PAGES = {"formats.md": formats, "protocols.md": protocols, "sources.md": sources}
"""The pages of docs/reference that are written from the program, at least in part. Other pages link to them."""

if __name__ == "__main__":
    for name, page in PAGES.items():
        Path(__file__).with_name("reference").joinpath(name).write_text(page(), encoding="utf-8", newline="\n")
