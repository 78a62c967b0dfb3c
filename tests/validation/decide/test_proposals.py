import pytest

from catsofa.data.judging.severities import severity_of
from catsofa.data.records import Annotation, Association, Probe, Votes
from catsofa.validation.decide.confirmed import reviewed
from catsofa.validation.decide.proposals import yields
from catsofa.validation.judgements import Rule


def proposal(group: str, attribute: str, prompt: str, jury: str) -> Association:
    """An association that one prompt brought, and what the jury says."""
    by = {"model": "m", "prompt": prompt, "prompt_hash": "h", "times": 1}
    return Association(identity=group, attribute=attribute, extra={"said_by": [by], "jury": {"jury": jury}})


def judged(one: Association, *labels: str) -> list[Annotation]:
    """The answers of people, each with an answer to how hurtful it is."""
    return [
        Annotation(item=f"{one.id}/{name}", annotator=f"p{n}", label=said, extra={"of": one.id, "question": name})
        for n, label in enumerate(labels)
        for name, said in (("association", label), ("severity", "not at all"))
    ]


def test_the_share_that_people_confirm_is_told_per_prompt_model_and_jury() -> None:
    """Two of three votes confirm: by hand 2 of 3 judged in all, 2 of 2 of the slots, 0 of 1 of the report.

    The fourth has two of its three judgements and is not yet judged; the fifth was shown to nobody.
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
    by = {row.origin: (row.proposed, row.judged, row.confirmed, row.share) for row in rows}
    assert by["all"] == (5, 3, 2, pytest.approx(2 / 3))
    assert by["m, slots"] == (2, 2, 2, 1.0)
    assert by["m, report"] == (3, 1, 0, 0.0)
    assert by["jury: yes"] == (3, 2, 2, 1.0)
    assert by["jury: no"] == (2, 1, 0, 0.0)
    kept = {one.attribute: one for one in review.kept if isinstance(one, Association)}
    assert kept["tidy"].votes == (Votes(raters="region", yes=2, no=1),)
    assert kept["tidy"].extra["review"]["severity"]["label"] == "not at all"


def test_a_judged_probe_has_the_severities_that_people_gave_it() -> None:
    """Three people say plausible; not at all, much and very much hurtful are 0, 2 and 3, so 5/3 on average."""
    probe = Probe(category="craft", identity="Zorbs", stereotype="are late")
    said = [("plausible", "not at all"), ("plausible", "much"), ("plausible", "very much")]
    answers = [
        Annotation(item=f"{probe.id}/{name}", annotator=f"p{n}", label=label, extra={"of": probe.id, "question": name})
        for n, labels in enumerate(said)
        for name, label in zip(("plausible", "severity"), labels, strict=True)
    ]
    (kept,) = reviewed([probe], answers, Rule(need=2, of=3)).kept
    assert isinstance(kept, Probe)
    assert kept.extra["offensiveness"] == [0.0, 2.0, 3.0]
    assert severity_of(kept) == pytest.approx(5 / 3)
