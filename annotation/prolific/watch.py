"""Follows submissions on Prolific while people work here: unknown there, returned, timed out, rejected or approved."""

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial

from catsofa.annotation.crowd import seats, settings
from catsofa.annotation.crowd.acts import acts
from catsofa.annotation.crowd.owner.decisions import decide
from catsofa.annotation.crowd.people import arrivals
from catsofa.annotation.crowd.people.arrivals import LOG, Arrival
from catsofa.annotation.crowd.store import Rows, identity, reading
from catsofa.annotation.prolific.client import TOKEN, Prolific
from catsofa.annotation.prolific.journal import Journal
from catsofa.annotation.prolific.settle import OPEN, PAID, WAITING
from catsofa.annotation.study import Study, rows

GRACE = 600.0
"""Seconds after which Prolific lists every submission that has begun."""
UNKNOWN = "Prolific does not know this person with this submission"
LEFT = {"RETURNED": "returned", "TIMED-OUT": "timed_out"}
"""Submissions that end before the work does: the outcome of the person, whose answers count."""
Forget = Callable[[Study, str], object]
"""Function that erases a person by pseudonym."""
KNOWN = "Prolific knows the submission by now"
REFUSED, REJECTED = "REJECTED", "the submission was rejected on Prolific"
TAKEN_BACK = "the submission is no longer rejected on Prolific"


def watching(study: Study, forget: Forget) -> Callable[[float], Callable[[Rows], None]] | None:
    """Returns a function that compares a study with Prolific, or None.

    Returns None without a token, or if catsofa did not create the study on Prolific.
    """
    comparable = os.environ.get(TOKEN, "").strip() and Journal(study).has_study()
    return partial(compared, study, forget) if comparable else None


def compared(study: Study, forget: Forget, now: float) -> Callable[[Rows], None]:
    """Reads the submissions from Prolific; returns a job that applies their changes here.

    A person whose submission is unknown or rejected is set aside, and restored when that changes. A person whom the
    owner restored stays restored. If Prolific lists nobody who came, the fault is hardly theirs: the job raises
    ValueError and sets nobody aside. A submission that ended on Prolific ends the work of its person and frees their
    task at once; a submission that is open again lets the person continue. Someone who took a person's name with an
    invented submission is erased, so that the person can begin.
    """
    with Prolific() as prolific:
        statuses = {(each.person, each.id): each.status for each in prolific.submissions(Journal(study).study())}
    _make_room(study, forget, statuses)
    # an arrival without a name was erased after the study
    came = [each for each in rows.read(study.folder / LOG, Arrival) if each.platform == "prolific" and each.person]
    lists_them = any((each.person, each.submission) in statuses for each in came)
    moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def job(held: Rows) -> None:
        noted = acts(held)
        for arrival in came:
            if (person := held.get("person", arrival.name)) is None:
                continue
            mine = [act for act in noted if act["person"] == arrival.name]
            last = mine[-1]["reason"] if mine and person["state"] in ("paused", "voided") else ""
            act = {"working": "pause", "finished": "void"}.get(person["state"], "")
            status = statuses.get((arrival.person, arrival.submission))
            if status == REFUSED:
                by_owner = mine and mine[-1]["act"] == "restore" and mine[-1]["reason"] not in (KNOWN, TAKEN_BACK)
                if act and not by_owner:
                    decide(held, arrival.name, act, REJECTED, moment)
            elif status:
                if last in (UNKNOWN, REJECTED):
                    decide(held, arrival.name, "restore", KNOWN if last == UNKNOWN else TAKEN_BACK, moment)
                elif person["state"] == "working" and status in LEFT:
                    seats.end(held, person, "finished", LEFT[status])
                elif person["state"] == "working" and status in PAID:
                    seats.stop(held, arrival.name)
                elif person["state"] == "finished" and person["outcome"] in LEFT.values() and status in OPEN:
                    held.put("person", {**person, "state": "working", "outcome": ""})
            elif act and now - person["arrived"] > GRACE and UNKNOWN not in {each["reason"] for each in mine}:
                if not lists_them:
                    raise ValueError(
                        f"Prolific lists none of the {len(came):,} people who came, so nobody was set aside; look "
                        "whether they came by the study that catsofa annotate prolific create made"
                    )
                decide(held, arrival.name, act, UNKNOWN, moment)

    return job


def _make_room(study: Study, forget: Forget, statuses: Mapping[tuple[str, str], str]) -> None:
    """Erases everybody who came as another person: with a submission other than the open one that Prolific lists.

    The other person can then begin. If Prolific lists nobody who came, nobody is erased.
    """
    if not arrivals.has_identities(study.folder):
        return
    key = arrivals.key_of(study, settings.read(study).people.same_as)
    listed = {
        (arrivals.name_of(key, "prolific", who), arrivals.keyed(key, id_)): statuses[who, id_] for who, id_ in statuses
    }
    with reading(study.folder, identity(study.settings.secret)) as held:
        submissions = {row["name"]: row["submission"] for row in held.all("SELECT name, submission FROM person")}
    if listed.keys().isdisjoint(submissions.items()):
        return
    for name in {name for (name, _), status in listed.items() if status in (*OPEN, WAITING)}:
        if name in submissions and (name, submissions[name]) not in listed:
            forget(study, name)
