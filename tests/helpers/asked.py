"""A study whose people were asked about themselves, and answered."""

from pathlib import Path

from catsofa.annotation.crowd.people.background import Background
from catsofa.annotation.crowd.people.questionnaire import SILENT
from catsofa.annotation.label_studio.pull import digested
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, create, rows
from catsofa.annotation.study.interface import result_of
from helpers.records import bakers

HOMES = ["Fiji"] * 5 + ["Samoa"] * 4 + ["Tonga"] + ["Peru"] * 2 + [SILENT] * 3
"""Where the people of the study live: five alone, five of Oceania, and five with too few each."""


def asked_study(folder: Path) -> Study:
    """Two CATs judged by fifteen people who said where they live; those of Oceania but Fiji gave other labels.

    They are men, and all others women.
    """
    made = create(folder, kind="validate-cats", items=bakers(2), overlap=15)
    (made.folder / "study.toml").write_text('[questionnaire]\nbundled = ["country", "gender"]\n')
    given = []
    for n, home_of in enumerate(HOMES):
        Background(made).keep(f"p{n}", {"country": home_of, "gender": "man" if 5 <= n < 10 else "woman"})
        for token, key in made.keys.items():
            assert made.kind.asks is not None
            said = {name: each.right for name, each in made.kind.asks(made.items[key.item], key.order).items()}
            if home_of in ("Samoa", "Tonga"):
                said = dict(zip(said, [*list(said.values())[1:], said[min(said)]], strict=True))
            result = result_of(made.kind.interface, said)
            at = "2027-01-01T00:00:00Z"
            given.append(
                Raw(annotation=f"{n}/{token}", updated=at, token=token, annotator=f"p{n}", at=at, result=result)
            )
    rows.append(given, made.folder / "raw.jsonl")
    digested(made, len(given), 0)
    return made
