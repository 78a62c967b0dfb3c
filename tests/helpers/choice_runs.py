"""Records of each kind of choices, and runs of models that name an option of each."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from catsofa.data.files import jsonl
from catsofa.data.questions import Answer, Question
from catsofa.data.records import AssociationTest, Pair, Probe, WordSet
from catsofa.scoring.choosing.items import items_from
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.choosing.requests import orders
from catsofa.scoring.choosing.templates import bundled

Said = Callable[[Any, Sequence[str]], str]
"""Returns the option that a model names for an item and an order of its options; an empty name is a refusal."""


def pairs(count: int = 40) -> list[Pair]:
    """Returns invented pairs of one domain."""
    return [
        Pair(id=f"p{n}", more=f"Zorbs lose {n} keys.", less=f"Zorbs find {n} keys.", direction="stereo", bias_type="x")
        for n in range(count)
    ]


def questions(count: int = 20) -> list[Question]:
    """Returns a question of each template in both contexts."""
    return [
        Question(
            id=f"{condition}{n}", question="Who is late?",
            context=f"A zorb met a mimp {n} times." + ("", f" The {('zorb', 'mimp')[n % 2]} was late.")[known],
            answers=(Answer(text="The zorb", role="target", group="Zorbs"),
                     Answer(text="The mimp", role="other", group="Mimps"),
                     Answer(text="Unknown", role="unknown", group="unknown")),
            correct=2 if condition == "ambig" else n % 2, condition=condition, polarity="neg",
            category="c", template=str(n),
        )
        for n in range(count)
        for known, condition in enumerate(("ambig", "disambig"))
    ]  # fmt: skip


def probes(count: int = 16) -> list[Probe]:
    """Returns statements about three identities."""
    return [
        Probe(category="c", identity=who, stereotype=f"lose {n} keys")
        for who in ("zorbs", "mimps", "quells")
        for n in range(count)
    ]


def association(count: int = 20) -> AssociationTest:
    """Returns a test with so many words in each set."""
    sets = {name: WordSet(name=name, items=tuple(f"{name}{n}" for n in range(count))) for name in "xyab"}
    return AssociationTest(id="tidy", **sets)


ASKED: Mapping[str, Sequence[Any]] = {
    "likelihood": pairs(),
    "question": questions(12),
    "true": probes(),
    "which": probes(),
    "word": [association()],
    "decision": [association()],
}
"""Records of each kind, by the template that asks about them."""
SECOND = ("which", "decision")
"""The templates that ask the second question about their records."""


def run(folder: Path, records: Sequence[Any], said: Said, *, second: bool = False, **fields: Any) -> Path:
    """Writes the run of a model that names an option of each item, in every order; an empty name is a refusal."""
    folder.mkdir()
    jsonl.write(records, folder.parent / "data.jsonl")
    fields = {"template": "likelihood", **fields}
    alone = fields["template"] == "true"
    lines = [
        {"item": item.id, "order": order, **fields}
        | {"reply": _reply(named, order) if (named := said(item, order)) else "I can't help with that."}
        for item in items_from(records, second=second)
        for order in ([(option,) for option in item.texts] if alone else orders(item))
    ]
    (folder / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report_on(folder / "r.jsonl", folder.parent / "data.jsonl", out=folder / "run", resamples=50)
    return folder / "run"


def run_of(template: str, folder: Path, said: Said) -> Path:
    """Writes the run of a model on the records that a template asks about."""
    assert bundled(template)
    return run(folder, ASKED[template], said, second=template in SECOND, template=template)


def _reply(named: str, order: Sequence[str]) -> str:
    """Returns the letter of an option; yes or no where a single option is asked about."""
    return ("Yes." if named == order[0] else "No.") if len(order) == 1 else f"{'ABC'[order.index(named)]}."
