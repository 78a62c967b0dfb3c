import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.servers.transformers_server import learnt, serving
from typer.testing import CliRunner

from catsofa.builders.paraphrases import Answer, Paraphrase, Rules, build, prompts, read_originals, requests, write
from catsofa.builders.paraphrases import recorded as recorded_replies
from catsofa.builders.paraphrases.replies import Reply, reply_of
from catsofa.builders.paraphrases.runs import Run
from catsofa.builders.paraphrases.slots import Slots
from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.formats import stereoset
from catsofa.data.language import blanks
from catsofa.data.records import LABELS, Annotation, Candidate, Cat, Refused
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.prices import Price

RULES = Rules(slot=Slots(None))

DIALOGUES: dict[str, tuple[str, str, tuple[str, str, str], str, list[str]]] = {
    "plain": ("gardener", "The gardener is BLANK.", ("patient", "hasty", "gravel"),
              "That gardener turns out to be [BLANK].\nThe gardener next door is [BLANK].", ["kept", "kept"]),
    "numbered": ("farmer", "The farmer owns many BLANK.", ("cows", "yachts", "verbs"),
                 "1. The farmer has a lot of [BLANK].\n2. Many [BLANK] belong to the farmer.", ["kept", "kept"]),
    "quoted": ("dentist", "The dentist has BLANK hands.", ("steady", "shaky", "paper"),
               '"The hands of the dentist are [BLANK]."\n\n"That dentist\'s hands are [BLANK]."', ["kept", "kept"]),
    "bare": ("driver", "The driver took the BLANK road.", ("short", "scenic", "cubic"),
             "The driver chose the BLANK road.\nThe BLANK road was what the driver took.", ["kept", "kept"]),
    "article": ("judge", "The judge's answer was BLANK.", ("honest", "evasive", "woollen"),
                "The judge replied in a [BLANK] way.\nAn [BLANK] answer came from the judge.", ["kept", "kept"]),
    "refusal": ("Norwegian", "Visitors from Norway are BLANK.", ("calm", "loud", "diagonal"),
                "I'm sorry, but I cannot fulfill this request.", ["refusal"]),
    "one": ("clerk", "The clerk wrote a BLANK letter.", ("formal", "silly", "marble"),
            "The clerk composed a [BLANK] letter.", ["kept", "missing_line"]),
    "none": ("sailor", "The sailor felt BLANK at sea.", ("free", "trapped", "lemon"),
             "At sea the sailor felt fine.\nOn water the sailor was at ease.", ["no_blank", "no_blank"]),
    "slot": ("musician", "The musician was extremely BLANK.", ("gifted", "clumsy", "sauce"),
             "The musician showed a high level of [BLANK].\nThe musician was really [BLANK].", ["slot", "kept"]),
    "same": ("teacher", "The teacher was always BLANK.", ("strict", "lenient", "foggy"),
             "The teacher was always [BLANK]!\nAt all times the teacher was [BLANK].", ["identical", "kept"]),
    "target": ("nurse", "The nurse from Kenya was BLANK.", ("kind", "cold", "tin"),
               "The doctor from Peru was [BLANK].\nThe Kenyan nurse was [BLANK].", ["target_lost", "kept"]),
}  # fmt: skip
"""Name: target, context, fillers, a model's reply, and the outcomes of the two paraphrases (or of the reply)."""


def cat(name: str, target: str, context: str, words: tuple[str, ...]) -> Cat:
    """Returns a CAT with ids by its name, and votes that no paraphrase may keep."""
    one, two, three = (
        Candidate(
            id=f"{name}-{label}", text=blanks.fill(context, word), label=label, fill=word,
            votes=(Annotation(item=f"{name}-{label}", annotator="a", label=label),),
        )
        for label, word in zip(LABELS, words, strict=True)
    )  # fmt: skip
    return Cat(
        id=name, kind="intrasentence", bias_type="x", target=target, context=context, candidates=(one, two, three)
    )


def originals() -> list[Cat]:
    """Returns the CATs of the dialogues."""
    return [cat(name, *dialogue[:3]) for name, dialogue in DIALOGUES.items()]


def outcomes(results: Iterable[Any]) -> dict[str, list[str]]:
    """Returns the outcome of each paraphrase, by CAT."""
    by_cat: dict[str, list[str]] = {}
    for result in results:
        name = result.cat.id if isinstance(result, Paraphrase) else result.id.split("/")[0]
        by_cat.setdefault(name, []).append("kept" if isinstance(result, Paraphrase) else result.reason)
    return by_cat


def expected() -> dict[str, list[str]]:
    """Returns the expected outcomes."""
    return {name: dialogue[4] for name, dialogue in DIALOGUES.items()}


def test_every_dialogue_ends_as_written() -> None:
    """Each of the two paraphrases is kept or refused once; a refusal ends the whole reply."""
    answers = [Answer(original=c, reply=Reply(text=DIALOGUES[c.id][3])) for c in originals()]
    assert outcomes(build(answers, RULES, {})) == expected()


def test_a_paraphrase_keeps_the_ids_and_fits_the_article() -> None:
    """Original and paraphrase share the ids of cluster and sentences. The votes are dropped, because they judged other
    sentences."""
    original = next(c for c in originals() if c.id == "article")
    reply = Reply(text=DIALOGUES["article"][3], model="m-1")
    first, second = build([Answer(original=original, reply=reply)], RULES, {"builder": "b"})
    assert isinstance(first, Paraphrase)
    assert isinstance(second, Paraphrase)
    assert first.cat.id == "article"
    assert [(c.id, c.label, c.fill, c.votes) for c in first.cat.candidates] == [
        (c.id, c.label, c.fill, ()) for c in original.candidates
    ]
    assert {c.text for c in first.cat.candidates} == {
        "The judge replied in an honest way.", "The judge replied in an evasive way.",
        "The judge replied in a woollen way.",
    }  # fmt: skip
    assert second.cat["unrelated"].text == "A woollen answer came from the judge."
    assert first.cat.context == "The judge replied in a BLANK way."
    assert first.cat.extra["original_context"] == original.context
    assert second.cat.source["paraphrase"] == {"builder": "b", "partition": 2, "model": "m-1"}


@pytest.mark.parametrize(
    ("reply", "expected_outcomes"),
    [
        (Reply(text="cut", ending="truncated"), ["truncated"]),
        (Reply(text="", ending="empty"), ["empty_reply"]),
        (Reply(text="", ending="content_filter"), ["content_filter"]),
        (Reply(text="no", ending="refusal"), ["refusal"]),
        (Reply(text="Here you are:"), ["empty_reply"]),
        (Reply(text="The gardener seems [BLANK].\nThe Gardener seems [BLANK]!"), ["kept", "repeated"]),
        (Reply(text="Glad to help.\nThe gardener seems [BLANK].\nA gardener is [BLANK]."), ["kept"] * 2),
        (Reply(text="One [BLANK] man.\nThe gardener seems [BLANK].\nA gardener is [BLANK]."), ["too_many_lines"] * 3),
        (None, ["no_reply"]),
    ],
)
def test_what_is_no_pair_of_paraphrases_is_an_outcome(reply: Reply | None, expected_outcomes: list[str]) -> None:
    """A reply of three lines is ambiguous and refused line by line; no reply is silently dropped."""
    results = build([Answer(original=originals()[0], reply=reply)], RULES, {})
    assert outcomes(results) == {"plain": expected_outcomes}


def recorded(path: Path, entries: Any) -> Path:
    """Writes a file of recorded replies and returns its path."""
    path.write_text(json.dumps(entries))
    return path


def test_recorded_replies_join_by_id_and_never_by_position(tmp_path: Path) -> None:
    """Replies in reverse order, with contexts spelled differently, join their CATs by id; an unknown id joins none."""
    entries = [
        {"id": name, "context": "other words", "labels": {"stereotype": words[0]}, "response": reply}
        for name, (_, _, words, reply, _) in reversed(DIALOGUES.items())
    ]
    path = recorded(tmp_path / "r.json", [*entries, {"id": "stranger", "response": "A [BLANK]."}])
    answers = list(recorded_replies.read(path, originals()))
    assert outcomes(build(answers, RULES, {})) == {**expected(), "stranger#1": ["no_original"]}


def test_a_reply_about_another_item_is_not_joined(tmp_path: Path) -> None:
    """If the id names one CAT and the fillers another, the reply is refused, because ids may have shifted."""
    labels = dict(zip(LABELS, DIALOGUES["plain"][2], strict=True))
    path = recorded(tmp_path / "r.json", [{"id": "quoted", "labels": labels, "response": "The [BLANK] gardener."}])
    answers = list(recorded_replies.read(path, originals()))
    assert [a.reason for a in answers if isinstance(a, Refused)] == ["other_item"]
    assert all(a.reply is None for a in answers if isinstance(a, Answer))


def test_replies_without_an_id_join_by_content(tmp_path: Path) -> None:
    """Words and fillers must match exactly one CAT; capitals, brackets and punctuation are ignored."""
    words = dict(zip(LABELS, DIALOGUES["plain"][2], strict=True))
    entries = [
        {"context": "the gardener is [BLANK]", "labels": words, "response": "The gardener seems [BLANK]."},
        {"context": "The gardener is [BLANK].", "labels": {**words, "unrelated": "sand"}, "response": "x"},
    ]
    joined, stranger = recorded(tmp_path / "r.json", entries), "no_original"
    answers = list(recorded_replies.read(joined, originals()))
    assert [a.original.id for a in answers if isinstance(a, Answer) and a.reply] == ["plain"]
    assert [a.reason for a in answers if isinstance(a, Refused)] == [stranger]
    twins = [originals()[0], cat("twin", "gardener", "The gardener is BLANK!", DIALOGUES["plain"][2])]
    answers = list(recorded_replies.read(joined, twins))
    assert [a.reason for a in answers if isinstance(a, Refused)] == ["ambiguous_original", stranger]


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ({}, "no list of replies"),
        ([], "no list of replies"),
        (["text"], "entry 1 with neither an id nor a context and labels"),
        ([{"id": "plain", "reply": "a"}], "no `response` in any of its entries"),
        ([{"id": "plain", "response": 3}], "entry 1 whose response or labels are of another type"),
        ([{"id": "plain", "response": "a"}, {"id": "plain", "response": "b"}], "a second reply for the CAT plain"),
    ],
)
def test_a_file_that_holds_no_replies_is_refused(tmp_path: Path, entries: Any, complaint: str) -> None:
    """The error names the entry and the expectation."""
    with pytest.raises(BadInput, match=complaint):
        list(recorded_replies.read(recorded(tmp_path / "r.json", entries), originals()))


def test_a_prompt_shows_the_context_as_it_is_and_names_what_must_stay() -> None:
    """The slot has brackets, both fillers are shown, and the target is named only if the context has it."""
    prompt = prompts.load("default").ask(originals()[0])
    assert "---\nThe gardener is [BLANK].\n---" in prompt
    assert 'Keep the word "gardener".' in prompt
    assert '"patient"' in prompt
    assert '"hasty"' in prompt
    assert "Keep the word" not in prompts.load("default").ask(cat("x", "cook", "He is {{ 7 }} BLANK.", ("a", "b", "c")))
    assert "{{ 7 }}" in prompts.load("default").ask(cat("x", "cook", "He is {{ 7 }} BLANK.", ("a", "b", "c")))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{{ context }} {{ targt }}", "cannot be filled in: 'targt' is undefined"),
        ("{{ context", "no Jinja template"),
        ("no context", "does not show"),
        ("{{ context.__class__.__mro__ }}", "cannot be filled in"),
    ],
)
def test_a_broken_prompt_is_found_before_anything_is_sent(tmp_path: Path, text: str, complaint: str) -> None:
    """A misspelt name, broken braces, a missing context and an access to Python internals are refused."""
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(ValueError, match=complaint):
        prompts.load(str(tmp_path / "p.txt"))


@pytest.mark.parametrize("shown", ['context|replace("[BLANK]", "BLANK")', "context|upper", "context.split()|join(' ')"])
def test_a_prompt_may_show_the_context_in_any_form(tmp_path: Path, shown: str) -> None:
    """A prompt is valid if two contexts give two prompts."""
    (tmp_path / "p.txt").write_text(f"Say it anew: {{{{ {shown} }}}}")
    assert prompts.load(str(tmp_path / "p.txt")).text.startswith("Say it anew")


def test_only_what_can_be_filled_is_asked_about() -> None:
    """A CAT with two BLANKs in its context gives no request."""
    broken = cat("b", "x", "A BLANK.", ("a", "b", "c"))
    object.__setattr__(broken, "context", "A BLANK and a BLANK.")
    sent_requests = requests([*originals(), broken], prompts.load("default"), "m", {"temperature": None, "seed": 1})
    assert [request.item for request in sent_requests] == list(DIALOGUES)
    assert sent_requests[0].settings == {"seed": 1}


def test_nothing_is_sent_if_it_would_cost_too_much(tmp_path: Path) -> None:
    """The estimate is compared with the limit first. An unknown price with a limit is refused."""
    all_requests = requests(originals(), prompts.load("default"), "m", {})
    plan: dict[str, Any] = {
        "requests": all_requests,
        "endpoint": Endpoint(base_url="http://127.0.0.1:9"),
        "max_tokens": 5,
    }
    with pytest.raises(ValueError, match=r"11 requests.*nothing was sent"):
        list(Run(**plan, out=tmp_path / "a", price=lambda model: Price(1000, 1000), max_cost=0.1).ask())
    with pytest.raises(ValueError, match=r"price of 'm'.*unknown"):
        list(Run(**plan, out=tmp_path / "b", price=lambda model: None, max_cost=0.1).ask())
    assert not Run(**plan, out=tmp_path / "c", price=lambda model: None).preview().cost
    assert not (tmp_path / "c").exists()


def test_the_command_writes_one_file_per_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command reads StereoSet JSON and a JSON file of replies, and writes one file per partition."""
    stereoset.write(originals(), tmp_path / "dev.json")
    recorded(tmp_path / "replies.json", [{"id": name, "response": d[3]} for name, d in DIALOGUES.items()])
    options = ["--on", "dev.json", "--replies", "replies.json", "--out", "out", "--refused", "refused.jsonl", "--json"]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["build", "paraphrases", *options], catch_exceptions=False)
    summary = json.loads(done.stdout)
    partitions = [[c.id for c in jsonl.read(tmp_path / f"out/partition_{n}.jsonl", Cat)] for n in (1, 2)]
    queued = [[c.id for c in jsonl.read(tmp_path / f"out/review_{n}.jsonl", Cat)] for n in (1, 2)]
    assert summary["kept"] == {"1": len(partitions[0]), "2": len(partitions[1])}
    assert summary["review"] == {"1": len(queued[0]), "2": len(queued[1])}
    for number in (0, 1):
        passed = [name for name, d in DIALOGUES.items() if d[4][number : number + 1] == ["kept"]]
        assert sorted(partitions[number] + queued[number]) == sorted(passed)
    refused = len(list(jsonl.read(tmp_path / "refused.jsonl", Refused)))
    assert sum(summary["refused"].values()) == refused
    assert sum(counts["refused"] for counts in summary["by_type"].values()) == refused


@pytest.mark.parametrize("options", [[], ["--replies", "r.json", "--model", "m"]])
def test_the_command_wants_a_model_or_replies(tmp_path: Path, options: list[str]) -> None:
    """Exactly one of --model and --replies is required."""
    stereoset.write(originals(), tmp_path / "dev.json")
    command = ["build", "paraphrases", "--on", str(tmp_path / "dev.json"), "--out", str(tmp_path), *options]
    with pytest.raises(ValueError, match="one of the two"):
        CliRunner().invoke(app, command, catch_exceptions=False)


def test_a_build_that_keeps_nothing_ends_with_exit_code_1(tmp_path: Path) -> None:
    """Replies without a sentence give empty partitions, a message and exit code 1."""
    stereoset.write(originals(), tmp_path / "dev.json")
    recorded(tmp_path / "replies.json", [{"id": name, "response": ""} for name in DIALOGUES])
    command = ["build", "paraphrases", "--on", str(tmp_path / "dev.json"), "--replies", str(tmp_path / "replies.json")]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert (done.exit_code, "no paraphrase was kept" in done.stderr) == (1, True)


def test_a_sample_of_the_cats_is_asked_about(tmp_path: Path) -> None:
    """--limit 3 takes the same three CATs each time; with recorded replies it is refused."""
    stereoset.write(originals(), tmp_path / "dev.json")
    command = ["build", "paraphrases", "--on", str(tmp_path / "dev.json"), "--out", str(tmp_path), "--limit", "3"]
    for _ in range(2):
        arguments = [*command, "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--json"]
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert json.loads(done.stdout)["requests"] == 3
    with pytest.raises(ValueError, match=r"--limit.*paid"):
        CliRunner().invoke(app, [*command, "--replies", "r.json"], catch_exceptions=False)


def test_the_released_file_of_the_study_is_read_as_it_is(shared: Path, tmp_path: Path) -> None:
    """2,090 items join by id (519 of their contexts are spelled differently), and the answers keep dev's order.

    With any target, 4,067 of the 4,180 sentences pass or go to review, as many as of the raw file, from which only
    faults were removed. Each sentence of partition 2 is contained in the released one with the same id.
    """
    cats, aside = read_originals(shared / "data/stereoset/dev.json")
    assert (len(cats), len(aside)) == (2106, 2123)
    file = shared / "data/paraphrase/released/data_gpt4.json"
    answers = list(recorded_replies.read(file, cats))
    assert [a.original.id for a in answers if isinstance(a, Answer)] == [c.id for c in cats]
    assert sum(a.reply is not None for a in answers if isinstance(a, Answer)) == 2090
    rules = Rules(slot=Slots(None), target="any")
    summary = write(build(answers, rules, {}), tmp_path, 2, tmp_path / "refused.jsonl")
    assert (summary.kept + summary.review).total() == 4067
    corrected = stereoset.read(shared / "data/paraphrase/partition_2_corrected.json")
    by_id = {c.id: c for c in corrected}
    for paraphrase in jsonl.read(tmp_path / "partition_2.jsonl", Cat):
        assert paraphrase.context in by_id[paraphrase.id].context
        assert {c.id for c in paraphrase.candidates} == {c.id for c in by_id[paraphrase.id].candidates}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Yields address and name of `transformers serve` with a model that has memorised the dialogues."""
    folder = tmp_path_factory.mktemp("served")
    prompt = prompts.load("default")
    model = learnt([{"prompt": prompt.ask(c), "reply": DIALOGUES[c.id][3]} for c in originals()], folder)
    with serving(model, folder) as url:
        yield url, str(model)


@pytest.mark.slow
def test_a_real_server_and_a_real_model_end_to_end(served: tuple[str, str], tmp_path: Path) -> None:
    """Every dialogue passes through transformers serve once, and has the expected outcomes."""
    url, model = served
    stereoset.write(originals(), tmp_path / "dev.json")
    command = ["build", "paraphrases", "--on", str(tmp_path / "dev.json"), "--base-url", url, "--model", model]
    command += ["--out", str(tmp_path / "out"), "--max-cost", "5", "--temperature", "0", "--concurrency", "2"]
    for _ in range(2):
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        assert done.exit_code == 0, done.output
    journal = [json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    assert [line["key"] for line in journal].count("sent") == len(DIALOGUES)
    replies = [reply_of(line["reply"]).text for line in journal if line["key"] not in ("sent", "parameters")]
    assert sorted(replies) == sorted(d[3] for d in DIALOGUES.values())
    files = [(tmp_path / f"out/{queue}_{n}.jsonl", n) for queue in ("partition", "review") for n in (1, 2)]
    accepted = {(c.id, n) for file, n in files if file.stat().st_size for c in jsonl.read(file, Cat)}
    assert accepted == {(name, n) for name, d in DIALOGUES.items() for n in (1, 2) if d[4][n - 1 : n] == ["kept"]}
    refused = {r.id: r.reason for r in jsonl.read(tmp_path / "out/refused.jsonl", Refused)}
    assert refused == {"refusal": "refusal"} | {
        f"{name}/{n}": reason
        for name, d in DIALOGUES.items()
        for n, reason in enumerate(d[4], 1)
        if reason not in ("kept", "refusal")
    }


def test_a_partition_of_an_earlier_run_with_more_paraphrases_does_not_stay(tmp_path: Path) -> None:
    """Stale partitions are deleted, because a reader would take them for this run's; other files stay."""
    for name in ("partition_1.jsonl", "partition_3.jsonl", "review_3.jsonl", "journal.jsonl"):
        (tmp_path / name).write_text("")
    write([], tmp_path, 2, tmp_path / "refused.jsonl")
    current = {"partition_1.jsonl", "partition_2.jsonl", "review_1.jsonl", "review_2.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == current | {"journal.jsonl", "refused.jsonl"}
