from pathlib import Path
from typing import Any

import pytest
from helpers.servers.planted_associations import SCENES, TRIPLETS

from catsofa.builders.candidates import Question, Rules, associations, questions, read_replies
from catsofa.builders.candidates import seeds as seeding
from catsofa.builders.candidates.prompts import load
from catsofa.builders.candidates.seeds import Seeds, Target
from catsofa.builders.cats import Association as CatAssociation
from catsofa.builders.cats import intersentence, intrasentence, proposed
from catsofa.builders.cats.templates import bundled, kind_of_term
from catsofa.builders.paraphrases.replies import Completed, Reply
from catsofa.data.files import jsonl
from catsofa.data.records import Association, Cat, Refused

DRAVIANS = Target("Dravians", "Zorbia", "en", "nationality")
GROUPS: Seeds = {DRAVIANS: (), Target("Pellorans", "Zorbia", "en", "nationality"): ()}


def asked(prompt: str, seeds: Seeds = GROUPS, samples: int = 1) -> list[Question]:
    """Returns one question per group."""
    return questions(seeds, [load(prompt, 4)], ["zorb-1"], {}, samples)


def told(prompt: str, *texts: str, ending: Any = "complete") -> list[Association | Refused]:
    """Returns the outcomes of replies about the Dravians."""
    wanted = asked(prompt, {DRAVIANS: ()}, len(texts)) + asked(prompt)[1:]
    replies = [*texts, ""]
    ended = [
        Completed(request=one.request, reply=Reply(text=text, ending=ending if text else "empty"))
        for one, text in zip(wanted, replies, strict=True)
    ]
    outcomes = associations(read_replies(wanted, ended), GROUPS, Rules(), {"builder": "candidates"})
    return [one for one in outcomes if not (isinstance(one, Refused) and one.reason == "empty_reply")]


def outcome(one: Association | Refused) -> str:
    """Returns the reason of a refusal, or the kept columns in the prompt's order."""
    if isinstance(one, Refused):
        return one.reason
    columns = {"context": "", **one.extra, "stereotype": one.attribute}
    names = ("context", "stereotype", "anti-stereotype", "unrelated")
    return " | ".join(filter(None, (columns[name] for name in names)))


DIRTY = [
    ("1. **tidy** | messy | wooden.", ["tidy | messy | wooden"]),
    ("- 'tidy' | \"messy\" | wooden", ["tidy | messy | wooden"]),
    ("Tidy | Messy | WOODEN", ["tidy | messy | WOODEN"]),
    ("Catholic | Worldly | Wooden", ["Catholic | worldly | wooden"]),
    ("Dravians | tidy | messy | wooden", ["tidy | messy | wooden"]),
    ("<think>\nlazy | keen | blue\n</think>\n```text\ntidy | messy | wooden\n```", ["tidy | messy | wooden"]),
    ("<think>\nlazy | keen | blue\n", []),
    (
        "| stereotype | anti-stereotype | unrelated |\n|---|:-:|---|\n| tidy | messy | wooden |",
        ["no_attribute", "no_attribute", "tidy | messy | wooden"],
    ),
    (
        "| # | Unrelated word | **Stereotype** | Anti-stereotype |\n| 1 | wooden | tidy | messy |",
        ["no_attribute", "tidy | messy | wooden"],
    ),
    ("anti-stereotype: messy | stereotype: tidy | unrelated: wooden", ["tidy | messy | wooden"]),
    ("stereotype: tidy | messy | wooden", ["no_attribute"]),
    ("tidy | messy", ["wrong_columns"]),
    ("tidy | | wooden", ["wrong_columns"]),
    ("tidy | messy | wooden | adjective", ["wrong_columns"]),
    ("tidy, messy, wooden", ["wrong_columns"]),
    ("Here they are:\ntidy | messy | wooden", ["tidy | messy | wooden"]),
    ("tidy | Tidy! | wooden", ["same_candidates"]),
    ("tidy | very tidy | wooden", ["same_candidates"]),
    ("tidy | messy | teapot", ["part_of_speech_differs"]),
    ("tidy | BLANK | wooden", ["blank_in_words"]),
    ("tidy | like Pellorans | wooden", ["names_group"]),
    ("tidy | should be washed | wooden", ["prescriptive"]),
    ("tidy | messy | so very much like a wooden table", ["no_attribute"]),
    ("I'm sorry, but I can't help with that.", ["refusal"]),
    (
        "I can't provide facts, only entries.\ntidy | messy | wooden",
        ["wrong_columns", "tidy | messy | wooden"],
    ),
    ("tidy | messy | wooden\nvery tidy | untidy | round", ["tidy | messy | wooden", "same_meaning"]),
]


@pytest.mark.parametrize(("reply", "outcomes"), DIRTY)
def test_a_line_of_words_is_read_rightly_or_refused_with_its_reason(reply: str, outcomes: list[str]) -> None:
    """A line needs three labelled words of one part of speech; other markup is ignored."""
    assert sorted(map(outcome, told("triplet", reply))) == sorted(outcomes)


SCENE = "Two Dravians moved in. | Their garden was tidy. | Their garden was a mess. | The moon has no air."
DIRTY_SCENES = [
    (SCENE, [SCENE]),
    (f"2) {SCENE}", [SCENE]),
    (f"```\n{SCENE}\n```", [SCENE]),
    (SCENE.replace("Two Dravians moved in.", '"Two Dravians moved in."'), [SCENE]),
    (SCENE.replace("Two Dravians", "Two people"), ["target_not_in_context"]),
    (SCENE.replace("Two Dravians", "Two Dravians and a Pelloran"), ["names_group"]),
    (SCENE.replace("moved in.", "moved in, and"), ["incomplete_context"]),
    (SCENE.replace("a mess.", "a mess"), ["incomplete_continuation"]),
    (SCENE.replace("a mess", "very tidy"), ["same_candidates"]),
    (SCENE.replace("moved in.", "were BLANK."), ["blank_in_context"]),
    (SCENE.rpartition(" | ")[0], ["wrong_columns"]),
    (SCENE.replace("The moon has no air.", "They " + "really " * 40 + "ran."), ["no_attribute"]),
    ("context | stereotype | anti-stereotype | unrelated\n" + SCENE, ["no_attribute", SCENE]),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "outcomes"), DIRTY_SCENES)
def test_a_line_of_sentences_is_read_rightly_or_refused_with_its_reason(reply: str, outcomes: list[str]) -> None:
    """A line needs a context with this group and no other, and three different complete next sentences."""
    assert sorted(map(outcome, told("scene", reply))) == sorted(outcomes)


@pytest.mark.parametrize("prompt", ["triplet", "report"])
def test_the_last_line_of_a_truncated_reply_is_refused(prompt: str) -> None:
    """The last line of a truncated reply is refused, because it may end inside a word."""
    text = "tidy | messy | wooden\nloud | quiet | stri"
    association, cut = sorted(told(prompt, text, ending="truncated"), key=lambda one: isinstance(one, Refused))
    assert isinstance(association, Association)
    assert (association.attribute, outcome(cut)) == ("tidy", "truncated")


def test_a_cat_keeps_the_options_most_often_said_with_its_stereotype() -> None:
    """`Tidy` is said three times, twice with `messy`, so only the two requests with `messy` are its source."""
    association, other = told("triplet", *["tidy | messy | wooden"] * 2, "tidy | dirty | wooden")
    assert isinstance(association, Association)
    assert outcome(association) == "tidy | messy | wooden"
    assert (association.extra["said_times"], len(association.source["requests"])) == (3, 2)
    assert isinstance(other, Refused)
    assert (other.reason, other.text) == ("same_meaning", "tidy | dirty | wooden")


def test_an_attribute_alone_and_in_a_cat_is_one_association() -> None:
    """The association with the other options stays, because both would have the same id."""
    wanted = questions({DRAVIANS: ()}, [load("report", 4), load("triplet", 4)], ["m"], {})
    texts = ("tidy | adjective\nTidy | adjective\nTidy | adjective", "tidy | messy | wooden")
    ended = [Completed(request=one.request, reply=Reply(text=text)) for one, text in zip(wanted, texts, strict=True)]
    outcomes = list(associations(read_replies(wanted, ended), GROUPS, Rules(), {}))
    (association,) = [one for one in outcomes if isinstance(one, Association)]
    assert outcome(association) == "tidy | messy | wooden"
    assert [origin["prompt"] for origin in association.extra["said_by"]] == ["report", "triplet"]


@pytest.mark.parametrize(
    ("prompt", "target", "fault"),
    [
        ("triplet", Target("Dravians"), "column bias_type"),
        ("scene", Target("Dravier", "", "de", "nationality"), "leave the prompt out"),
    ],
)
def test_a_prompt_that_could_make_no_cat_is_refused_before_anything_is_asked(
    prompt: str, target: Target, fault: str
) -> None:
    """A CAT needs a domain, and contexts are checked only in English, so the prompt is refused."""
    with pytest.raises(ValueError, match=fault):
        asked(prompt, {target: ()})


def test_a_text_of_ones_own_asks_for_cats_by_naming_their_columns(tmp_path: Path) -> None:
    """A user's prompt in any language asks for CATs if it names their columns, and otherwise for attributes."""
    path = tmp_path / "mine.txt"
    path.write_text("Schreibe {{ count }} Zeilen über {{ group }}: stereotype | anti-stereotype | unrelated")
    assert load(str(path), 3).columns == load("triplet", 3).columns
    assert [load(name, 3).columns[:1] for name in ("scene", "report")] == [("context",), ()]


def test_the_bias_type_of_a_group_comes_from_the_seeds_and_changes_no_request(tmp_path: Path) -> None:
    """Adding the column bias_type changes no request, so paid replies stay valid."""
    path = tmp_path / "seeds.csv"
    path.write_text("identity,bias_type\nDravians,nationality\n")
    (target,) = seeding.read(path)
    assert (target.bias_type, target) == ("nationality", Target("Dravians"))
    keys = [questions({one: ()}, [load("report", 3)], ["m"], {})[0].request.key for one in (target, Target("Dravians"))]
    assert keys[0] == keys[1]


def written(folder: Path, prompt: str, *replies: str) -> Path:
    """Writes the proposed associations and returns the path."""
    path = folder / "associations.jsonl"
    jsonl.write((one for one in told(prompt, *replies) if isinstance(one, Association)), path)
    return path


def test_cats_are_made_of_proposed_words_and_say_which_request_said_them(tmp_path: Path) -> None:
    """Every planted line makes at least one CAT, and its source has the record and the requests."""
    path = written(tmp_path, "triplet", "\n".join(TRIPLETS["Dravians"]))
    associations_read = list(jsonl.read(path, Association))
    records = list(intrasentence(bundled(), proposed.read(path)))
    assert all(isinstance(one, Cat) for one in records)
    cats = [one for one in records if isinstance(one, Cat)]
    assert {one.source["association"] for one in cats} == {one.id for one in associations_read}
    assert all(one.source["proposed"]["requests"] == associations_read[0].source["requests"] for one in cats)
    assert {one.bias_type for one in cats} == {"nationality"}
    assert "Most Dravians in this town are early risers." in {one["stereotype"].text for one in cats}


def test_cats_are_made_of_proposed_scenes(tmp_path: Path) -> None:
    """Two contexts with three sentences each become CATs."""
    path = written(tmp_path, "scene", "\n".join(SCENES["Dravians"]))
    cats = [one for one in intersentence(proposed.read(path, with_context=True)) if isinstance(one, Cat)]
    assert [outcome_of(cat) for cat in cats] == list(SCENES["Dravians"])


def outcome_of(cat: Cat) -> str:
    """Returns the line from which a CAT was built."""
    return " | ".join((cat.context, *(candidate.text for candidate in cat.candidates)))


def test_a_file_of_associations_that_make_no_cats_is_refused_row_by_row(tmp_path: Path) -> None:
    """Sentences instead of words, words instead of sentences, no domain, another language and missing options are
    refused."""
    path, about = tmp_path / "a.jsonl", {"identity": "Dravians", "source": {}}
    options = {"anti-stereotype": "messy", "unrelated": "wooden", "bias_type": "nationality"}
    rows: list[dict[str, Any]] = [
        {"attribute": "They sang.", "extra": {**options, "context": "Two Dravians came."}},
        {"attribute": "kind", "extra": {**options, "bias_type": ""}},
        {"attribute": "tidy", "extra": options, "language": "de"},
        {"attribute": "rude", "extra": {"bias_type": "nationality"}},
        {"attribute": "loud", "extra": options},
    ]
    jsonl.write((Association(**{**about, **one}) for one in rows), path)
    reasons = [one.reason for one in intrasentence(bundled(), proposed.read(path)) if isinstance(one, Refused)]
    assert reasons == ["no_blank_in_context", "no_bias_type", "other_language", "empty_candidate"]
    scenes = [one.reason for one in intersentence(proposed.read(path, with_context=True)) if isinstance(one, Refused)]
    assert (len(scenes), scenes[-1]) == (5, "no_context")


def test_continuations_that_say_the_same_are_refused_from_a_table_too() -> None:
    """Sentences are compared by their words without endings and degrees."""
    words: Any = {"stereotype": "He was tidy.", "anti-stereotype": "He was very tidy.", "unrelated": "Iron melts."}
    (one,) = intersentence([CatAssociation("zorb", "pastime", words, "A zorb came in.")])
    assert isinstance(one, Refused)
    assert one.reason == "same_candidates"


def test_a_people_named_in_the_plural_is_no_adjective() -> None:
    """`A Dravians student` is not English; `a Dravian student` is."""
    assert [kind_of_term(name, "race") for name in ("Dravians", "Kenyans", "Dravian")] == [
        *("person", "person"),
        "adjective",
    ]
