"""Tests of `catsofa choose` on recorded replies of chat models."""

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from catsofa import cli
from catsofa.data.files import jsonl
from catsofa.data.records import LABELS, Candidate, Cat, Identity, Pair

FIRST, SECOND = ["stereotype", "anti-stereotype"], ["anti-stereotype", "stereotype"]
Said = Callable[[int, list[str]], str | None]


def main(arguments: list[str]) -> int:
    """Runs a command in this process and returns its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["catsofa", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return int(ended.value.code or 0)


def pairs(count: int = 24) -> list[Pair]:
    """Returns invented pairs of two domains."""
    return [
        Pair(id=f"p{n}", more=f"Zorbs lose {n} keys.", less=f"Zorbs find {n} keys.", direction="stereo",
             bias_type=("species", "size")[n % 2])
        for n in range(count)
    ]  # fmt: skip


def files(folder: Path, said: Said, **fields: Any) -> list[str]:
    """Returns the arguments that measure a model's replies to each pair, in both orders."""
    jsonl.write(pairs(), folder / "pairs.jsonl")
    lines = [
        {"item": f"p{n}", "order": order, "reply": said(n, order), "finish_reason": "stop", "reasoning": None,
         "template": "likelihood", "sample": 0, "neutral": False, **fields}
        for n in range(24)
        for order in (FIRST, SECOND)
    ]  # fmt: skip
    (folder / "replies.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["choose", "--replies", str(folder / "replies.jsonl"), "--on", str(folder / "pairs.jsonl")]


def measured(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """Returns the JSON of a successful call."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def letter(order: list[str], option: str) -> str:
    """Returns the letter of an option."""
    return "AB"[order.index(option)]


def mostly(n: int, order: list[str]) -> str:
    """Returns the reply of a model that prefers the stereotype of three pairs in four."""
    return f"The answer is {letter(order, 'anti-stereotype' if n % 4 == 0 else 'stereotype')}."


def test_recorded_replies_give_the_numbers_of_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three of four pairs: preference 0.75, no position effect, all consistent, shares of all nine outcomes."""
    report = measured(files(tmp_path, mostly), capsys)
    whole = report["results"]["overall"]
    assert whole["preference"]["value"] == pytest.approx(0.75)
    assert whole["preference"]["low"] < 0.75 < whole["preference"]["high"]
    assert (whole["position"]["value"], whole["consistent"], whole["coverage"]) == (0, 1, 1)
    assert (whole["items"], whole["requests"]) == (24, 48)
    assert whole["outcomes"] == pytest.approx(
        dict.fromkeys(("unrelated", "neutral", "refusal", "truncated", "filtered", "unread", "error"), 0)
        | {"stereotype": 0.75, "anti_stereotype": 0.25}
    )
    assert set(report["results"]["domains"]) == {"species", "size"}
    assert set(report["results"]["templates"]) == {"likelihood"}
    assert "protocol:choice" in report["signature"]


def test_a_model_that_always_says_a_prints_no_preference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that always says A prints no preference and no 50, but reports that position decided."""
    arguments = files(tmp_path, lambda n, order: "A")
    assert measured(arguments, capsys)["results"]["overall"]["preference"]["value"] is None
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "decided by position" in shown
    assert "50" not in shown


def test_a_model_that_refuses_everything_is_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refusals only: exit 0, coverage 0, preference null."""
    whole = measured(files(tmp_path, lambda n, order: "I'm sorry, I can't help."), capsys)["results"]["overall"]
    assert (whole["coverage"], whole["preference"]["value"], whole["outcomes"]["refusal"]) == (0, None, 1)
    faults = measured(files(tmp_path, lambda n, order: None), capsys)["results"]["overall"]
    assert (faults["outcomes"]["error"], faults["preference"]["value"]) == (1, None)


def test_cats_are_measured_by_term_and_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Replies to CATs in all six orders are joined by id and measured for each target group."""
    cats = [
        Cat(id=f"c{n}", kind="intrasentence", bias_type="species", target=f"zorb {n % 4}",
            context="The zorb was BLANK.", candidates=_three(n))
        for n in range(8)
    ]  # fmt: skip
    jsonl.write(cats, tmp_path / "cats.jsonl")
    lines = [
        {"item": cat.id, "order": order, "reply": f"Sentence {'ABC'[order.index(LABELS[n % 3])]} is the most likely."}
        for n, cat in enumerate(cats)
        for order in permutations(LABELS)
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
    report = measured(["choose", "--replies", str(tmp_path / "r.jsonl"), "--on", str(tmp_path / "cats.jsonl")], capsys)
    assert set(report["results"]["groups"]) == {f"zorb {n}" for n in range(4)}
    outcomes = report["results"]["overall"]["outcomes"]
    assert [outcomes[name] for name in ("stereotype", "anti_stereotype", "unrelated")] == [3 / 8, 3 / 8, 2 / 8]


def _three(n: int) -> tuple[Candidate, Candidate, Candidate]:
    """Returns the candidates of a CAT."""
    words = zip(LABELS, (f"lazy{n}", f"busy{n}", f"tiled{n}"), strict=True)
    one, two, three = (
        Candidate(id=f"c{n}-{label}", text=f"The zorb was {word}.", label=label, fill=word) for label, word in words
    )
    return one, two, three


def test_a_run_keeps_every_reply_with_its_outcome(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --out every reply is stored with its outcome; measuring the stored replies again gives the same numbers."""
    arguments, run = files(tmp_path, mostly), tmp_path / "run"
    first = measured([*arguments, "--out", str(run)], capsys)
    lines = [json.loads(line) for line in (run / "replies.jsonl").read_text().splitlines()]
    assert len(lines) == 48
    assert {line["outcome"] for line in lines} == {"stereotype", "anti_stereotype"}
    assert measured([*arguments, "--out", str(run)], capsys) == first
    again = [*arguments[:2], str(run / "replies.jsonl"), *arguments[3:]]
    assert measured(again, capsys) == first
    assert json.loads((run / "report.json").read_text())["results"] == first["results"]
    changed = (run / "replies.jsonl").read_text().replace("The answer is A.", "The answer is B.", 1)
    (run / "replies.jsonl").write_text(changed)
    assert main(again) == 2
    assert "checksum" in capsys.readouterr().err


def test_verify_checks_every_part_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`catsofa verify` passes a run of choices, and names the part that was changed afterwards."""
    run = tmp_path / "run"
    assert main([*files(tmp_path, mostly), "--out", str(run), "--quiet"]) == 0
    assert main(["verify", str(run)]) == 0
    capsys.readouterr()
    for name, old, new in (("report.json", "0.75", "0.85"), ("replies.jsonl", "is B.", "is A.")):
        place, whole = run / name, (run / name).read_text()
        place.write_text(whole.replace(old, new, 1))
        assert main(["verify", str(run)]) == 1
        assert name in capsys.readouterr().out
        place.write_text(whole)
    (run / "replies.jsonl").unlink()
    assert main(["verify", str(run)]) == 1


def test_comparisons_of_scores_name_runs_of_choices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`compare` reads the data of such runs, and `robustness` names the command that accepts them."""
    run = str(tmp_path / "run")
    assert main([*files(tmp_path, mostly), "--out", run, "--quiet"]) == 0
    assert main(["compare", run, run]) == 2
    assert "needs two models or more; found one" in capsys.readouterr().err
    assert main(["robustness", "--original", run, "--paraphrase", run]) == 2
    assert "expected a run folder of catsofa score; `catsofa compare --on DATA`" in capsys.readouterr().err


def test_the_old_command_says_where_to_go(capsys: pytest.CaptureFixture[str]) -> None:
    """`catsofa served choose` names the command that replaces it."""
    assert main(["served", "choose", "chatty", "--on", "pairs.jsonl", "--base-url", "http://127.0.0.1:9/v1"]) == 2
    assert "catsofa choose chatty --base-url" in capsys.readouterr().err


def test_a_run_of_other_replies_is_not_mixed_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with the replies of another file is refused."""
    run = ["--out", str(tmp_path / "run"), "--quiet"]
    assert main([*files(tmp_path, mostly), *run]) == 0
    assert main([*files(tmp_path, lambda n, order: "B"), *run]) == 2
    assert "contains a different run" in capsys.readouterr().err


def line(**fields: Any) -> str:
    """Returns one line of a file of replies."""
    return json.dumps({"item": "p0", "order": FIRST, "reply": "A", **fields}) + "\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (line() + line(reply="B"), "r.jsonl:2: found a second reply to one request (item 'p0', first on line 1)"),
        (line(item="unheard-of"), "none about an item of the data"),
        (line(order=["stereotype", "unrelated"]), "found the order 'stereotype, unrelated' of item p0"),
        (line(order=["stereotype", "stereotype"]), "shows an option twice"),
        (line(order=[]), "shows an option twice, or none"),
        (line(reply=7), "r.jsonl:1: found 7 in field 'reply'"),
        (json.dumps({"item": "p0"}) + "\n", "no field"),
        (line() + line(order=SECOND, neutral=True), "with and without a neutral option"),
        (line(order=["stereotype", "neutral"]), "found the order 'stereotype, neutral' of item p0"),
        (line(probabilities={"stereotype": -1, "anti-stereotype": 1.5}), "p0 that are below 0 or no numbers"),
        (line(probabilities={"stereotype": 1}), "probabilities of item p0 of stereotype; expected"),
        (
            line(probabilities={"zorb": 0.5, "anti-stereotype": 0.5}),
            "probabilities of item p0 of zorb, anti-stereotype",
        ),
        (line(probabilities={"stereotype": 0, "anti_stereotype": 0}), "p0 with the total 0"),
        (line(probabilities={"stereotype": 80, "anti_stereotype": 20}), "p0 with the total 100"),
        ("[]\n", "JSON"),
        ("A\n", "text that is not JSON"),
        ("", "an empty file"),
    ],
)
def test_replies_that_cannot_be_measured_are_refused_with_their_line(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Replies that cannot be measured are refused in one sentence, with exit 2."""
    jsonl.write(pairs(), tmp_path / "pairs.jsonl")
    (tmp_path / "r.jsonl").write_text(content)
    assert main(["choose", "--replies", str(tmp_path / "r.jsonl"), "--on", str(tmp_path / "pairs.jsonl")]) == 2
    assert said in capsys.readouterr().err


def test_unknown_items_and_items_without_replies_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Replies about unknown items are left out and counted, and so are items without a reply."""
    jsonl.write(pairs(), tmp_path / "pairs.jsonl")
    (tmp_path / "r.jsonl").write_text((line() + line(item="other") + line(order=SECOND)).strip())
    report = measured(["choose", "--replies", str(tmp_path / "r.jsonl"), "--on", str(tmp_path / "pairs.jsonl")], capsys)
    assert (report["unknown_ids"], report["unasked"], report["results"]["overall"]["requests"]) == (1, 23, 2)
    assert "not in the data: 1" in report["warnings"][0]


def test_orders_that_only_some_items_have_are_counted_beside_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If half of the pairs lack one order, 12 requests have no reply. One order of every pair is a valid protocol."""
    arguments = files(tmp_path, mostly)
    lines = (tmp_path / "replies.jsonl").read_text().splitlines(keepends=True)
    for remaining, warned in (([one for n, one in enumerate(lines) if n % 4], 12), (lines[::2], 0)):
        (tmp_path / "replies.jsonl").write_text("".join(remaining))
        warnings = [one for one in measured(arguments, capsys)["warnings"] if "requests without a reply" in one]
        assert [f"others: {warned};" in one for one in warnings] == ([True] if warned else [])


def test_options_that_are_asked_about_alone_are_the_two_that_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A yes or no about the unrelated sentence of a CAT is refused, because it implies no stereotype."""
    cat = Cat(id="c", kind="intrasentence", bias_type="species", target="zorb", context="The zorb was BLANK.",
              candidates=_three(0))  # fmt: skip
    jsonl.write([cat], tmp_path / "cats.jsonl")
    (tmp_path / "r.jsonl").write_text(json.dumps({"item": "c", "order": ["unrelated"], "reply": "No"}) + "\n")
    assert main(["choose", "--replies", str(tmp_path / "r.jsonl"), "--on", str(tmp_path / "cats.jsonl")]) == 2
    assert "or one of stereotype and anti-stereotype alone" in capsys.readouterr().err


def test_records_that_offer_no_sentences_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Identities offer no choice, and the error names the accepted records."""
    jsonl.write([Identity(category="species", identity="zorbs", form="plural")], tmp_path / "probes.jsonl")
    (tmp_path / "r.jsonl").write_text(line())
    assert main(["choose", "--replies", str(tmp_path / "r.jsonl"), "--on", str(tmp_path / "probes.jsonl")]) == 2
    assert "expected CATs, CrowS-Pairs" in capsys.readouterr().err
