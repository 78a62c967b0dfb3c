"""Runs and data sets for reports, optionally with markup in their texts."""

from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from catsofa.data.files import jsonl
from catsofa.data.records import Annotation, Cat, Refused, Score
from catsofa.data.release import write_release
from catsofa.data.release.dataset_card import CardFacts
from catsofa.scoring.protocols import DEFAULT, Protocol
from catsofa.scoring.results import report
from catsofa.scoring.run.store import Run
from catsofa.scoring.signature import name_of
from helpers.records import a_cat, a_pair, bakers, said

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>${{7*7}}"


def measures(lms: float, ss: float) -> dict[str, Any]:
    """Returns lms and ss of 40 of 50 CATs."""
    values = {"lms": lms, "ss": ss, "icat": lms * min(ss, 100 - ss) / 50}
    limits = {name: {"low": value - 2, "high": value + 2} for name, value in values.items()}
    return {**values, "items": 50, "terms": 5, "coverage": 0.8, "intervals": limits}


def cats(text: str) -> dict[str, Any]:
    """Returns results of CATs whose domain and terms have this name."""
    task = {text: measures(90, 60), "overall": measures(90, 60)}
    return {"intrasentence": task, "overall": measures(90, 60)}


def probes(text: str) -> dict[str, Any]:
    """Returns results of probes whose category, identity and stereotype have this name."""
    score = {"score": 0.5, "coverage": 0.5, "intervals": {"score": {"low": 0.4, "high": 0.6}}}
    score["normalisation"] = "identity"
    score["normalisations"] = {"identity": 0.5, "conditional": 0.25, "none": 0.125}
    identity = {"category": text, "identity": text, "lowest": 0.5, "highest": 0.1, "mean": 1.0}
    stereotype = {"category": text, "stereotype": text, "dds": 0.5, "variance": 0.1}
    return {
        **score,
        "categories": {text: {**score, "probes": 10, "stereotypes": 4, "identities": 3, "quantiles": [*range(101)]}},
        "identities": [identity],
        "stereotypes": [stereotype],
    }


def association(text: str, p: float) -> list[dict[str, Any]]:
    """Returns results of a test of this name."""
    limits = {"effect_size": {"low": 0.5, "high": 1.5}}
    sizes = {"x": 2, "y": 2, "a": 2, "b": 2}
    row = {"test": text, "effect_size": 1.0, "p_value": p, "how": "exact", "sizes": sizes, "coverage": 1.0}
    return [{**row, "intervals": limits}]


def pairs(text: str) -> dict[str, Any]:
    """Returns results of pairs of this type."""
    score = {"score": 60.0, "pairs": 10, "neutral": 1, "coverage": 1.0, "intervals": {"score": {"low": 30, "high": 80}}}
    return {"overall": score, "types": {text: score}, "directions": {"stereo": score}}


def run(
    folder: Path, results: Any, model: str = "m", data: str = "d@1", protocol: str = "catsofa", **more: Any
) -> Path:
    """Writes a finished run with these results."""
    signature = {"data": data, "model": f"{model}@{folder.name}", "protocol": protocol}
    with Run.begin(folder, {}, {"model": model}) as store:
        store.finish({"results": results, "signature": signature, **more})
    return folder


class Page(HTMLParser):
    """Collects the tags and attributes of a page, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Stores the tag and its attributes."""
        self.tags.append(tag)
        self.attributes += attrs


def judged(count: int = 4) -> list[Annotation]:
    """Returns judgements of five people who agree on all bakers but the first, where one disagrees."""
    votes = [
        Annotation(item=candidate.id, annotator=f"person {n}", label=candidate.label)
        for cat in bakers(count)
        for candidate in cat.candidates
        for n in range(5)
    ]
    return [replace(votes[0], label="unrelated"), *votes[1:]]


def a_release(folder: Path, said: str = "Few zorbs.") -> Path:
    """Writes a release whose splits share a term, with a statement of two headings."""
    statement = f"## Data statement\n\n### Limits\n\n{said}\n\n### Rationale\n\nNone."
    splits = {"dev": bakers(2), "test": [*bakers(4)[2:], *bakers(2, "florist")]}
    write_release(splits, folder / "release", CardFacts(pretty_name="Bakers", statement=statement, citation="@x{}"))
    return folder / "release"


def evil(folder: Path, text: str = EVIL) -> Path:
    """Writes a folder with this text, by default markup, in every field."""
    cat = a_cat(f"The {text} BLANK.", text, "early", "purple", sentences=False, target=text, bias_type=text, id=text)
    votes = [Annotation(item=c.id, annotator=f"{text}{n}", label=text) for c in cat.candidates for n in range(3)]
    jsonl.write([cat, replace(cat, id="two", candidates=a_cat(id="two").candidates)], folder / "items.jsonl")
    jsonl.write(votes, folder / "annotations.jsonl")
    jsonl.write([Refused(id=text, reason=text, text=text)], folder / "refused.jsonl")
    jsonl.write([a_pair(text, "b", bias_type=text, votes=said("one", text, "x"))], folder / f"<b>{'x'}.jsonl")
    return folder


def scored(
    folder: Path,
    data: Path,
    of: Sequence[Cat],
    turned: Sequence[str],
    protocol: Protocol = DEFAULT,
    model: str = "m",
    subset: str = "",
    dtype: str = "",
) -> Path:
    """Writes a run whose model prefers the stereotype, except for these terms."""
    values = {"stereotype": -1.0, "anti-stereotype": -2.0, "unrelated": -3.0}
    other = {"stereotype": -2.0, "anti-stereotype": -1.0, "unrelated": -3.0}
    scores = [
        Score(item=candidate.id, task=cat.kind, score=(other if cat.target in turned else values)[candidate.label])
        for cat in of
        for candidate in cat.candidates
    ]
    about = {"model": model, "data": name_of(data), "on": str(data), "protocol": protocol.name}
    identity = {"model": {"name": model}, "data": about["data"], "protocol": {"masked": protocol.stereoset.masked}}
    with Run.begin(folder, identity, about) as store:
        store.add(scores)
        result = report(of, scores, protocol, data=about["data"], model=f"{model}@1", resamples=100, with_terms=True)
        result = replace(result, signature=replace(result.signature, subset=subset, dtype=dtype))
        store.finish(result.to_dict())
    return folder
