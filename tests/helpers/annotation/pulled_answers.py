"""Answers of people to a study without a server."""

from typing import Any

from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study
from catsofa.annotation.study.interface import interface, result_of


def answered(study: Study, token: str, person: str, given: dict[str, str], **more: Any) -> Raw:
    """Returns an answer as a pull would bring it."""
    time = more.pop("at", "2026-01-02T03:04:05Z")
    return Raw(
        annotation=f"{person}/{token}",
        updated=more.pop("updated", time),
        token=token,
        annotator=person,
        at=time,
        result=result_of(interface(study.kind.name), given),
        **more,
    )
