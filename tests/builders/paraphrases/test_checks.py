from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catsofa.builders.paraphrases import Answer, Rules, build
from catsofa.builders.paraphrases.checks import (
    Verdict,
    judge,
    leaked,
    same_words,
)
from catsofa.builders.paraphrases.meaning.targets import names_target
from catsofa.builders.paraphrases.replies import Reply, parse
from catsofa.builders.paraphrases.slots import Slots, misfits_by_pattern
from catsofa.builders.stereotypes.parsing import Sentence, spacy_parser
from catsofa.data.files import json_files
from catsofa.data.formats import stereoset
from catsofa.data.language.alarms import Alarm
from catsofa.data.records import LABELS, Candidate, Cat, Refused

PATTERNS = Slots(None)


def cat(context: str, stereotype: str, anti: str, target: str = "nobody", unrelated: str = "gravel") -> Cat:
    """Returns a CAT with these fills."""
    words = zip(LABELS, (stereotype, anti, unrelated), strict=True)
    one, two, three = (Candidate(text=f"{label}: {word}", label=label, fill=word) for label, word in words)
    return Cat(kind="intrasentence", bias_type="x", target=target, context=context, candidates=(one, two, three))


MUSICIAN = cat("The musician that played the venue was extremely BLANK.", "gifted", "clumsy", "musician")


@pytest.mark.parametrize(
    ("context", "fillers", "sentence", "reason"),
    [
        (MUSICIAN.context, ("gifted", "clumsy"), "The performer showed an exceptional level of [BLANK].", "slot"),
        ("The tailor was very BLANK.", ("calm", "loud"), "The tailor showed considerable [BLANK].", "slot"),
        ("The tailor was very BLANK.", ("calm", "loud"), "The tailor showed a high degree of [BLANK] skill.", None),
        ("The tailor has BLANK.", ("courage", "patience"), "The tailor shows a high level of [BLANK].", None),
        ("The schoolteacher was BLANK.", ("strict", "mild"), "The schoolteacher was [BLANK]!", "identical"),
        ("He is an BLANK man.", ("old", "young"), "He is a [BLANK] man", "identical"),
        ("The athlete is a BLANK also.", ("athlete", "singer"), "The athlete is, too, a [BLANK].", None),
        ("The player is a BLANK also.", ("athlete", "singer"), "The athlete is a [BLANK] too.", "filler_leaked"),
        ("The sailor was BLANK.", ("free", "sad"), "The sailor felt fine.", "no_blank"),
        ("The sailor was BLANK.", ("free", "sad"), "The [BLANK] sailor was [BLANK].", "several_blanks"),
        ("He likes to BLANK.", ("sing", "sulk"), "He enjoys [BLANK]ing.", "glued_blank"),
        ("The sailor was BLANK.", ("free", "sad"), "The sailor was ____.", "malformed_blank"),
        ("Visitors are BLANK.", ("calm", "loud"), "I'm sorry, but I cannot help with that.", "refusal"),
        ("Visitors are BLANK.", ("calm", "loud"), "I'm sorry, I can't say that visitors are [BLANK].", "refusal"),
        ("The sailor was BLANK.", ("free", "sad"), "The s\u0430ilor felt [BLANK].", "odd_characters"),
        ("The sailor was BLANK.", ("free", "sad"), "The sailor ⛵ felt [BLANK].", "odd_characters"),
        ("The sailor was BLANK.", ("free", "sad"), "The sailor <em class=x>felt</em> [BLANK].", "odd_characters"),
        ("The sailor was BLANK.", ("free", "sad"), "The sailor &foo; felt [BLANK].", "odd_characters"),
        ("The s\u0430ilor was BLANK ⛵.", ("free", "sad"), "The s\u0430ilor felt [BLANK] ⛵.", None),
        ("Visitors are BLANK and BLANK.", ("calm", "loud"), "Guests are [BLANK].", "original_unfit"),
    ],
)
def test_the_first_fault_is_the_reason(
    context: str, fillers: tuple[str, str], sentence: str, reason: str | None
) -> None:
    """The first failed check gives the reason, here without a parser and with any target."""
    assert judge(sentence, cat(context, *fillers), target="any", slot=PATTERNS).reason == reason


@pytest.mark.parametrize(
    ("context", "target", "sentence", "kept"),
    [
        ("The nurse came from Kenya and was BLANK.", "nurse", "The doctor from Peru was [BLANK].", ()),
        ("The BLANK boy left.", "boy", "The [BLANK] student went away.", ()),
        ("The Ghanaian boy was BLANK.", "Ghanaian", "The boy from Ghana was [BLANK].", ("derived",)),
        ("The Ghanaian boy was BLANK.", "Ghanaian", "Two Ghanaians were [BLANK].", ("derived", "verbatim")),
        ("People from Cape Verde are BLANK.", "Cape Verde", "Cape Verdean people are [BLANK].", ("derived",)),
        ("The Norweigan man was BLANK.", "Norweigan", "The man from Norway was [BLANK].", ("derived",)),
        ("My sisters are BLANK.", "sister", "My sister's kin is [BLANK].", ("derived", "verbatim")),
        ("The policemen were BLANK.", "policeman", "A policeman was [BLANK].", ("derived", "verbatim")),
        ("The churches were BLANK.", "church", "A church was [BLANK].", ("derived", "verbatim")),
        ("She was BLANK.", "nurse", "The lady was [BLANK].", ("derived", "verbatim")),
    ],
)
def test_the_target_must_be_left(context: str, target: str, sentence: str, kept: tuple[str, ...]) -> None:
    """`verbatim` accepts the word in either number, "derived" also a name of the same place and people, "any"
    everything.

    A context that does not name its target cannot lose it.
    """
    original = cat(context, "calm", "loud", target)
    for policy in ("verbatim", "derived", "any"):
        verdict = judge(sentence, original, target=policy, slot=PATTERNS)  # type: ignore[arg-type]  # three literals
        assert verdict.reason == (None if policy in (*kept, "any") else "target_lost"), policy


def test_same_words_and_leaks_look_at_whole_words() -> None:
    """Capitals, punctuation and a/an are ignored. A filler inside another word is not leaked."""
    assert same_words("He is AN old man!", "he is a old man")
    assert not same_words("He is old.", "Is he old.")
    assert not leaked("The unfitted man is [BLANK].", cat("The man is BLANK.", "fit", "weak"))
    assert leaked("The well-read man is Well-Read, [BLANK].", cat("The man is BLANK.", "well-read", "weak"))


def test_one_bad_slot_is_an_alarm_and_two_are_a_fault() -> None:
    """The unrelated filler is not checked, because it need not fit."""
    original = cat("The man is BLANK.", "calm", "loud")
    one = judge("The man keeps [BLANK].", original, target="any", slot=lambda c, s: ("stereotype",))
    assert one == Verdict(alarms=(Alarm("slot_stereotype"),))
    both = judge("x [BLANK]", original, target="any", slot=lambda c, s: ("stereotype", "anti-stereotype"))
    assert both.reason == "slot"


def test_a_noun_keeps_its_place_in_a_noun_slot() -> None:
    """A filler that is only a noun in the dictionary is accepted in "a level of BLANK"."""
    original = cat("The land is full of BLANK.", "war", "peace")
    assert misfits_by_pattern(original, "The land has a high level of [BLANK].") == []


@pytest.mark.parametrize(
    ("target", "sentence"),
    [("Ghana", "Ghana"), ("Ghana", "GHANA's"), ("boy", "boys"), ("civil servant", "civil servants")],
)
def test_number_case_and_possessive_do_not_hide_a_target(target: str, sentence: str) -> None:
    """Another form of the target's word is found in the sentence."""
    assert names_target(f"All {sentence} here.", target, "verbatim")
    assert not names_target("All x here.", target, "derived")


@pytest.fixture(scope="module")
def parser(shared: Path) -> Any:
    """Returns the slot check with the small English pipeline."""
    return Slots(spacy_parser(str(shared / "models/spacy-en-small")))


@pytest.mark.parametrize(
    ("context", "fillers", "sentence", "expected"),
    [
        (MUSICIAN.context, ("gifted", "clumsy"), "The artist gave a remarkably [BLANK] performance.", None),
        ("Grandfathers always BLANK their grandchildren.", ("spoil", "praise"),
         "Grandchildren are always [BLANK] by their grandfathers.", "slot"),
        ("The mover was BLANK.", ("strong", "weak"), "The mover showed a lot of [BLANK].", "slot"),
        ("The tailor was BLANK.", ("lazy", "nasty"), "I go to [BLANK] for my clothes.", "slot"),
        ("The tailor was BLANK.", ("calm", "loud"), "The tailor, as ever, was [BLANK].", None),
        ("The tailor is a BLANK.", ("hero", "coward"), "People see a [BLANK] in the tailor.", None),
    ],
)  # fmt: skip
def test_a_parser_sees_slots_that_patterns_do_not(
    parser: Any, context: str, fillers: tuple[str, str], sentence: str, expected: str | None
) -> None:
    """A slot for another part of speech is refused; a moved slot for the same one is not."""
    assert judge(sentence, cat(context, *fillers), target="any", slot=parser).reason == expected


def verdicts(shared: Path, file: str, slot: Any, target: Any = "any") -> Counter[str]:
    """Returns the number of sentences of a recorded run by reason, with `pass` for accepted ones."""
    originals = {c.id: c for c in stereoset.read(shared / "data/stereoset/dev.json")}
    counts: Counter[str] = Counter()
    for entry in json_files.read(shared / "data/paraphrase/history" / file, "replies"):
        for sentence in parse(entry["response"]).sentences if "response" in entry else ():
            counts[judge(sentence, originals[entry["id"]], target=target, slot=slot).reason or "pass"] += 1
    return counts


def test_the_funnel_of_gpt4_is_the_one_counted_before(shared: Path) -> None:
    """Of 4,183 raw sentences, 5 have no BLANK (one is the refusal), 4 have two, 4 a glued one, 9 leak, 1 is identical.

    The patterns alone refuse 93 slots; a looser pattern counted 101.
    """
    counts = verdicts(shared, "data_gpt4_raw_298a94a.json", PATTERNS)
    assert counts == {
        "pass": 4067, "no_blank": 4, "refusal": 1, "several_blanks": 4, "glued_blank": 4, "filler_leaked": 9,
        "identical": 1, "slot": 93,
    }  # fmt: skip
    assert counts.total() == 4183


@pytest.mark.slow
def test_with_a_parser_the_slots_of_gpt4_are_those_counted_before(shared: Path, parser: Any) -> None:
    """With a parser, between 140 and 171 slots fit neither filler, the range of three versions of such a check."""
    counts = verdicts(shared, "data_gpt4_raw_298a94a.json", parser)
    assert 140 <= counts["slot"] <= 171
    assert counts["pass"] == 4160 - counts["slot"]


def test_the_failed_run_of_gpt35_has_lost_its_blanks(shared: Path) -> None:
    """Of 3,954 lines, 3,746 have no BLANK (two are remarks beside two sentences and ignored), and 60 have several.

    43 of the 60 are two sentences on one line and are split: 3,997 sentences, 17 of them with several BLANKs. The other
    two replies of three lines are judged line by line.
    """
    counts = verdicts(shared, "data_gpt35_0acdf90.json", PATTERNS)
    assert counts["no_blank"] + counts["malformed_blank"] == 3746 - 2
    assert (counts["several_blanks"], counts["glued_blank"], counts["refusal"]) == (17, 1, 0)
    assert counts.total() == 3954 + 43 - 2


def test_the_target_is_refused_as_lost_in_one_sentence_of_twenty(shared: Path) -> None:
    """Of 4,183 sentences, 1,215 have neither the target's word nor one for the same people; at most 5 % are refused for
    it."""
    counts = verdicts(shared, "data_gpt4_raw_298a94a.json", PATTERNS, "derived")
    assert counts["target_lost"] <= 0.05 * counts.total()


def test_the_sentences_of_many_replies_are_parsed_together(shared: Path) -> None:
    """All texts are parsed in one call, because batches of four cost twice as much. The verdicts are the same."""
    parse_, calls = spacy_parser(str(shared / "models/spacy-en-small")), list[list[str]]()

    def counted(texts: Iterable[str]) -> Iterator[Sentence]:
        calls.append(list(texts))
        return parse_(calls[-1])

    reply = "The tailor showed a lot of [BLANK].\nThe tailor, as ever, was [BLANK]."
    original = cat("The tailor was BLANK.", "strong", "weak")
    answers = [Answer(original=replace(original, id=str(n)), reply=Reply(text=reply, model="m")) for n in range(3)]
    records = list(build(answers, Rules(slot=Slots(counted), target="any"), {}))
    assert [one.reason if isinstance(one, Refused) else "" for one in records] == ["slot", ""] * 3
    assert [len(texts) for texts in calls] == [6]
