"""Proposed stereotypes: what models said about each group, screened, without repeats, balanced over the groups.

Nothing here is confirmed. The associations go to people (`annotate`), who say which of them are made.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from catsofa.builders.candidates.meaning import groups_alike
from catsofa.builders.candidates.prompts import Prompt
from catsofa.builders.candidates.seeds import Seeds, Target, shots
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Completed, Reply, parse
from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.language.demonyms import nations
from catsofa.data.language.inflection import singulars
from catsofa.data.language.same_meaning import core
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words
from catsofa.data.records import Association, Extra, Refused

LONGEST = 6
"""Words of an attribute."""
LINE_CHARS = 24
"""About how long a line of a reply is, for an estimate of the price."""
KINDS = ("adjective", "noun", "verb")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request: about which target, by which prompt."""

    request: Request
    target: Target
    prompt: Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One attribute that a model said of a target."""

    question: Question
    line: int
    attribute: str
    kind: str = ""

    @property
    def id(self) -> str:
        """The request and the line of its reply."""
        return f"{self.question.request.key}/{self.line}"


def questions(
    seeds: Seeds, prompts: Sequence[Prompt], models: Sequence[str], settings: Mapping[str, Any], samples: int = 1
) -> list[Question]:
    """Every target by every prompt to every model, `samples` times, each sample with a seed of its own."""
    found = []
    for model, target, prompt, sample in product(models, seeds, prompts, range(samples)):
        known = shots(seeds, target, f"{prompt.name}:{sample}") if prompt.shows else ()
        if prompt.shows and not known:
            raise ValueError(
                f"prompt {prompt.name} shows known associations of other groups, and the seeds have none in the "
                f"language {target.language!r}; add attributes to the seeds, or leave the prompt out"
            )
        own = {"seed": int(settings.get("seed") or 0) + sample} if samples > 1 else {}
        request = Request(
            item=f"{target.identity}/{prompt.name}/{sample}",
            model=model,
            prompt=prompt.ask(target, known),
            settings={name: value for name, value in {**settings, **own}.items() if value is not None},
            reply_chars=prompt.count * LINE_CHARS,
        )
        found.append(Question(request=request, target=target, prompt=prompt))
    return found


def read_replies(asked: Sequence[Question], ended: Iterable[Completed]) -> Iterator[Said | Refused]:
    """The attributes of each reply, in the order of the questions; a reply without any is refused with the reason."""
    groups = {question.target.identity for question in asked} | {name for row in nations() for name in row.names}
    names = [[singulars(word) for word in words(name)] for name in groups]
    by_key = {completed.request.key: completed for completed in ended}
    for question in asked:
        completed = by_key[question.request.key]
        about = {"model": question.request.model, "prompt": question.prompt.name, "identity": question.target.identity}
        if completed.reply is None:
            yield Refused(id=question.request.key, reason=f"failed_{completed.reason}", source=about)
        elif fault := _fault_of(completed.reply):
            yield Refused(id=question.request.key, reason=fault, text=completed.reply.text, source=about)
        else:
            for line, text in enumerate(parse(completed.reply.text, 1).sentences, 1):
                said = _said(question, line, text)
                if reason := _why_not(said, names):
                    yield Refused(id=said.id, reason=reason, text=text, source=about)
                else:
                    yield said


def _fault_of(reply: Reply) -> str:
    """Why a whole reply is not read, if it is not; a truncated one is read but for its last line."""
    if reply.ending in ("content_filter", "refusal"):
        return reply.ending
    parsed = parse(reply.text, 1)
    if parsed.refusal:
        return "refusal"
    return "empty_reply" if reply.ending == "empty" or not parsed.sentences else ""


def _said(question: Question, line: int, text: str) -> Said:
    """A line as an attribute and its kind; the name of the group before it is taken off."""
    parts = [part.strip(" .\"'*_") for part in text.split("|")]
    if len(parts) > 1 and parts[0].casefold() == question.target.identity.casefold():
        parts = parts[1:]
    kind = next((kind for kind in KINDS if len(parts) > 1 and parts[1].lower().startswith(kind)), "")
    return Said(question=question, line=line, attribute=" ".join(parts[0].split()), kind=kind)


def _why_not(said: Said, names: Sequence[Sequence[frozenset[str]]]) -> str:
    """Why an attribute is shown to nobody, or nothing."""
    plain, lists = said.attribute.lower(), wordlist("candidates.toml")
    if not words(plain) or len(plain.split()) > LONGEST or plain.endswith(":"):
        return "no_attribute"
    for reason in ("harm", "prescriptive"):
        if any(re.search(pattern, plain) for pattern in lists[reason]):
            return reason
    inside = frozenset[str]().union(*map(singulars, words(plain)))
    return "names_group" if any(all(word & inside for word in name) for name in names) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How proposals become associations: how many of one target at most, and what compares meanings."""

    most: int = 20
    encoder: Encoder | None = None


def associations(
    said: Iterable[Said | Refused], seeds: Seeds, rules: Rules, made_by: Extra
) -> Iterator[Association | Refused]:
    """Each meaning once per target, without those that are known, the most often said first; others are refused.

    Prompts take turns in filling a target's places, so that none fills them alone.
    """
    by_target: dict[Target, list[Said]] = defaultdict(list)
    for one in said:
        if isinstance(one, Refused):
            yield one
        else:
            by_target[one.question.target].append(one)
    for target, proposals in sorted(by_target.items()):
        known = seeds.get(target, ())
        cores = {core(attribute, target.language) for attribute in known}
        places = groups_alike([one.attribute for one in proposals], target.language, rules.encoder)
        meanings = [[proposals[place] for place in group] for group in places]
        fresh = []
        for meaning in meanings:
            if any(core(one.attribute, target.language) in cores for one in meaning):
                yield from (_refused(one, "known") for one in meaning)
            else:
                fresh.append(meaning)
        ranked = _in_turns(fresh)
        for meaning in ranked[: rules.most]:
            best = Counter(one.attribute for one in meaning).most_common(1)[0][0]
            yield _association(target, best, meaning, made_by)
            yield from (_refused(one, "same_meaning") for one in meaning if one.attribute != best)
        yield from (_refused(one, "over_balance") for meaning in ranked[rules.most :] for one in meaning)


def _in_turns(meanings: Sequence[list[Said]]) -> list[list[Said]]:
    """The meanings, most often said first within each prompt, the prompts in turn."""
    by_prompt: dict[str, list[list[Said]]] = defaultdict(list)
    for meaning in sorted(meanings, key=lambda meaning: (-len(meaning), meaning[0].id)):
        by_prompt[meaning[0].question.prompt.name].append(meaning)
    ranked = [(rank, name, meaning) for name, queue in by_prompt.items() for rank, meaning in enumerate(queue)]
    return [meaning for _, _, meaning in sorted(ranked, key=lambda turn: turn[:2])]


def _association(target: Target, attribute: str, meaning: Sequence[Said], made_by: Extra) -> Association:
    """A meaning as a record that says who said it, by which prompt, in which words and how often."""
    times = Counter((one.question.request.model, one.question.prompt.name, one.question.prompt.hash) for one in meaning)
    forms = Counter(one.attribute for one in meaning)
    kinds = Counter(one.kind for one in meaning if one.kind)
    said_by = [{"model": m, "prompt": p, "prompt_hash": h, "times": n} for (m, p, h), n in sorted(times.items())]
    extra: dict[str, Any] = {"said_times": len(meaning), "said_by": said_by}
    if kinds:
        extra["kind"] = kinds.most_common(1)[0][0]
    if len(forms) > 1:
        extra["forms"] = dict(forms.most_common())
    return Association(
        identity=target.identity,
        attribute=attribute,
        region=target.region,
        language=target.language,
        source={**made_by, "requests": sorted({one.question.request.key for one in meaning})},
        extra=extra,
    )


def _refused(one: Said, reason: str) -> Refused:
    """A proposal that is not kept, with who said it."""
    question = one.question
    about = {"model": question.request.model, "prompt": question.prompt.name, "identity": question.target.identity}
    return Refused(id=one.id, reason=reason, text=one.attribute, source=about)
