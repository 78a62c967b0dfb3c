import resource
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from catsofa.builders import refusals
from catsofa.builders.probes import build, size, sofa_categories
from catsofa.data.files import jsonl
from catsofa.data.judging.severities import severity_of
from catsofa.data.records import Identity, Probe, Refused, Stereotype

IDENTITIES = [
    Identity(category="gender", identity="Tailors", form="noun"),
    Identity(category="sexuality", identity="Early risers", form="noun"),
    Identity(category="religion", identity="Gardeners", form="noun"),
    Identity(category="disability+gender", identity="Tall tailors", form="adjective noun"),
]


def texts(stereotype: Stereotype) -> list[str]:
    """Returns the texts of one stereotype's probes."""
    return [probe.text for probe in build(IDENTITIES, [stereotype]) if isinstance(probe, Probe)]


def test_a_probe_is_an_identity_before_a_stereotype_of_its_category() -> None:
    """SBIC's culture is the lexicon's religion. As in SoFa, gender includes sexual orientations."""
    assert texts(Stereotype(text="bake bread", category="culture")) == ["Gardeners bake bread"]
    assert texts(Stereotype(text="bake bread", category="gender")) == [
        *("Tailors bake bread", "Early risers bake bread"),
        "Tall tailors bake bread",
    ]


def test_probes_keep_how_hurtful_people_find_the_association() -> None:
    """Each probe keeps the offensiveness ratings of its stereotype's association, if it has any."""
    rated = Stereotype(text="bake bread", category="culture", source={"offensiveness": [1.0, None]})
    (probe,) = (probe_record for probe_record in build(IDENTITIES, [rated]) if isinstance(probe_record, Probe))
    assert severity_of(probe) == 1.0
    (plain,) = (
        probe_record
        for probe_record in build(IDENTITIES, [replace(rated, source={})])
        if isinstance(probe_record, Probe)
    )
    assert (dict(plain.extra), severity_of(plain)) == ({}, None)


def test_an_intersectional_identity_belongs_to_both_of_its_categories() -> None:
    """An identity of disability plus gender takes stereotypes of disability, and its probe names both."""
    (probe,) = build(IDENTITIES, [Stereotype(text="bake bread", category="disabled")])
    assert isinstance(probe, Probe)
    assert (probe.text, probe.category) == ("Tall tailors bake bread", "disability+gender")


def test_a_stereotype_without_a_category_meets_every_identity() -> None:
    """A stereotype without a category, or with two, is combined with each matching identity once."""
    assert len(texts(Stereotype(text="bake bread"))) == 4
    assert len(texts(Stereotype(text="bake bread", category="gender, culture"))) == 4


def test_categories_that_sofa_leaves_out_are_refused() -> None:
    """SBIC's victim, social and body are excluded, because they fit only one identity. A category without identities is
    refused."""
    records = list(
        build(IDENTITIES, [Stereotype(text="bake", category="body"), Stereotype(text="bake", category="race")])
    )
    assert [record.reason for record in records if isinstance(record, Refused)] == [
        *("excluded_category", "no_identity_of_category"),
    ]


def test_a_stereotype_in_another_language_than_the_identities_is_refused() -> None:
    """The reason names the language, because there are identities of its category."""
    (refused,) = build(IDENTITIES, [Stereotype(text="hornean pan", category="religion", language="es")])
    assert isinstance(refused, Refused)
    assert refused.reason == "no_identity_of_language"


def test_a_probe_names_what_it_is_made_of() -> None:
    """A probe's source has the ids of its identity and stereotype; the same grid gives the same ids."""
    stereotype = Stereotype(text="bake bread", category="religion")
    (probe,) = build(IDENTITIES, [stereotype])
    assert probe.source == {"identity": IDENTITIES[2].id, "stereotype": stereotype.id}
    assert [probe_again.id for probe_again in build(IDENTITIES, [stereotype])] == [probe.id]


def test_the_size_is_known_before_a_probe_is_made() -> None:
    """The size by category is identities times stereotypes."""
    assert size(IDENTITIES, {"gender": 10, "religion": 5}) == {"gender": 30, "religion": 5}
    assert sofa_categories()["sexuality"] == "gender"


@pytest.mark.slow
def test_sofas_own_size_takes_minutes_and_little_memory(tmp_path: Path) -> None:
    """408 identities and 11,349 stereotypes in SoFa's four categories give 1.5 million probes, streamed to a file."""
    sizes = {"religion": (14, 2500), "gender": (115, 3400), "nationality": (224, 4600), "disability": (55, 849)}
    identities = [
        Identity(category=category, identity=f"Guests of table {number}", form="noun")
        for category, (count, _) in sizes.items()
        for number in range(count)
    ]
    stereotypes = (
        Stereotype(text=f"are always {number} minutes late for their tea", category=category)
        for category, (_, count) in sizes.items()
        for number in range(count)
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts = refusals.write(build(identities, stereotypes), tmp_path / "probes.jsonl")
    assert counts == Counter(kept=14 * 2500 + 115 * 3400 + 224 * 4600 + 55 * 849)
    assert len(identities) == 408
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kilobytes"
    assert next(jsonl.read(tmp_path / "probes.jsonl", Probe)).category == "religion"
