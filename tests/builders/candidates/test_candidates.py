from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.samples import write_sample
from helpers.servers.chat_server import ChatServer, serving
from helpers.servers.planted_associations import PLANTED, planted
from numpy.typing import NDArray

from catsofa.builders.candidates import Question, Rules, associations, questions, read_replies
from catsofa.builders.candidates import seeds as seeding
from catsofa.builders.candidates.diversity import diversity
from catsofa.builders.candidates.meaning import groups_alike
from catsofa.builders.candidates.prompts import BUNDLED, load
from catsofa.builders.candidates.seeds import Seeds, Target
from catsofa.builders.paraphrases.journal import Journal
from catsofa.builders.paraphrases.replies import Completed, Reply
from catsofa.builders.paraphrases.runs import Run
from catsofa.data.files import BadInput
from catsofa.data.language.same_meaning import core
from catsofa.data.records import Association, Refused
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.prices import FREE, Price

GROUPS: Seeds = {Target(name): () for name in PLANTED}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """Yields a server of models with known associations."""
    with serving(ChatServer(answer=planted)) as running:
        yield running


def run(
    asked: Sequence[Question], server: ChatServer, out: Path, price: Price = FREE, max_cost: float | None = None
) -> Run:
    """Returns a run of questions to the simulated models, with its journal in `out`."""
    endpoint, requests = Endpoint(base_url=server.url, concurrency=2), [one.request for one in asked]
    how: dict[str, Any] = {"price": lambda name: price, "max_cost": max_cost}
    return Run(requests=requests, endpoint=endpoint, out=out, max_tokens=100, **how)


def proposed(
    server: ChatServer, out: Path, seeds: Seeds = GROUPS, models: Sequence[str] = ("zorb-1",), most: int = 20
) -> tuple[list[Question], list[Association | Refused]]:
    """Returns the questions of two prompts and their outcomes."""
    question_list = questions(seeds, [load("report", 4), load("slots", 4)], models, {"max_completion_tokens": 100})
    ended = list(run(question_list, server, out).ask())
    return question_list, list(associations(read_replies(question_list, ended), seeds, Rules(most=most), {}))


def kept(outcomes: Sequence[Association | Refused]) -> dict[str, set[str]]:
    """Returns the attributes that were kept for each group."""
    by_group: dict[str, set[str]] = {}
    for one in outcomes:
        if isinstance(one, Association):
            by_group.setdefault(one.identity, set()).add(one.attribute)
    return by_group


def test_what_was_planted_comes_out_and_nothing_else(server: ChatServer, tmp_path: Path) -> None:
    """Each planted attribute is kept once per group, though two prompts return it. Invalid lines are refused with a
    reason."""
    _, outcomes = proposed(server, tmp_path)
    assert kept(outcomes) == {group: {line.split(" |")[0] for line in lines} for group, lines in PLANTED.items()} | {
        "Zorbs": {"generous", "love rain", "Tidiest"}
    }
    reasons = {(one.reason, one.text.split(" |")[0]) for one in outcomes if isinstance(one, Refused)}
    assert reasons == {
        ("prescriptive", "should be taught manners"),
        ("same_meaning", "Tidiest"),
        ("names_group", "like Dravians from Dravia"),
    }
    tidy = next(one for one in outcomes if isinstance(one, Association) and one.attribute == "tidy")
    assert tidy.extra["said_times"] == 3
    assert {(origin["prompt"], origin["times"]) for origin in tidy.extra["said_by"]} == {("report", 2), ("slots", 1)}


@pytest.mark.parametrize(
    ("line", "names"), [("unlike zorbs", True), ("fond of a Zorb's hats", True), ("in zorbing", False), ("tidy", False)]
)
def test_a_group_is_named_in_plural_and_possessive_too(line: str, names: bool) -> None:
    """The seeds have the singular. A longer word that begins with the name is another word."""
    seeds: Seeds = {Target("zorb"): (), Target("mimp"): ()}
    question_list = questions(seeds, [load("report", 4)], ("zorb-1",), {})
    ended = [Completed(request=one.request, reply=Reply(text=line)) for one in question_list]
    refused = [one.reason for one in read_replies(question_list, ended) if isinstance(one, Refused)]
    assert refused == ["names_group"] * 2 * names


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("tidy: adjective", "tidy"),
        ("sing all day (verb)", "sing all day"),
        ("`late` – adjective", "late"),
        ("hard-working | adjective", "hard-working"),
        ('{"attributes": ["tidy"]}', "tidy"),
        ('{"attribute": "tidy", "kind": "adjective"}', "tidy"),
        ('{"trait": 1}', "odd_characters"),
        ("tidy; loud", "several_attributes"),
        ("rude, even to friends", "rude, even to friends"),
        ("\x1b[31mtidy\x1b[0m", "odd_characters"),
        ("tidy, loud, late", "several_attributes"),
        ("**Tidy**: they sort their spoons", "Tidy"),
        ("- **Good with money** – they save every coin", "Good with money"),
        ("**Tidy** | adjective", "Tidy"),
        ("They love rain", "love rain"),
        ("they're tidy | adjective", "tidy"),
        ("is tidy | verb", "tidy"),
        ("attribute | part of speech", "no_attribute"),
        ("N/A", "no_attribute"),
        ("好客", "odd_characters"),
    ],
)
def test_a_line_in_another_shape_is_read_or_refused_by_name(line: str, outcome: str) -> None:
    """A kind after any separator is removed. Other JSON, control characters and lists are refused."""
    question_list = questions({Target("Zorbs"): ()}, [load("report", 4)], ("zorb-1",), {})
    ended = [Completed(request=one.request, reply=Reply(text=line)) for one in question_list]
    (result,) = read_replies(question_list, ended)
    assert (result.reason if isinstance(result, Refused) else result.attribute) == outcome


@pytest.mark.parametrize(
    "reply",
    [
        '["tidy", "loud"]',
        '```json\n["tidy",\n "loud"]\n```',
        'Here are some:\n["tidy", "loud"]',
        '[{"attribute": "tidy", "kind": "adjective"}, {"attribute": "loud"}]',
        '{"attribute": "tidy"}\n{"attribute": "loud"}',
        '{"associations": ["tidy", "loud"]}',
        '```json\n{\n "stereotypes": [{"text": "tidy"},\n {"text": "loud"}]\n}\n```',
    ],
)
def test_a_reply_in_json_is_read_as_its_texts(reply: str) -> None:
    """A JSON array of strings or of objects with an attribute gives one attribute each, also inside an object."""
    question_list = questions({Target("Zorbs"): ()}, [load("report", 4)], ("zorb-1",), {})
    ended = [Completed(request=one.request, reply=Reply(text=reply)) for one in question_list]
    assert [getattr(one, "attribute", one) for one in read_replies(question_list, ended)] == ["tidy", "loud"]


def test_a_reply_that_repeats_a_line_says_it_once() -> None:
    """A line that a model repeats counts once."""
    question_list = questions({Target("Zorbs"): ()}, [load("report", 4)], ("zorb-1",), {})
    ended = [Completed(request=one.request, reply=Reply(text="tidy\nloud\n" + "tidy\n" * 400)) for one in question_list]
    outcomes = list(associations(read_replies(question_list, ended), {}, Rules(), {}))
    assert {one.attribute: one.extra["said_times"] for one in outcomes if isinstance(one, Association)} == {
        "tidy": 1,
        "loud": 1,
    }
    assert sum(one.reason == "repeated" for one in outcomes if isinstance(one, Refused)) == 400


def test_prompts_of_one_text_or_one_name_are_refused(tmp_path: Path) -> None:
    """Two prompts with the same text or the same name are refused."""
    for name, text in {"one": "On {{ group }}.", "two": "On {{ group }}.", "report": "Of {{ group }}."}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    for names in (["one", "two"], ["report", "report.txt"]):
        prompts = [
            load(name if name == "report" else str(tmp_path / name.removesuffix(".txt")) + ".txt", 4) for name in names
        ]
        with pytest.raises(ValueError, match="two prompts"):
            questions({Target("Zorbs"): ()}, prompts, ("zorb-1",), {})


def test_known_associations_are_no_proposals_and_too_many_are_cut(server: ChatServer, tmp_path: Path) -> None:
    """`Tidy` is known for the Dravians, not for the Pellorans. At most two of the others stay, one from each prompt."""
    seeds = {**GROUPS, Target("Dravians"): ("tidy",)}
    _, outcomes = proposed(server, tmp_path, seeds, most=2)
    by_group = kept(outcomes)
    assert {group: len(attributes) for group, attributes in by_group.items()} == dict.fromkeys(PLANTED, 2)
    assert "tidy" not in by_group["Dravians"]
    assert {one.reason for one in outcomes if isinstance(one, Refused)} >= {"known", "over_balance"}


def test_a_model_that_declines_is_counted_and_not_taken_for_an_answer(server: ChatServer, tmp_path: Path) -> None:
    """With three groups, two prompts and two models, one model declines all six requests, and the other covers all
    groups."""
    question_list, outcomes = proposed(server, tmp_path, models=("zorb-1", "prude"))
    rows = {(row.model, row.prompt): row for row in diversity(question_list, outcomes)}
    assert [rows["prude", prompt].refusals for prompt in ("report", "slots")] == [3, 3]
    good = rows["zorb-1", "slots"]
    assert (good.refusals, good.covered, good.targets, good.kept) == (0, 3, 3, 10)
    assert (rows["prude", "slots"].kept, rows["prude", "slots"].covered) == (0, 0)
    # ten planted lines, with "tidy" for two groups, have nine meanings
    assert good.distinct == pytest.approx(9 / 10)


def test_two_models_share_one_budget(server: ChatServer, tmp_path: Path) -> None:
    """A reply costs 50 * 10 + 2 * 30 = 560 millionths. If both models together could exceed the budget, nothing is
    sent."""
    question_list = questions(GROUPS, [load("slots", 4)], ("a", "b"), {})
    with pytest.raises(ValueError, match="nothing was sent"):
        list(run(question_list, server, tmp_path, Price(10, 30), 0.001).ask())
    assert server.asked == []
    assert run(question_list, server, tmp_path, Price(10, 30)).preview().requests == 6
    enough = run(question_list, server, tmp_path, Price(10, 30), 1.0)
    assert len(list(enough.ask())) == 6
    with Journal(tmp_path / "journal.jsonl", price=lambda name: Price(10, 30)) as journal:
        assert journal.spent == pytest.approx(6 * 560e-6)
    assert enough.preview().requests == 0
    list(enough.ask())
    assert len(server.answered) == 6


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": -50, "completion_tokens": -9}, {"prompt_tokens": "0"}])
def test_a_server_that_miscounts_cannot_cost_more_than_the_budget(
    server: ChatServer, tmp_path: Path, usage: dict[str, Any]
) -> None:
    """Each reply counts its maximum, over $0.003 for 100 tokens at $30 a million, so $0.02 are not enough for six."""
    server.usage = usage
    question_list = questions(GROUPS, [load("slots", 4)], ("a", "b"), {})
    ended = list(run(question_list, server, tmp_path, Price(10, 30), 0.02).ask())
    assert 0 < sum(one.reply is not None for one in ended) == len(server.asked) < 6
    assert {one.reason for one in ended if one.reply is None} == {"over_budget"}
    with Journal(tmp_path / "journal.jsonl", price=lambda name: Price(10, 30), most_written=100) as journal:
        assert (journal.spent <= 0.02, journal.uncounted) == (True, len(server.asked))


def test_seeds_are_a_table_or_associations_in_any_format(tmp_path: Path) -> None:
    """Each group occurs once with its known attributes; region and language come from the file, or from the
    arguments."""
    path = tmp_path / "seeds.csv"
    path.write_text("identity,attribute,region\nDravians,tidy,Zorbia\nDravians,late,Zorbia\nPellorans,,\n")
    assert seeding.read(path, region="Norrick", language="xx") == {
        Target("Dravians", "Zorbia", "xx"): ("tidy", "late"),
        Target("Pellorans", "Norrick", "xx"): (),
    }
    from_seegull = seeding.read(write_sample(tmp_path, "seegull"))
    assert from_seegull == {Target("Dravians"): ("tidy",), Target("Pellorans"): ("loud, at times",)}


def test_a_group_has_one_bias_type_in_whichever_row_it_stands(tmp_path: Path) -> None:
    """A file with two bias types for one group is refused with the number of such groups."""
    path = tmp_path / "seeds.csv"
    path.write_text("identity,attribute,bias_type\nZorbs,tidy,\nZorbs,late,race\nZorbs,loud,race\n")
    assert [target.bias_type for target in seeding.read(path)] == ["race"]
    path.write_text("identity,attribute,bias_type\nZorbs,A,x\nZorbs,A,y\nGlorbs,B,x\n")
    with pytest.raises(BadInput, match=r"bias types.*Zorbs: x, y"):
        seeding.read(path)


@pytest.mark.parametrize("text", ["group\nZorbs\n", "identity\n", "identity,region\n,Zorbia\n", ""])
def test_a_file_without_groups_is_no_seeds(text: str, tmp_path: Path) -> None:
    """The error explains the format of seeds, whatever is wrong with the file."""
    (tmp_path / "seeds.csv").write_text(text)
    with pytest.raises(BadInput, match="identity"):
        seeding.read(tmp_path / "seeds.csv")


def test_shown_associations_are_of_other_groups_only() -> None:
    """A prompt's examples never show the group that it asks about. Without attributes in the seeds, such a prompt is
    refused."""
    seeds = {Target("Dravians"): ("tidy",), Target("Pellorans"): ("loud",), Target("Zorbs"): ()}
    question_list = questions(seeds, [load("complete", 3)], ["m"], {})
    for one in question_list:
        examples = one.request.prompt.split("Continue")[0]
        assert one.target.identity not in examples
        assert any(f"{name} | " in examples for name in ("Dravians", "Pellorans"))
    with pytest.raises(ValueError, match=r"attributes.*seeds"):
        questions(GROUPS, [load("complete", 3)], ["m"], {})


def test_samples_are_requests_of_their_own() -> None:
    """Three samples of one prompt have the same text, but three seeds and thus three keys."""
    question_list = questions(
        {Target("Zorbs"): ()}, [load("slots", 3)], ["m"], {"temperature": 1.0, "seed": 5}, samples=3
    )
    assert [one.request.settings["seed"] for one in question_list] == [5, 6, 7]
    assert len({one.request.key for one in question_list}) == 3
    assert len({one.request.prompt for one in question_list}) == 1


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_prompt_names_group_region_and_language(name: str) -> None:
    """The prompt has the group, the region, the count and a non-English language; scenes are English only."""
    prompt = load(name, 7).ask(Target("Zorbs", "Upper Zorbia", "xx"), [("Dravians", "tidy")])
    assert all(part in prompt for part in ("Zorbs", "Upper Zorbia", "7"))
    assert ('"xx"' in prompt) is (name != "scene")


def test_a_prompt_without_the_group_or_with_an_unknown_word_is_refused(tmp_path: Path) -> None:
    """An invalid prompt is refused before anything is sent."""
    for text, fault in (("List {{ count }} words.", "group"), ("{{ group }} {{ colour }}", "colour")):
        (tmp_path / "mine.txt").write_text(text)
        with pytest.raises(ValueError, match=fault):
            load(str(tmp_path / "mine.txt"), 3)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("tidy", "very tidy", True),
        ("late riser", "Late risers", True),
        ("hard-working", "hardworking", True),
        ("not lazy", "lazy", False),
        ("never not late", "late", True),
        ("don't smile", "smile", False),
        ("loud", "tidy", False),
    ],
)
def test_attributes_say_the_same_by_their_words(one: str, other: str, same: bool) -> None:
    """Endings, degree and hyphens are ignored; a negation is not."""
    assert (core(one) == core(other)) is same


class Planes:
    """An encoder with planted vectors."""

    signature = "planes"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns the same vector for the words of kindness, negated or not, and different ones for others."""
        places = {"friendly": 0, "amiable": 0, "not amiable": 0}
        rows = np.zeros((len(texts), 10), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row, places.get(text, row + 2)] = 1
        return rows


def test_near_vectors_say_the_same_unless_one_is_negated() -> None:
    """`Friendly` and `amiable` have one meaning; `not amiable` has the same vector but another meaning."""
    groups = groups_alike(["friendly", "amiable", "not amiable", "loud"], "en", Planes())
    assert groups == [[0, 1], [2], [3]]
