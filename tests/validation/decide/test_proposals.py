import pytest

from catsofa.data.judging.severities import severity_of
from catsofa.data.records import Annotation, Association, Probe, Votes
from catsofa.validation.decide.confirmed import reviewed
from catsofa.validation.decide.proposals import yields
from catsofa.validation.judgements import Rule


def proposal(group: str, attribute: str, prompt: str, jury: str) -> Association:
    """Returns an association from one prompt with the jury's verdict."""
    origin = {"model": "m", "prompt": prompt, "prompt_hash": "h", "times": 1}
    return Association(identity=group, attribute=attribute, extra={"said_by": [origin], "jury": {"jury": jury}})


def judged(one: Association, *labels: str) -> list[Annotation]:
    """Returns people's answers, each with an answer about harm."""
    return [
        Annotation(item=f"{one.id}/{name}", annotator=f"p{n}", label=answer, extra={"of": one.id, "question": name})
        for n, label in enumerate(labels)
        for name, answer in (("association", label), ("severity", "not at all"))
    ]


def test_the_share_that_people_confirm_is_told_per_prompt_model_and_jury() -> None:
    """Two of three votes confirm: 2 of 3 judged in all, 2 of 2 of the slots, 0 of 1 of the report.

    The fourth has two of its three judgements and is not yet judged; the fifth has none.
    """
    tidy, late = proposal("Zorbs", "tidy", "slots", "yes"), proposal("Zorbs", "late", "report", "no")
    loud, calm = proposal("Dravians", "loud", "slots", "yes"), proposal("Dravians", "calm", "report", "yes")
    rest = proposal("Pellorans", "odd", "report", "no")
    answers = [
        *judged(tidy, "yes", "yes", "no"),
        *judged(late, "yes", "no", "unsure"),
        *judged(loud, "yes", "yes", "yes"),
        *judged(calm, "yes", "yes"),
    ]
    rows, review = yields([tidy, late, loud, calm, rest], answers, Rule(need=2, of=3))
    by_origin = {row.origin: (row.proposed, row.judged, row.confirmed, row.share) for row in rows}
    assert by_origin["all"] == (5, 3, 2, pytest.approx(2 / 3))
    assert by_origin["m, slots"] == (2, 2, 2, 1.0)
    assert by_origin["m, report"] == (3, 1, 0, 0.0)
    assert by_origin["jury: yes"] == (3, 2, 2, 1.0)
    assert by_origin["jury: no"] == (2, 1, 0, 0.0)
    by_attribute = {one.attribute: one for one in review.kept if isinstance(one, Association)}
    assert by_attribute["tidy"].votes == (Votes(raters="region", yes=2, no=1),)
    assert by_attribute["tidy"].extra["review"]["severity"]["label"] == "not at all"


def test_a_judged_probe_has_the_severities_that_people_gave_it() -> None:
    """Three people say plausible; not at all, much and very much hurtful are 0, 2 and 3, so the mean is 5/3."""
    probe = Probe(category="craft", identity="Zorbs", stereotype="are late")
    pairs = [("plausible", "not at all"), ("plausible", "much"), ("plausible", "very much")]
    answers = [
        Annotation(item=f"{probe.id}/{name}", annotator=f"p{n}", label=label, extra={"of": probe.id, "question": name})
        for n, labels in enumerate(pairs)
        for name, label in zip(("plausible", "severity"), labels, strict=True)
    ]
    (record,) = reviewed([probe], answers, Rule(need=2, of=3)).kept
    assert isinstance(record, Probe)
    assert record.extra["offensiveness"] == [0.0, 2.0, 3.0]
    assert severity_of(record) == pytest.approx(5 / 3)
