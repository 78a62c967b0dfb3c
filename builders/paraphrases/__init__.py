"""Builds paraphrases of CATs from model replies: parses and checks each reply and keeps the ids of the originals.

Partition k holds the k-th paraphrase of every CAT that has one. Review k holds the paraphrases with an alarm, which
wait for people. A paraphrase keeps the id of its original and of each of the three sentences, so scores join by id.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from catsofa.builders.paraphrases.checks import Verdict, judge, same_words
from catsofa.builders.paraphrases.meaning import TargetPolicy
from catsofa.builders.paraphrases.prompts import Prompt, Request, fillers
from catsofa.builders.paraphrases.replies import Ending, Parsed, Reply, parse
from catsofa.builders.paraphrases.slots import Slots
from catsofa.data.files import BadInput, atomic_write
from catsofa.data.files.jsonl import dumps
from catsofa.data.formats import read_as
from catsofa.data.language import blanks
from catsofa.data.records import Cat, Extra, Refused

GROWTH = 1.35
"""Characters of a paraphrase per character of its original, in GPT-4's replies about StereoSet's contexts."""
TOGETHER = 64
"""Number of replies whose sentences are parsed in one batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A CAT and the reply about it, or the reason why it has no reply."""

    original: Cat
    reply: Reply | None = None
    failure: str = "no_reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paraphrase:
    """A paraphrase that is not refused: a CAT of one partition. A paraphrase with alarms waits for people."""

    partition: int
    cat: Cat

    @property
    def queue(self) -> Literal["partition", "review"]:
        """The file that the paraphrase belongs to: `review` if it has alarms, else `partition`."""
        return "review" if self.cat.extra.get("alarms") else "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules for judging replies: the slot check, the number of sentences per reply, and the policy for the target."""

    slot: Slots
    count: int = 2
    target: TargetPolicy = "derived"


def read_originals(path: Path | str) -> tuple[list[Cat], list[Refused]]:
    """Returns the intrasentence CATs of a file, and the other CATs as refused, because they have no BLANK to keep."""
    cats: list[Cat] = []
    refused: list[Refused] = []
    for cat in read_as(path, Cat):
        if cat.kind == "intrasentence":
            cats.append(cat)
        else:
            refused.append(_refused(cat, "not_intrasentence", cat.context))
    if not cats:
        raise BadInput(path, "no intrasentence CAT", "CATs with a BLANK in their context")
    return cats, refused


def requests(originals: Iterable[Cat], prompt: Prompt, model: str, settings: Mapping[str, Any]) -> list[Request]:
    """Returns one request for each CAT with a slot that can be filled; other requests would waste money."""
    return [
        Request(
            item=cat.id,
            model=model,
            prompt=prompt.ask(cat),
            settings={name: value for name, value in settings.items() if value is not None},
            reply_chars=round(prompt.count * GROWTH * len(cat.context)),
        )
        for cat in originals
        if _slot(cat)
    ]


def build(answers: Iterable[Answer | Refused], rules: Rules, made_by: Extra) -> Iterator[Paraphrase | Refused]:
    """Yields each sentence of each answer as a paraphrase, or as a refusal with its reason.

    `made_by` is added to the source of every paraphrase.
    """
    waiting = iter(answers)
    while group := list(islice(waiting, TOGETHER)):
        replies = [(answer, _parsed(answer, rules)) for answer in group]
        rules.slot.read(
            (answer.original, sentence)
            for answer, parsed in replies
            if isinstance(answer, Answer) and parsed and answer.original.language == "en" and _slot(answer.original)
            for sentence in parsed.sentences
            if not blanks.check(sentence)
        )
        for answer, parsed in replies:
            if isinstance(answer, Refused):
                yield answer
            elif answer.reply is None:
                yield _refused(answer.original, answer.failure, answer.original.context)
            elif parsed is None:
                yield _refused(answer.original, _ENDINGS[answer.reply.ending], answer.reply.text)
            else:
                yield from _from_reply(answer.original, answer.reply, parsed, rules, made_by)


def _parsed(answer: Answer | Refused, rules: Rules) -> Parsed | None:
    """Returns the sentences of a complete reply, or None."""
    reply = None if isinstance(answer, Refused) else answer.reply
    return parse(reply.text, rules.count) if reply and reply.ending == "complete" else None


def _slot(original: Cat) -> bool:
    """Returns True if the context of a CAT has one valid BLANK and all three candidates have a filler."""
    return blanks.check(original.context) is None and len(fillers(original)) == 3


_ENDINGS: Mapping[Ending, str] = {
    "truncated": "truncated",
    "content_filter": "content_filter",
    "refusal": "refusal",
    "empty": "empty_reply",
}


def _from_reply(
    original: Cat, reply: Reply, parsed: Parsed, rules: Rules, made_by: Extra
) -> Iterator[Paraphrase | Refused]:
    """Yields a paraphrase or a refusal for each sentence of a complete reply, and refusals of missing sentences."""
    if parsed.refusal or not parsed.sentences:
        yield _refused(original, "refusal" if parsed.refusal else "empty_reply", reply.text)
        return
    accepted: list[str] = []
    for number, sentence in enumerate(parsed.sentences, 1):
        verdict = _verdict(sentence, original, parsed, accepted, rules)
        if verdict.reason:
            yield _refused(original, verdict.reason, sentence, number, reply.text)
        else:
            accepted.append(sentence)
            facts = {"model": reply.model, "taken_off": parsed.notes}
            source = {**made_by, "partition": number} | {name: value for name, value in facts.items() if value}
            yield Paraphrase(partition=number, cat=_as_cat(sentence, original, source, verdict))
    for number in range(len(parsed.sentences) + 1, rules.count + 1):
        yield _refused(original, "missing_line", "", number, reply.text)


def _refused(original: Cat, reason: str, text: str, number: int = 0, reply: str = "") -> Refused:
    """Returns the refusal of a CAT, of the reply about it, or of sentence `number` of that reply."""
    source = {"bias_type": original.bias_type} | ({"reply": reply} if reply else {})
    return Refused(id=f"{original.id}/{number}" if number else original.id, reason=reason, text=text, source=source)


def _verdict(sentence: str, original: Cat, parsed: Parsed, accepted: list[str], rules: Rules) -> Verdict:
    """Returns the verdict on a sentence of a reply.

    A reply with too many lines loses all of them, because it does not show which lines are the paraphrases.
    """
    if len(parsed.sentences) > rules.count:
        return Verdict(reason="too_many_lines")
    verdict = judge(sentence, original, target=rules.target, slot=rules.slot)
    if not verdict.reason and any(same_words(sentence, other) for other in accepted):
        return Verdict(reason="repeated")
    return verdict


def _as_cat(sentence: str, original: Cat, source: Extra, verdict: Verdict) -> Cat:
    """Returns the original with the paraphrase as its context.

    Removes the votes, because people voted on other sentences.
    """
    start, end = blanks.slots(sentence)[0]
    context = f"{sentence[:start]}BLANK{sentence[end:]}"
    spoken = original.language
    one, two, three = (
        replace(c, text=blanks.fill(context, c.fill or "", spoken), votes=()) for c in original.candidates
    )
    noted = {
        "original_context": original.context,
        "alarms": [alarm._asdict() for alarm in verdict.alarms],
        "target_kept": verdict.target and verdict.target._asdict(),
    }
    return replace(
        original,
        context=context,
        candidates=(one, two, three),
        source={**original.source, "paraphrase": source},
        extra={**original.extra, **{name: value for name, value in noted.items() if value}},
    )


@dataclass(slots=True)
class Summary:
    """Counts of kept and reviewed paraphrases per partition, of refusals per reason and of alarms per kind.

    `by_type` counts kept, reviewed and refused paraphrases for each bias type, because losses may differ between types.
    """

    kept: Counter[int] = field(default_factory=Counter)
    review: Counter[int] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    alarms: Counter[str] = field(default_factory=Counter)
    by_type: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, result: Paraphrase | Refused) -> None:
        """Counts one result."""
        if isinstance(result, Refused):
            self.refused[result.reason] += 1
            bias_type, outcome = str(result.source.get("bias_type", "")), "refused"
        else:
            bias_type, outcome = result.cat.bias_type, {"partition": "kept", "review": "review"}[result.queue]
            (self.kept if outcome == "kept" else self.review)[result.partition] += 1
            self.alarms.update(dict.fromkeys(alarm["kind"] for alarm in result.cat.extra.get("alarms", ())).keys())
        if bias_type:
            self.by_type.setdefault(bias_type, Counter())[outcome] += 1


def write(results: Iterable[Paraphrase | Refused], folder: Path | str, count: int, refused: Path | str) -> Summary:
    """Writes `partition_1.jsonl`, `review_1.jsonl` … and the refusals as results arrive, each file whole or not at all.

    Deletes the files of an earlier run that had more paraphrases for each CAT.
    """
    summary = Summary()
    with ExitStack() as stack:
        files = {
            (queue, number): stack.enter_context(atomic_write(Path(folder) / f"{queue}_{number}.jsonl"))
            for queue in ("partition", "review")
            for number in range(1, count + 1)
        }
        turned_away = stack.enter_context(atomic_write(refused))
        for result in results:
            summary.add(result)
            if isinstance(result, Paraphrase):
                files[result.queue, result.partition].write(dumps(result.cat) + b"\n")
            else:
                turned_away.write(dumps(result) + b"\n")
    for stale in (*Path(folder).glob("partition_*.jsonl"), *Path(folder).glob("review_*.jsonl")):
        if stale not in {Path(folder) / f"{queue}_{number}.jsonl" for queue, number in files}:
            stale.unlink()  # left by an earlier run with more paraphrases for each CAT
    return summary
