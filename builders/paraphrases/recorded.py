"""Reads recorded replies and joins them to their CATs by id or by content, never by position."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from catsofa.builders.paraphrases import Answer
from catsofa.builders.paraphrases.prompts import fillers
from catsofa.builders.paraphrases.replies import Reply
from catsofa.data.files import BadInput, json_files, lines
from catsofa.data.language.words import words
from catsofa.data.records import Cat, Refused

EXPECTED = (
    "recorded replies: a JSON list (or JSONL) of objects with a `response`, and an `id` or `context` and `labels`"
)


def read(path: Path | str, originals: Iterable[Cat]) -> Iterator[Answer | Refused]:
    """Yields one answer for every CAT, in the order of the CATs, then a refusal for each entry that joins to no CAT.

    An entry with an id belongs to the CAT with that id; without such a CAT, it is refused as `no_original`. If the
    entry has labels, at least one filler must occur in the CAT's sentence with the same label; otherwise the entry is
    refused as `other_item`. An entry without an id belongs to the only CAT whose context and fillers have the same
    words. It is refused as `no_original` if no CAT matches, and as `ambiguous_original` if several match.
    """
    cats = {cat.id: cat for cat in originals}
    by_content: dict[object, list[Cat]] = defaultdict(list)
    for cat in cats.values():
        by_content[_content(cat.context, fillers(cat))].append(cat)
    replies: dict[str, Reply | None] = {}
    refused: list[Refused] = []
    for number, entry in _entries(Path(path)):
        joined = _join(entry, cats, by_content)
        if isinstance(joined, Refused):
            refused.append(joined)
        elif joined.id in replies:
            raise BadInput(path, f"a second reply for the CAT {joined.id} (entry {number:,})", "one reply for each CAT")
        else:
            text = entry.get("response")
            replies[joined.id] = Reply(text=str(text), model=str(entry.get("model", ""))) if text is not None else None
    yield from (Answer(original=cat, reply=replies.get(cat.id)) for cat in cats.values())
    counts: Counter[str] = Counter()
    for one in refused:
        counts[one.id] += 1
        yield Refused(id=f"{one.id}#{counts[one.id]}", reason=one.reason, text=one.text, source=one.source)


def _entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields each entry of the file with its number, from 1; raises BadInput for entries of another form."""
    if path.suffix == ".jsonl":
        entries: Any = [json_files.parse(line, path, EXPECTED, number) for number, line in lines(path, EXPECTED)]
    else:
        entries = json_files.read(path, EXPECTED)
    if not isinstance(entries, list) or not entries:
        raise BadInput(path, "no list of replies", EXPECTED)
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or not ("id" in entry or {"context", "labels"} <= entry.keys()):
            raise BadInput(path, f"entry {number:,} with neither an id nor a context and labels", EXPECTED)
        if not isinstance(entry.get("response"), str | None) or not isinstance(entry.get("labels", {}), dict):
            raise BadInput(path, f"entry {number:,} whose response or labels are of another type", EXPECTED)
        yield number, entry
    if not any("response" in entry for entry in entries):
        raise BadInput(path, "no `response` in any of its entries", EXPECTED)


def _join(entry: Mapping[str, Any], cats: Mapping[str, Cat], by_content: Mapping[object, list[Cat]]) -> Cat | Refused:
    """Returns the CAT that an entry is about, or a refusal with the reason."""
    text, labels = str(entry.get("response") or ""), entry.get("labels", {})
    if "id" in entry:
        cat = cats.get(str(entry["id"]))
        if cat is None:
            return Refused(id=str(entry["id"]), reason="no_original", text=text)
        if labels and not any(
            _bare(str(labels.get(c.label, ""))).strip() in _bare(c.text) for c in cat.candidates if labels.get(c.label)
        ):
            return Refused(id=f"{cat.id}/reply", reason="other_item", text=text, source={"labels": labels})
        return cat
    matches = by_content.get(_content(str(entry["context"]), labels), [])
    if len(matches) == 1:
        return matches[0]
    reason = "ambiguous_original" if matches else "no_original"
    return Refused(id=reason, reason=reason, text=text, source={"context": entry["context"], "labels": labels})


def _content(context: str, labels: Mapping[Any, Any]) -> object:
    """Returns the join key of an entry without an id: its words and fillers, without case and punctuation."""
    return _bare(context), tuple(sorted((str(label), _bare(str(filler))) for label, filler in labels.items()))


def _bare(text: str) -> str:
    """Returns the words of a text in lower case."""
    return " ".join(words(text))
