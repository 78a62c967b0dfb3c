"""A jury of models answers the raters' question about each association; it may drop some only after a test.

A juror's answer never replaces a person's. It is a separate annotation, under the name of the juror or the jury.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Completed, Reply, parse
from catsofa.data.digests import hex_digest, json_digest
from catsofa.data.files import BadInput, json_files
from catsofa.data.prompt_texts import compiled
from catsofa.data.records import Annotation, Association, Refused

LABELS = ("yes", "no", "unsure")
LEAST_KAPPA = 0.2
"""Minimum agreement of the raters; below it, the test is too easy to justify a drop."""
LEAST_RECALL = 0.95
"""Minimum lower limit of the jury's recall of confirmed associations, before it may drop any."""
AUDIT = 20
"""One in this many associations that the jury would drop still goes to people."""
QUESTION = "association"
"""The question of a study of people; an annotation of the jury judges the same item."""
_MARK = re.compile(r"[^\w]+")


class Jury:
    """Models that answer one question with the same settings; its hash covers all of these."""

    def __init__(self, models: Sequence[str], settings: Mapping[str, Any]) -> None:
        """Loads the question."""
        self.models = tuple(dict.fromkeys(models))
        self.settings = {name: value for name, value in settings.items() if value is not None}
        self._text = files("catsofa.data").joinpath("prompts", "candidates", "jury.txt").read_text(encoding="utf-8")
        self._template = compiled("jury", self._text)

    def name(self, association: Association, juror: str = "") -> str:
        """Returns the name of a juror or the jury, with region and language, since a pass is valid only there."""
        digest = json_digest([[juror] if juror else list(self.models), self._text, self.settings], 12)
        return f"{juror or 'jury'} {digest} {association.region or 'anywhere'} {association.language}"

    def requests(self, associations: Sequence[Association]) -> list[Request]:
        """Returns the request of every association to every juror; the id decides the order of the answers."""
        return [self._request(association, model) for model in self.models for association in associations]

    def _request(self, association: Association, model: str) -> Request:
        """Returns the request of one association to one juror."""
        options = list(LABELS)
        Random(association.id).shuffle(options)
        prompt = self._template.render(
            group=association.identity,
            attribute=association.attribute,
            region=association.region,
            options=", ".join(options),
        ).strip()
        return Request(item=association.id, model=model, prompt=prompt, settings=self.settings, reply_chars=4)

    def annotations(self, associations: Sequence[Association], ended: Iterable[Completed]) -> Iterator[Annotation]:
        """Yields the answer of each juror, and the answer of more than half of the jurors, if any."""
        answered = {one.request.key: label_of(one.reply) for one in ended}
        for association in associations:
            labels, item = [], f"{association.id}/{QUESTION}"
            for model in self.models:
                if label := answered.get(self._request(association, model).key):
                    labels.append(label)
                    yield Annotation(item=item, annotator=self.name(association, model), label=label)
            label, votes = Counter(labels).most_common(1)[0] if labels else ("", 0)
            if 2 * votes > len(self.models):
                yield Annotation(item=item, annotator=self.name(association), label=label)


def label_of(reply: Reply | None) -> str:
    """Returns the one answer of a complete reply, without reasoning and markup, or an empty string."""
    sentences = parse(reply.text, 1).sentences if reply and reply.ending == "complete" else ()
    word = _MARK.sub("", sentences[0]).lower() if len(sentences) == 1 else ""
    return word if word in LABELS else ""


def may_drop(path: Path | str, names: Iterable[str]) -> set[str]:
    """Returns the juries that an alternative annotator test allows to drop associations.

    Raises BadInput for an untested jury, and ValueError for a weak one.
    """
    expected = "a result of `catsofa validate alt-test --out`"
    report = json_files.read(path, expected)
    judges = report.get("judges") if isinstance(report, dict) else None
    if not isinstance(judges, dict):
        raise BadInput(path, "no judges", expected)
    json_files.check_seal(report, path, "the file as it was written; run `validate alt-test --out` again")
    allowed = set(names)
    for name in sorted(allowed):
        if not isinstance(result := judges.get(name), dict):
            raise BadInput(path, f"no test of {name!r}", "a test of this jury, for this region and language")
        recall = result.get("recall", {}).get("yes", {}).get("low") or 0.0
        kappa = result.get("kappa") or 0.0
        if not result.get("passed") or kappa < LEAST_KAPPA or recall < LEAST_RECALL:
            raise ValueError(
                f"{path}: {name!r} may not drop associations: winning rate {result.get('winning_rate')}, kappa of the "
                f"raters {kappa:.2f}, lower limit of recall {recall:.2f}; expected a pass, {LEAST_KAPPA} and "
                f"{LEAST_RECALL}. Leave --alt-test out: people then see all associations"
            )
    return allowed


def apply(
    associations: Iterable[Association], annotations: Sequence[Annotation], droppers: set[str]
) -> Iterator[Association | Refused]:
    """Yields each association with its answers; if an allowed jury denies it, it is refused, except one in twenty."""
    by_item: dict[str, dict[str, str]] = {}
    for one in annotations:
        by_item.setdefault(one.item, {})[one.annotator] = one.label
    for association in associations:
        answers = by_item.get(f"{association.id}/{QUESTION}", {})
        denied = any(answers.get(name) == "no" for name in droppers)
        audit = int(hex_digest(association.id, 8), 16) % AUDIT == 0
        if denied and not audit:
            text = f"{association.identity}: {association.attribute}"
            yield Refused(id=association.id, reason="denied_by_jury", text=text, source={"jury": answers})
        else:
            about = {"jury": answers} | ({"jury_audit": True} if denied else {})
            yield replace(association, extra={**association.extra, **about})
