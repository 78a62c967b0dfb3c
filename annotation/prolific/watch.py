"""Submissions of which Prolific knows nothing: whoever opened the link with other names than Prolific's."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from catsofa.annotation.crowd.acts import acts
from catsofa.annotation.crowd.owner.decisions import decide
from catsofa.annotation.crowd.people.arrivals import LOG, Arrival
from catsofa.annotation.crowd.store import Rows
from catsofa.annotation.prolific.client import TOKEN, Prolific
from catsofa.annotation.prolific.journal import Journal
from catsofa.annotation.study import Study, rows

GRACE = 600.0
"""Seconds after which Prolific lists every submission that was begun."""
UNKNOWN = "Prolific does not know this person with this submission"
KNOWN = "Prolific knows the submission by now"


def watching(study: Study) -> Callable[[float], Callable[[Rows], None]] | None:
    """What compares a study with Prolific; None without a token, or where the study was not made there by catsofa."""
    return partial(unknown, study) if os.environ.get(TOKEN, "").strip() and Journal(study).has_study() else None


def unknown(study: Study, now: float) -> Callable[[Rows], None]:
    """Ask Prolific for the submissions; the job that sets aside who is in none of them, once, and takes it back.

    What the owner restored stays restored. Where Prolific lists nobody who came, the fault is hardly theirs: nobody is
    set aside.
    """
    with Prolific() as prolific:
        known = {(each.person, each.id) for each in prolific.submissions(Journal(study).study())}
    # without a name: erased after the study
    came = [each for each in rows.read(study.folder / LOG, Arrival) if each.platform == "prolific" and each.person]
    lists_them = any((each.person, each.submission) in known for each in came)
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def job(held: Rows) -> None:
        noted = acts(held)
        for arrival in came:
            if (person := held.get("person", arrival.name)) is None:
                continue
            mine = [act for act in noted if act["person"] == arrival.name]
            if (arrival.person, arrival.submission) in known:
                if mine and mine[-1]["reason"] == UNKNOWN and person["state"] in ("paused", "voided"):
                    decide(held, arrival.name, "restore", KNOWN, at)
                continue
            act = {"working": "pause", "finished": "void"}.get(person["state"], "")
            if act and now - person["arrived"] > GRACE and UNKNOWN not in {each["reason"] for each in mine}:
                if not lists_them:
                    raise ValueError(
                        f"Prolific lists none of the {len(came):,} people who came, so nobody was set aside; look "
                        "whether they came by the study that catsofa annotate prolific create made"
                    )
                decide(held, arrival.name, act, UNKNOWN, at)

    return job
