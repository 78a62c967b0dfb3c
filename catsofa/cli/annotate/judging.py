"""How judgements of a study are counted and compared: what the room of annotation takes from that of validation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catsofa.annotation.crowd.owner.facts import Overview
    from catsofa.annotation.results.status import Status
    from catsofa.annotation.study import Study
    from catsofa.data.records import Annotation


def status_of(study: "Study") -> "Status":
    """How a study stands, with the seats by the vote rule and the agreement so far."""
    from catsofa.annotation.results.status import status
    from catsofa.validation.agreement import agreement
    from catsofa.validation.judgements import Rule, count

    def seats(annotations: Sequence["Annotation"], people: int) -> dict[str, int]:
        counted = count(annotations, Rule(need=1, of=people), lambda annotation: str(annotation.extra["task"]))
        return {task: each.taken for task, each in counted.seats.items()}

    return status(study, lambda annotations: agreement(annotations, resamples=1).percent, seats)


def look(study: "Study") -> "Overview":
    """How a study stands that people come to by `annotate open`."""
    from catsofa.annotation.crowd.owner.facts import overview

    return overview(study, status_of)
