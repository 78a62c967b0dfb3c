"""Documents and their sentences: a folder of text files, JSONL, or a dataset of Hugging Face's `datasets`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catsofa.data.files import BadInput, json_files, lines, read_text

TEXT_ENDINGS = (".txt", ".md", ".text")
_END = re.compile(
    r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-ÖØ-Þ])|(?<=[。！？])[。！？…”’」』）]*(?![”’」』）。！？…])\s*"
)
_NO_END = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Col|Sgt|Lt|Capt|Jr|Sr|vs|etc|e\.g|i\.e|cf|No|Vol|pp?|ca|approx|Inc"
    r"|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)|(?:^|[\s(.])[A-Z])\.$"
)
NARROWEST, WIDEST = 40, 130
"""Widths, in characters, at which editors wrap lines."""
LONGEST_WORD = 25
"""Largest difference in width of wrapped lines, because no word is cut."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the name of its source."""

    name: str
    text: str


def read_folder(folder: Path | str) -> Iterator[Document]:
    """Yields each text file of a folder and its subfolders, and each `text` in its JSONL files, sorted by name."""
    folder = Path(folder)
    if not folder.is_dir():
        raise BadInput(folder, "no such folder", "a folder of text files (.txt, .md) or of JSONL with a field text")
    files = sorted(file for file in folder.rglob("*") if file.suffix in (*TEXT_ENDINGS, ".jsonl") and file.is_file())
    if not files:
        raise BadInput(folder, "no file that ends in .txt, .md or .jsonl", "a folder of texts")
    for file in files:
        name = str(file.relative_to(folder))
        if file.suffix == ".jsonl":
            expected = "a JSON object with a field text"
            for number, line in lines(file, "documents (JSONL)"):
                record = json_files.parse(line, file, expected, number)
                if not isinstance(record, dict) or not isinstance(record.get("text"), str):
                    raise BadInput(file, "a line without a text", expected, number)
                yield Document(f"{name}:{number}", record["text"])
        elif file.stat().st_size:
            yield Document(name, read_text(file, "a text"))


def read_dataset(path: str, config: str | None = None, column: str = "text") -> Iterator[Document]:
    """Yields each row of a training split, by name on the hub or by folder, streamed.

    Wikipedia is `wikimedia/wikipedia`.
    """
    from datasets import load_dataset

    try:
        rows = load_dataset(path, config, split="train", streaming=True)
    except (FileNotFoundError, ConnectionError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(
            path, f"a dataset that cannot be opened ({reason})", "its name or folder, and its config"
        ) from None
    for number, row in enumerate(rows):
        if column not in row:
            raise BadInput(path, f"rows without a column {column!r}", f"one of {', '.join(row)} (--column)")
        yield Document(str(row.get("id") or row.get("title") or number), row[column])


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text.

    A text is split by paragraph, at 。！？, and at a stop before a capital, except after an abbreviation.
    """
    result: list[str] = []
    for paragraph in _paragraphs(text):
        begun = ""
        for piece in _pieces(" ".join(paragraph.split())):
            begun = f"{begun} {piece}".strip()
            if not _NO_END.search(begun):
                result.append(begun)
                begun = ""
        if begun:
            result.append(begun)
    return result


def _paragraphs(text: str) -> Iterator[str]:
    """Yields the lines of a text; lines of equal width without an empty line between them are one paragraph."""
    for block in re.split(r"\n\s*\n", text):
        *before, last = map(len, block.strip("\n").split("\n"))
        widest, narrowest = max([*before, last]), min(before, default=NARROWEST)
        wrapped = narrowest >= NARROWEST and widest <= WIDEST and widest - narrowest <= LONGEST_WORD
        yield from [block] if wrapped else block.split("\n")


def _pieces(paragraph: str) -> Iterator[str]:
    """Yields the text between possible ends of sentences; closing quotes stay with their sentence."""
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.end()].strip()
        start = end.end()
        if piece:
            yield piece
    if rest := paragraph[start:].strip():
        yield rest
