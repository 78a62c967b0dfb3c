"""A study whose people answered questions about themselves."""

from pathlib import Path

from catsofa.annotation.crowd.people.background import Background
from catsofa.annotation.crowd.people.questionnaire import SILENT
from catsofa.annotation.label_studio.pull import digested
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, create, rows
from catsofa.annotation.study.interface import result_of
from helpers.records import bakers

HOMES = ["Fiji"] * 5 + ["Samoa"] * 4 + ["Tonga"] + ["Peru"] * 2 + [SILENT] * 3
"""Homes of the people of the study: five of Fiji, five of other Oceania, and five with too few each."""


def asked_study(folder: Path) -> Study:
    """Returns a study of two CATs judged by fifteen people with known homes; Oceania without Fiji gave other labels.

    Those people are men, and all others women.
    """
    study = create(folder, kind="validate-cats", items=bakers(2), overlap=15)
    (study.folder / "study.toml").write_text('[questionnaire]\nbundled = ["country", "gender"]\n')
    answers = []
    for n, home_of in enumerate(HOMES):
        Background(study).keep(f"p{n}", {"country": home_of, "gender": "man" if 5 <= n < 10 else "woman"})
        for token, key in study.keys.items():
            assert study.kind.asks is not None
            reply = {name: each.right for name, each in study.kind.asks(study.items[key.item], key.order).items()}
            if home_of in ("Samoa", "Tonga"):
                reply = dict(zip(reply, [*list(reply.values())[1:], reply[min(reply)]], strict=True))
            result = result_of(study.kind.interface, reply)
            time = "2027-01-01T00:00:00Z"
            answers.append(
                Raw(annotation=f"{n}/{token}", updated=time, token=token, annotator=f"p{n}", at=time, result=result)
            )
    rows.append(answers, study.folder / "raw.jsonl")
    digested(study, len(answers), 0)
    return study
