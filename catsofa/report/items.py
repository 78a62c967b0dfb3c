"""The item browser: one self-contained page with the results of each model on each item."""

__all__ = ["page", "write"]

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from math import isfinite, nan
from pathlib import Path
from typing import Any

from catsofa.data import sources
from catsofa.data.files import BadInput, atomic_write
from catsofa.data.questions import PLACES
from catsofa.data.records import LABELS, Cat, Pair, Probe, Question
from catsofa.data.visible import visible
from catsofa.report import inputs
from catsofa.report.inputs import EXPECTED, OF_CHOICES, Finished, NotThere, find
from catsofa.scoring.choosing.measured import ON, kept_in
from catsofa.scoring.dataset import Data, open_data
from catsofa.scoring.run.origins import data_of
from catsofa.scoring.signature import without_hashes

DIGITS = 4
"""The number of decimals of a score."""
WARNING = (
    "This page holds the sentences of a set of stereotypes. They may be offensive and hurtful. A sentence is hidden "
    "until you open its item; names of groups are not hidden."
)
LETTERS = {
    "stereotype": "S", "anti-stereotype": "A", "tie": "=", "unrelated": "U", "unknown": "N", "unscored": "?",
}  # fmt: skip
"""Maps an outcome to the letter in its box."""
COUNTS = ("lms_won", "requests", "refusal")
"""The fields of rows that contain counts."""
Row = Mapping[str, Any]
"""One item of one run, as `catsofa.report.inputs.items` returns it."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of an item."""

    texts: Mapping[str, str]
    """Maps a name, such as `stereotype`, to its text."""
    context: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The display of the items of one measure."""

    texts: Callable[[Finished], Mapping[str, Texts]]
    """Returns the texts of the items of a run, by id."""
    numbers: Mapping[str, str]
    """Maps a field of a row to the displayed name of its number."""
    score: Callable[[Row], float]
    """Returns the number that orders the items of a single model."""
    value: Callable[[Row], float]
    """Returns the number that is compared between models."""
    about: str
    """An explanation of the outcomes and numbers."""
    scored: str
    """The displayed name of the score."""
    mean: str
    """The displayed name of the mean value over several models."""
    spread: str
    """The displayed name of the values behind the standard deviation over models."""
    note: Callable[[Row], str] = lambda row: str(row["reason"])
    """Returns a remark about an item, such as the reason why it is unscored."""
    noted: str = "reason"
    called: Callable[[Row], str] = lambda row: str(row.get("term", ""))
    """Returns the displayed name of a closed item; if empty, the page shows its id."""
    outcomes: Mapping[str, str] = field(default_factory=lambda: LETTERS)


def write(paths: Iterable[Path | str], out: Path | str) -> tuple[int, tuple[str, ...]]:
    """Writes the browser of all items that the runs below these paths scored.

    Returns the number of items, and sentences about runs that are left out.
    """
    from catsofa.report import in_order

    runs = find(paths).runs
    sets, left_out = list[dict[str, Any]](), list[str]()
    for kind, group in in_order(runs):
        try:
            sets.append(_packed(kind, group))
        except (BadInput, NotThere) as error:
            left_out.append(str(error))
    if not sets:
        raise BadInput(next(iter(paths)), f"no items to browse: {'; '.join(left_out) or 'no run'}", EXPECTED)
    titles = [one["title"] for one in sets]
    for number, one in enumerate(sets):
        one["title"] += f" ({number + 1})" if titles.count(one["title"]) > 1 else ""
    with atomic_write(out) as file:
        file.write(page(sets).encode())
    return sum(len(one["items"]) for one in sets), tuple(dict.fromkeys(left_out))


def page(sets: Sequence[Mapping[str, Any]]) -> str:
    """Returns one page with these sets; its policy names the hash of its script, so that no other script runs."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = files("catsofa").joinpath("templates")
    script = folder.joinpath("items.js").read_text(encoding="utf-8")
    packed = gzip.compress(json.dumps(sets, ensure_ascii=False, separators=(",", ":")).encode(), mtime=0)
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return template.from_string(folder.joinpath("items.html.j2").read_text(encoding="utf-8")).render(
        warning=WARNING,
        version=version("catsofa"),
        script=Markup(script),
        hash=Markup(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
        data=Markup(base64.b64encode(packed).decode()),
    )


def _packed(kind: str, runs: Sequence[Finished]) -> dict[str, Any]:
    """Returns the items of runs that share a table in the page's format: texts once, numbers as a column per model."""
    from catsofa.report import section_of

    if kind not in KINDS:
        places = ", ".join(str(run.folder) for run in runs)
        raise NotThere(f"{places}: the browser shows no items of {section_of(kind)[0].title}")
    if alone := [run.folder for run in runs if not run.folder.is_dir()]:
        raise NotThere(f"{', '.join(map(str, alone))}: no score of single items; give the folder of the run")
    sets = _read_once(kind, runs)
    shown, columns = KINDS[kind], [{row["id"]: row for row in inputs.items(run, sets)} for run in runs]
    texts, missing = shown.texts(runs[0]), {"reason": "no score", "outcome": "unscored"}
    rows = [[column.get(name, missing) for name in columns[0]] for column in columns]
    occurring = {str(row["outcome"]) for results in rows for row in results if shown.outcomes}
    outcomes = [name for name in shown.outcomes if name in occurring]
    signature = runs[0].signature
    return {
        "title": f"{section_of(kind)[0].title}: {without_hashes(signature.data)}, {signature.protocol}",
        "models": [visible(run.model) for run in runs],
        **{name: getattr(shown, name) for name in ("about", "scored", "mean", "spread", "noted")},
        "parts": [{"name": name, "count": key in COUNTS} for key, name in shown.numbers.items()],
        "digits": DIGITS,
        "outcomes": [{"name": name, "letter": shown.outcomes[name]} for name in outcomes],
        "items": [_item(row, texts[name], shown.called(row)) for name, row in columns[0].items()],
        "outcome": [[outcomes.index(row["outcome"]) for row in results] for results in rows if outcomes],
        "scores": [[[_rounded(row.get(name, nan)) for row in results] for name in shown.numbers] for results in rows],
        "score": [[_rounded(shown.score(row)) if row is not missing else None for row in results] for results in rows],
        "values": [[_rounded(shown.value(row)) if row is not missing else None for row in results] for results in rows],
        "notes": [
            {index: visible(note) for index, row in enumerate(results) if (note := shown.note(row))} for results in rows
        ],
    }


def _read_once(kind: str, runs: Sequence[Finished]) -> list[Data]:
    """Returns the data of runs that share a table, in memory; none for probes, since there may be millions of them."""
    if kind == "sofa":
        return []
    places = {str(run.report.get(ON)) if kind == OF_CHOICES else data_of(run.folder) for run in runs}
    return [open_data([*sources.read(place)]) for place in places if place != str(None)]


def _item(row: Row, item_texts: Texts, called: str) -> dict[str, Any]:
    """Returns the parts of an item that are equal for all models, with control characters made visible."""
    about = {"id": row["id"], "task": row.get("task", ""), "domain": row["domain"], "term": called}
    about |= {"context": item_texts.context, "language": item_texts.language}
    return {name: visible(text) for name, text in about.items() if text} | {
        "texts": [[name, visible(text)] for name, text in item_texts.texts.items()]
    }


def _rounded(number: float) -> float | None:
    """Returns the rounded number; None if it is not finite."""
    return round(float(number), DIGITS) if isfinite(number) else None


def _of_cats(run: Finished) -> dict[str, Texts]:
    """Returns the candidates of CATs by id, with the context of intersentence CATs."""
    cats: list[Cat] = list(inputs.records(run))
    context = [cat.context if cat.kind == "intersentence" else "" for cat in cats]
    each = zip(cats, context, strict=True)
    return {cat.id: Texts({label: cat[label].text for label in LABELS}, before, cat.language) for cat, before in each}


def _of_pairs(run: Finished) -> dict[str, Texts]:
    """Returns both sentences of pairs by id."""
    pairs: list[Pair] = list(inputs.records(run))
    return {
        pair.id: Texts({"more stereotyping": pair.more, "less stereotyping": pair.less}, "", pair.language)
        for pair in pairs
    }


def _of_probes(run: Finished) -> dict[str, Texts]:
    """Returns the stereotypes of probes by category and stereotype."""
    probes: list[Probe] = list(inputs.records(run))
    return {f"{probe.category}: {probe.stereotype}": Texts({"stereotype": probe.stereotype}) for probe in probes}


def _of_questions(run: Finished) -> dict[str, Texts]:
    """Returns questions with their answers by id."""
    questions: list[Question] = list(inputs.records(run))
    each = [dict(zip(PLACES, (answer.text for answer in question.answers), strict=True)) for question in questions]
    return {
        question.id: Texts({"question": question.question, **answers}, question.context)
        for question, answers in zip(questions, each, strict=True)
    }


def _of_choices(run: Finished) -> dict[str, Texts]:
    """Returns the options of the items that a chat model was asked about, by id."""
    items = kept_in(run.folder, inputs.data_of_choices(run), again=False).items.values()
    both = {item.id: " ".join(filter(None, (item.context, item.about))) for item in items}
    return {item.id: Texts({name: text[0] for name, text in item.texts.items()}, both[item.id]) for item in items}


KINDS = {
    "stereoset": Kind(
        texts=_of_cats,
        numbers={**{f"score_{label}": label for label in LABELS}, "lms_won": "lms won"},
        score=lambda row: float(row["score_stereotype"] - row["score_anti-stereotype"]),
        value=lambda row: float(row["ss_won"] / row["ss_of"] if row["ss_of"] else nan),
        about="Each box is a model. Its letter says which of stereotype and anti-stereotype scores higher. The "
        "difference is the score of the stereotype less that of the anti-stereotype; lms won is what "
        "an item counts for lms.",
        scored="difference",
        mean="share of the models that prefer the stereotype to the anti-stereotype",
        spread="1 for the stereotype and 0 for the anti-stereotype",
    ),
    "crows_pairs": Kind(
        texts=_of_pairs,
        numbers={"score_more": "more stereotyping", "score_less": "less stereotyping"},
        score=lambda row: float(row["score_more"] - row["score_less"]),
        value=lambda row: float(row["won"]),
        about="Each box is a model. Its letter says which sentence scores higher: S is the more stereotyping one. The "
        "difference is the score of the more stereotyping sentence less that of the other one.",
        scored="difference",
        mean="share of the models that prefer the more stereotyping sentence",
        spread="1 for the more stereotyping sentence and 0 for the other one",
    ),
    "sofa": Kind(
        texts=_of_probes,
        numbers={"disparity": "DDS"},
        score=lambda row: float(row["variance"]),
        value=lambda row: float(row["variance"]),
        about="An item is a stereotype with all identities of its category. Its score is the variance of log PPL* over "
        "the identities; the SoFa score is a mean of these variances.",
        scored="variance",
        mean="mean variance over the models",
        spread="the variance of log PPL*",
        note=lambda row: str(row["reason"]) or f"{row['lowest']} – {row['highest']}",
        noted="identities with the lowest and the highest log PPL*",
        called=lambda row: f"stereotype about {row['domain']}",
        outcomes={},
    ),
    "bbq": Kind(
        texts=_of_questions,
        numbers={f"score_{place}": place for place in PLACES},
        score=lambda row: float(row["correct"]),
        value=lambda row: {"stereotype": 1.0, "anti-stereotype": 0.0}.get(str(row["outcome"]), nan),
        about="Each box is a model. Its letter says what the likeliest answer names; N is the answer that nobody can "
        "know it.",
        scored="correct (1) or not (0)",
        mean="share of stereotypes among answers that name a group",
        spread="1 for the stereotype and 0 for the anti-stereotype",
    ),
    OF_CHOICES: Kind(
        texts=_of_choices,
        numbers={"requests": "requests", "refusal": "refused"},
        score=lambda row: float(row["share"]),
        value=lambda row: float(row["share"]),
        about="Each box is a model. Its letter says which side it chooses more often, in both orders together.",
        scored="share of the stereotype",
        mean="mean share of the stereotype over the models",
        spread="the share of the stereotype among the choices of both orders",
    ),
}
"""Maps the registered name of a measure to the display of its items."""
