"""Proposed stereotypes: attributes that models give for each group, screened, deduplicated, balanced over groups.

Nothing here is confirmed. The associations go to people (`annotate`), who say which of them people make.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from unicodedata import name

from catsofa.builders import cats
from catsofa.builders.candidates.lines import lines_of, single, whole
from catsofa.builders.candidates.meaning import groups_alike
from catsofa.builders.candidates.prompts import Prompt
from catsofa.builders.candidates.seeds import Seeds, Target, shots
from catsofa.builders.paraphrases.checks import odd_characters
from catsofa.builders.paraphrases.prompts import Request
from catsofa.builders.paraphrases.replies import Completed, Reply, parse
from catsofa.builders.similarity.encoders import Encoder
from catsofa.data.language.demonyms import nations, same_group
from catsofa.data.language.inflection import mentions, singulars
from catsofa.data.language.same_meaning import core
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import words
from catsofa.data.languages.texts import meaning_of, peoples, spaced
from catsofa.data.languages.texts import names as names_in
from catsofa.data.records import LABELS, Association, Extra, Label, Refused

LONGEST = 6
"""Maximum number of words in an attribute."""
LONGEST_SENTENCE = 40
"""Maximum number of words in a context or a continuation."""
WORD_CHARS, SENTENCE_CHARS = 12, 60
"""Approximate characters in a cell of a reply, for a price estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request, with its target and its prompt."""

    request: Request
    target: Target
    prompt: Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One attribute that a model gave for a target, or one CAT, whose attribute is the stereotype."""

    question: Question
    line: int
    attribute: str
    kind: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    """The other columns of a CAT: its anti-stereotype, its unrelated option, the context of three sentences."""

    @property
    def id(self) -> str:
        """The key of the request and the line of its reply."""
        return f"{self.question.request.key}/{self.line}"


def questions(
    seeds: Seeds, prompts: Sequence[Prompt], models: Sequence[str], settings: Mapping[str, Any], samples: int = 1
) -> list[Question]:
    """Returns every target by every prompt for every model, `samples` times, each sample with its own seed."""
    for aspect, several in (("name", [one.name for one in prompts]), ("text", [one.hash for one in prompts])):
        if twice := [one.name for index, one in enumerate(prompts) if several[index] in several[:index]]:
            raise ValueError(f"found two prompts of one {aspect} (the second: {twice[0]}); name each prompt once")
    result = []
    for model, target, prompt, sample in product(models, seeds, prompts, range(samples)):
        examples = shots(seeds, target, f"{prompt.name}:{sample}") if prompt.shows else ()
        if prompt.shows and not examples:
            raise ValueError(
                f"prompt {prompt.name} shows known associations of other groups, and the seeds have none in the "
                f"language {target.language!r}; add attributes to the seeds, or leave the prompt out"
            )
        _refuse_early(prompt, target)
        chars = SENTENCE_CHARS * 4 if "context" in prompt.columns else WORD_CHARS * (len(prompt.columns) or 2)
        own = {"seed": int(settings.get("seed") or 0) + sample} if samples > 1 else {}
        request = Request(
            item=f"{target.identity}/{prompt.name}/{sample}",
            model=model,
            prompt=prompt.ask(target, examples),
            settings={name: value for name, value in {**settings, **own}.items() if value is not None},
            reply_chars=prompt.count * chars,
        )
        result.append(Question(request=request, target=target, prompt=prompt))
    return result


def _refuse_early(prompt: Prompt, target: Target) -> None:
    """Raises ValueError for a target that a CAT prompt cannot serve, before any request is paid.

    A CAT prompt needs a bias type. A prompt for contexts with continuations also needs English.
    """
    if prompt.columns and not target.bias_type:
        raise ValueError(
            f"prompt {prompt.name} asks for CATs, and the seeds give {target.identity!r} no bias type; add the column "
            "bias_type (race, gender, …) to the seeds"
        )
    if "context" in prompt.columns and target.language != "en":
        raise ValueError(
            f"prompt {prompt.name} asks for contexts with continuations, which are checked in English alone, and "
            f"{target.identity!r} has the language {target.language!r}; leave the prompt out, or ask for triplet"
        )


def read_replies(sent: Sequence[Question], ended: Iterable[Completed]) -> Iterator[Said | Refused]:
    """Yields the proposals of each reply, in the order of the questions; a reply without lines is refused."""
    groups = {question.target.identity for question in sent} | {name for row in nations() for name in row.names}
    names = {name: [singulars(word) for word in words(name)] for name in groups}
    by_key = {completed.request.key: completed for completed in ended}
    for question in sent:
        completed = by_key[question.request.key]
        about = {"model": question.request.model, "prompt": question.prompt.name, "identity": question.target.identity}
        if completed.reply is None:
            yield Refused(id=question.request.key, reason=f"failed_{completed.reason}", source=about)
        elif fault := _fault_of(completed.reply, question.prompt):
            yield Refused(id=question.request.key, reason=fault, text=completed.reply.text, source=about)
        else:
            before = set[str]()
            for line, text, outcome in _lines(question, completed.reply):
                again = text.casefold() in before
                before.add(text.casefold())
                reason = "repeated" if again else outcome if isinstance(outcome, str) else _why_not(outcome, names)
                if isinstance(outcome, Said) and not reason:
                    yield outcome
                else:
                    yield Refused(id=f"{question.request.key}/{line}", reason=reason, text=text, source=about)


def _fault_of(reply: Reply, prompt: Prompt) -> str:
    """Returns why a whole reply is rejected, or an empty string; a truncated reply is not rejected."""
    if reply.ending in ("content_filter", "refusal"):
        return reply.ending
    parsed = parse(reply.text, prompt.count)
    in_columns = prompt.columns and any(text.count("|") >= len(prompt.columns) - 1 for text in parsed.sentences)
    if parsed.refusal and not in_columns:
        return "refusal"
    return "empty_reply" if reply.ending == "empty" or not parsed.sentences else ""


def _lines(question: Question, reply: Reply) -> Iterator[tuple[int, str, Said | str]]:
    """Yields each line with its number and its proposal, or the reason why it has none.

    The last line of a truncated reply is cut off and gets the reason "truncated".
    """
    columns, target = question.prompt.columns, question.target
    lines = lines_of(reply.text, question.prompt.count, columns)
    rows = whole(lines, columns, target) if columns else (single(text, target) for text in lines)
    for line, (text, cells) in enumerate(zip(lines, rows, strict=True), 1):
        if reply.ending == "truncated" and line == len(lines):
            yield line, text, "truncated"
        elif isinstance(cells, str):
            yield line, text, cells
        else:
            stereotype, kind = cells.pop("stereotype"), cells.pop("kind", "")
            yield line, text, Said(question=question, line=line, attribute=stereotype, kind=kind, others=cells)


def _why_not(proposal: Said, names: Mapping[str, Sequence[frozenset[str]]]) -> str:
    """Returns the reason why people should not see an attribute or a CAT, or an empty string.

    Sentences may name their own group, but no other. JSON, a list in one line, tags and control characters are refused,
    because people could not judge them.
    """
    own, language = proposal.question.target.identity, proposal.question.target.language
    lists = wordlist("candidates.toml") if language == "en" else meaning_of(language)
    longest = LONGEST_SENTENCE if "context" in proposal.others else LONGEST
    if "context" in proposal.others:
        family = same_group(own)
        names = {name: parts for name, parts in names.items() if name.lower() not in family and not mentions(own, name)}
    for text in (proposal.attribute, *proposal.others.values()):
        plain = text.lower()
        length = len(plain.split()) if spaced(language) else len(plain) / 2
        if not words(plain) or length > longest or plain.endswith((":", "：")):
            return "no_attribute"
        other_script = language == "en" and any(c.isalpha() and not name(c, "").startswith("LATIN") for c in text)
        if set(text) & set("[]{}<>=`") or odd_characters(text) or other_script:
            return "odd_characters"
        # one attribute may contain a comma (rude, even to friends); a semicolon separates two
        if "context" not in proposal.others and (";" in text or text.count(",") > 1):
            return "several_attributes"
        for reason in ("harm", "prescriptive"):
            if any(re.search(pattern, plain) for pattern in lists.get(reason, ())):
                return reason
        inside = frozenset[str]().union(*map(singulars, words(plain)))
        if language != "en":
            if any(names_in(plain, name, language) for name in (*names, *peoples(language))):
                return "names_group"
        elif any(all(part & inside for part in parts) for parts in names.values()):
            return "names_group"
    return _fault_as_cat(proposal) if proposal.others else ""


def _fault_as_cat(proposal: Said) -> str:
    """Returns the reason why a proposal makes no CAT, by the checks of the builder of CATs, or an empty string."""
    target, context = proposal.question.target, proposal.others.get("context", "")
    options: dict[Label, str] = {label: proposal.others.get(label, proposal.attribute) for label in LABELS}
    if len({core(text, target.language) for text in options.values()}) < len(options):
        return "same_candidates"
    association = cats.Association(target.identity, target.bias_type, options, context)
    if context:
        return cats.fault_of_continuations(association) or ""
    return cats.fault_of(association, cats.Matching(part_of_speech=target.language == "en")) or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules for associations: the maximum for one target, and the encoder that compares meanings."""

    most: int = 20
    encoder: Encoder | None = None


def associations(
    outcomes: Iterable[Said | Refused], seeds: Seeds, rules: Rules, made_by: Extra
) -> Iterator[Association | Refused]:
    """Yields each meaning once per target, most frequent first; known, repeated and surplus ones are refused.

    Prompts take turns in filling a target's places, so that no prompt fills them alone.
    """
    by_target: dict[Target, list[Said]] = defaultdict(list)
    for one in outcomes:
        if isinstance(one, Refused):
            yield one
        else:
            by_target[one.question.target].append(one)
    for target, proposals in sorted(by_target.items()):
        known_attributes = seeds.get(target, ())
        cores = {core(attribute, target.language) for attribute in known_attributes}
        meanings = []
        for sentences in (False, True):
            alike = [one for one in proposals if ("context" in one.others) is sentences]
            places = groups_alike([one.attribute for one in alike], target.language, rules.encoder)
            meanings += [[alike[place] for place in group] for group in places]
        fresh = []
        for meaning in meanings:
            if any(core(one.attribute, target.language) in cores for one in meaning):
                yield from (_refused(one, "known") for one in meaning)
            else:
                fresh.append(meaning)
        ranked = _in_turns(fresh)
        for meaning in ranked[: rules.most]:
            best = _best(meaning)
            yield _association(best, meaning, made_by)
            best_form = (best.attribute, best.others)
            repeats = [one for one in meaning if (one.attribute, one.others or best.others) != best_form]
            yield from (_refused(one, "same_meaning") for one in repeats)
        yield from (_refused(one, "over_balance") for meaning in ranked[rules.most :] for one in meaning)


def _in_turns(meanings: Sequence[list[Said]]) -> list[list[Said]]:
    """Returns the meanings, most frequent first within each prompt, with the prompts in turn."""
    by_prompt: dict[str, list[list[Said]]] = defaultdict(list)
    for meaning in sorted(meanings, key=lambda meaning: (-len(meaning), meaning[0].id)):
        by_prompt[meaning[0].question.prompt.name].append(meaning)
    ranked = [(rank, name, meaning) for name, queue in by_prompt.items() for rank, meaning in enumerate(queue)]
    return [meaning for _, _, meaning in sorted(ranked, key=lambda turn: turn[:2])]


def _best(meaning: Sequence[Said]) -> Said:
    """Returns the most frequent form, as a whole CAT if one exists, with its most frequent options."""
    forms = Counter(one.attribute for one in meaning)
    cats_said = Counter((one.attribute, *one.others.values()) for one in meaning)
    able = [one for one in meaning if one.others] or meaning
    return max(able, key=lambda one: (forms[one.attribute], cats_said[one.attribute, *one.others.values()]))


def _association(best: Said, meaning: Sequence[Said], made_by: Extra) -> Association:
    """Returns a meaning as a record: its models and prompts, its wordings, their counts, and the request keys."""
    target = best.question.target
    times = Counter((one.question.request.model, one.question.prompt.name, one.question.prompt.hash) for one in meaning)
    keys = {one.question.request.key for one in meaning if one.others == best.others}
    forms = Counter(one.attribute for one in meaning)
    kinds = Counter(one.kind for one in meaning if one.kind)
    said_by = [{"model": m, "prompt": p, "prompt_hash": h, "times": n} for (m, p, h), n in sorted(times.items())]
    extra: dict[str, Any] = {**best.others, "said_times": len(meaning), "said_by": said_by}
    if target.bias_type:
        extra["bias_type"] = target.bias_type
    if kinds:
        extra["kind"] = kinds.most_common(1)[0][0]
    if len(forms) > 1:
        extra["forms"] = dict(forms.most_common())
    return Association(
        identity=target.identity,
        attribute=best.attribute,
        region=target.region,
        language=target.language,
        source={**made_by, "requests": sorted(keys)},
        extra=extra,
    )


def _refused(one: Said, reason: str) -> Refused:
    """Returns the refusal of a proposal, with its model and prompt."""
    question = one.question
    about = {"model": question.request.model, "prompt": question.prompt.name, "identity": question.target.identity}
    return Refused(id=one.id, reason=reason, text=" | ".join([one.attribute, *one.others.values()]), source=about)
