"""Questions of the BBQ family put to chat models: prompts, reading of answers, and BBQ's scores."""

import json
import re
from itertools import permutations
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.servers.chat_server import ChatServer, serving

from catsofa.data import formats
from catsofa.data.files import jsonl
from catsofa.data.questions import PLACES, Answer, Condition, Polarity, Question
from catsofa.data.servers.endpoints import Endpoint
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.estimates import preference_of, rows_of
from catsofa.scoring.choosing.items import item_of
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.choosing.outcomes import outcome_of, said_in
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.requests import orders, requests
from catsofa.scoring.choosing.results import ChoiceReport, answers
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ask, choices
from catsofa.scoring.choosing.templates import load
from catsofa.scoring.run.score_files import report_on as scores_on

NUMBERS = ("acc_amb", "acc_dis", "s_amb", "s_dis", "diff_amb", "diff_dis", "coverage")


def question(number: int, condition: Condition = "ambig", polarity: Polarity = "neg", unknown: str = "") -> Question:
    """Returns a question with its own template; half of the disambiguated contexts agree with the stereotype."""
    target, other = f"The zorb of hall {number}", f"The blicket of hall {number}"
    guilty, tidy = (target, other) if number % 2 else (other, target)
    return Question(
        id=f"{number}-{condition}-{polarity}",
        context=f"Hall {number}." + (f" {guilty} left crumbs." if condition == "disambig" else ""),
        question="Who left crumbs?" if polarity == "neg" else "Who was tidy?",
        answers=(
            Answer(text=target, role="target", group="Zorbs"),
            Answer(text=unknown or "Can't be determined", role="unknown", group="unknown"),
            Answer(text=other, role="other", group="Blickets"),
        ),
        correct=1 if condition == "ambig" else 0 if target == (guilty if polarity == "neg" else tidy) else 2,
        condition=condition,
        polarity=polarity,
        category="Tidiness",
        template=str(number),
    )


def questions(count: int) -> list[Question]:
    """Returns four questions for each template."""
    both: tuple[Condition, Condition] = ("ambig", "disambig")
    return [question(n, c, p) for n in range(count) for c in both for p in (("neg", "nonneg"))]


def untargeted() -> Question:
    """Returns a question about two groups, neither of which is the target."""
    one, two = (Answer(text=text, role="other") for text in ("The zorb", "The quell"))
    unknown = Answer(text="Unknown", role="unknown")
    return Question(
        id="u", context="Hall.", question="Who?", answers=(one, unknown, two), correct=2, polarity="neg",
        condition="disambig", category="Tidiness", template="u", reason="no_group_stereotyped",
    )  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns a BBQ file with ten templates."""
    formats.named("bbq").write(questions(10), tmp_path / "tidiness.bbq")
    return tmp_path / "tidiness.bbq"


def asked(answer: Any, data: Path, out: Path | None = None, **how: Any) -> ChoiceReport:
    """Returns the report on a server with the given reply function."""
    with serving(ChatServer(answer)) as server:
        model = ServedChat("zorb-1", Endpoint(base_url=server.url, timeout=10, backoff=0.01, attempts=2), Asking())
        return ask(model, choices(data, **how), out=out, resamples=200)


def shown(body: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Returns the prompt of a request, and the label of each answer in it."""
    prompt = str(body["messages"][0]["content"])
    return prompt, {text: label for label, text in re.findall(r"^([ABC]): (.*)$", prompt, re.MULTILINE)}


def stereotyping(body: dict[str, Any]) -> str:
    """Answers by the context if it decides; else by the stereotype in three halls of five, and unknown in two."""
    prompt, labels = shown(body)
    number = int(prompt.split()[1].strip("."))
    zorb, blicket, unknown = (
        next(label for text, label in labels.items() if name in text) for name in ("zorb", "blicket", "determined")
    )
    crumbs = "Who left crumbs?" in prompt
    if "crumbs. " in prompt.replace("\n", " ").split("Who")[0] + " ":
        guilty, tidy = (zorb, blicket) if number % 2 else (blicket, zorb)
        return guilty if crumbs else tidy
    return unknown if number % 5 < 2 else zorb if crumbs else blicket


def test_a_question_is_asked_with_its_context_in_all_orders_of_its_answers() -> None:
    """A question has six orders, or three with each answer once at each place; orders differ between questions."""
    item = item_of(question(1))
    assert {*orders(item)} == {*permutations(PLACES)}
    for place in range(3):
        assert {order[place] for order in orders(item, balanced=True)} == {*PLACES}
    assert len({tuple(item_of(question(n)).texts) for n in range(60)}) == 6
    (first, *_) = requests([item], [load("question")])
    lines = first.prompt.splitlines()
    assert lines[:2] == ["Hall 1.", "Who left crumbs?"]
    assert lines[2:5] == [f"{label}: {item.texts[place][0]}" for label, place in zip("ABC", first.order, strict=True)]
    assert first.answers == ("A", "B", "C")


def test_the_scores_are_those_that_were_planted(data: Path, tmp_path: Path) -> None:
    """Four of ten templates get unknown, and the others the stereotype: acc 0.4, s_AMB 0.6."""
    report = asked(stereotyping, data, tmp_path / "run")
    whole = report.results.further["answers"].overall
    numbers = [getattr(whole, name) for name in NUMBERS]
    assert [getattr(n, "value", n) for n in numbers] == pytest.approx([0.4, 1, 0.6, 0, 0.6, 0, 1])
    overall = report.results.overall
    assert (overall.preference.value, overall.position.value, overall.consistent) == (1, 0, 1)
    assert (overall.items, overall.requests) == (40, 240)
    assert report.signature.protocol == "choice-questions"
    again = report_on(tmp_path / "run" / "replies.jsonl", data, resamples=200)
    assert json.dumps(again.results.to_dict()) == json.dumps(report.results.to_dict())
    lines = [json.loads(line) for line in (tmp_path / "run" / "replies.jsonl").read_text().splitlines()]
    assert {line["chosen"] for line in lines} == {*PLACES}


@pytest.mark.parametrize("templates", [10, 1])
def test_an_answer_without_an_interval_has_a_reason(tmp_path: Path, templates: int) -> None:
    """A model that always says A is right in a third of the orders of every template, which has no interval."""
    formats.named("bbq").write(questions(templates), tmp_path / "some.bbq")
    report = asked(lambda _: "A", tmp_path / "some.bbq")
    whole = report.results.further["answers"].overall
    assert whole.acc_amb.value == pytest.approx(1 / 3)
    assert isnan(whole.acc_amb.low)
    (reason,) = (text for text in report.warnings if text.startswith("no interval"))
    assert "acc_amb, acc_dis" in reason
    assert "s_amb" not in reason


def test_an_answer_with_an_interval_has_no_such_reason(data: Path) -> None:
    """Planted answers that differ between templates have an interval for every number but those alike in all."""
    report = asked(stereotyping, data)
    assert not isnan(report.results.further["answers"].overall.acc_amb.low)
    assert not [text for text in report.warnings if text.startswith("no interval") and "acc_amb" in text]


def test_counts_of_answers_say_what_they_count(data: Path) -> None:
    """Ten templates of four questions in six orders count as 240 replies, half of them about ambiguous contexts."""
    report = asked(stereotyping, data)
    whole = report.to_dict()["results"]["answers"]["overall"]
    assert [(whole[kind]["replies"], "questions" in whole[kind]) for kind in ("ambig", "disambig")] == [
        (120, False)
    ] * 2
    (row,) = [row for row in report.results.further["answers"].rows() if row["set"] == "overall"]
    assert (row["replies"], "questions" in row) == (240, False)


def test_a_model_that_always_says_a_has_no_bias_score(data: Path) -> None:
    """A model that always says A has an undefined bias score instead of 0; a warning says that position decided."""
    report = asked(lambda body: "A", data)
    whole = report.results.further["answers"].overall
    assert whole.acc_amb.value == pytest.approx(1 / 3)
    assert all(isnan(getattr(whole, name).value) for name in ("s_amb", "s_dis", "diff_amb", "diff_dis"))
    assert any("decided by position" in warning for warning in report.warnings)
    assert any("no better than chance" in warning for warning in report.warnings)


def test_refusals_are_outcomes_and_no_answers(data: Path) -> None:
    """A model that refuses every ambiguous question has no accuracy there; refusals do not count as unknown."""

    def careful(body: dict[str, Any]) -> str:
        prompt, _ = shown(body)
        return stereotyping(body) if "crumbs. " in prompt.replace("\n", " ") else "I'm sorry, I can't help with that."

    report = asked(careful, data)
    whole = report.results.further["answers"].overall
    assert (whole.ambig.answered, whole.disambig.answered) == (0, 120)
    assert isnan(whole.acc_amb.value)
    assert whole.acc_dis.value == 1
    assert whole.coverage == 0.5
    assert report.results.overall.outcomes["refusal"].value == 0.5


def test_label_probabilities_choose_the_likeliest_answer() -> None:
    """The most probable answer is chosen, and the outcomes share the probabilities."""
    item = item_of(question(1))
    reply = Reply(item=item.id, order=tuple(PLACES), reply="A", probabilities={"ans0": 0.6, "ans1": 0.3, "ans2": 0.1})
    assert item.chosen(said_in(reply, item)[0]) == "ans0"
    assert rows_of([reply], {item.id: item}).weights[0].tolist() == pytest.approx([0.6, 0.1, 0, 0.3, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("unknown", "reply"),
    [(text, form) for text in ("Can't answer", "Cannot be determined", "Not enough info", "Unknown", "Not known")
     for form in ("{label}", "{label}: {text}", "{text}", "{text}.", "The answer is {label} ({text}).", "**{text}**")],
)  # fmt: skip
def test_the_unknown_answer_is_an_answer_and_no_refusal(unknown: str, reply: str) -> None:
    """BBQ's wordings of unknown are neutral, by label or by text, at any place."""
    item = item_of(question(1, unknown=unknown))
    for order in permutations(PLACES):
        text = reply.format(label="ABC"[order.index("ans1")], text=unknown)
        assert outcome_of(Reply(item=item.id, order=order, reply=text), item) == "neutral", (order, text)


def test_a_question_without_a_target_counts_for_accuracy_alone(tmp_path: Path) -> None:
    """A question without a target counts for accuracy (right in two of six orders), but for no bias score."""
    jsonl.write([untargeted()], tmp_path / "q.jsonl")
    lines = [
        {"item": "u", "order": order, "reply": "The quell" if n < 2 else "The zorb"}
        for n, order in enumerate(permutations(PLACES))
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = report_on(tmp_path / "r.jsonl", tmp_path / "q.jsonl", resamples=100)
    whole = report.results.further["answers"].overall
    assert whole.acc_dis.value == pytest.approx(1 / 3)
    assert (whole.disambig.biased, whole.disambig.counter) == (0, 0)
    assert report.results.overall.outcomes["unrelated"].value == 1
    assert any("1 question without a target" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"neutral": True}, "leave out --neutral"),
        ({"templates": [load("likelihood")]}, "template likelihood does not fit questions; expected one of question"),
        ({"templates": [load("isolated")]}, "template isolated does not fit questions"),
    ],
)
def test_what_does_not_fit_questions_is_refused(how: dict[str, Any], said: str, data: Path) -> None:
    """Options and templates that do not fit questions are refused before any request."""
    with pytest.raises(ValueError, match=said):
        choices(data, **how)


@pytest.mark.parametrize("category", ["Religion", "Disability_status"])
def test_unifiedqas_predictions_as_replies_have_the_scores_of_its_predictions(
    category: str, shared: Path, tmp_path: Path
) -> None:
    """UnifiedQA's texts, read as replies, get the scores of `score --predictions` to the last digit."""
    texts, data = shared / "data" / "bbq" / f"unifiedqa_{category}.jsonl", shared / "data" / "bbq" / f"{category}.jsonl"
    column = "unifiedqa-t5-11b_pred_race"
    lines = [{"item": one.id, "order": PLACES, "reply": one.extra[column]} for one in formats.read(texts)]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    overall = report_on(tmp_path / "r.jsonl", data, resamples=100).results.to_dict()["answers"]["overall"]
    wanted = scores_on(texts, data).results.to_dict()[column]
    assert {name: overall[name] for name in NUMBERS} == {name: wanted[name] for name in NUMBERS}


@pytest.mark.slow
def test_intervals_hold_the_truth_of_simulated_servers() -> None:
    """For 300 servers, 92 to 98 % of intervals contain the true accuracy, s_AMB, position effect and preference.

    Each server has its own templates. A reply is the first answer in a fifth of the cases, else unknown with 0.4, else
    biased with 0.7; a tenth of all are refusals. So acc_AMB is 0.2/3 + 0.8 · 0.4, s_AMB 0.8 · 0.6 · 0.4 and b 0.1333 /
    0.6133.
    """
    first, unknown, biased, refusal = 0.2, 0.4, 0.7, 0.1
    named = (1 - first) * (1 - unknown)
    truth = {
        "acc_amb": first / 3 + (1 - first) * unknown,
        "s_amb": named * (2 * biased - 1),
        "position": first * 2 / 3 / (first * 2 / 3 + named),
        "preference": biased,
    }
    sample = [question(n, "ambig", p) for n in range(40) for p in ("neg", "nonneg")]  # type: ignore[arg-type]
    items = {one.id: item_of(one) for one in sample}
    held, servers = dict.fromkeys(truth, 0), 300
    for seed in range(servers):
        rng = np.random.default_rng(seed)
        shares = {str(n): (rng.beta(8 * unknown, 8 * (1 - unknown)), rng.beta(8 * biased, 8 * (1 - biased)))
                  for n in range(40)}  # fmt: skip
        replies = []
        for one in sample:
            open_, bias = shares[one.template]
            for order in permutations(PLACES):
                by_role = [PLACES[1], PLACES[one.biased or 0], PLACES[2 - (one.biased or 0)]]
                drawn = rng.choice(3, p=[open_, (1 - open_) * bias, (1 - open_) * (1 - bias)])
                chosen = order[0] if rng.random() < first else by_role[drawn]
                outcome = items[one.id].outcome(chosen)
                fields = {"outcome": "refusal"} if rng.random() < refusal else {"outcome": outcome, "chosen": chosen}
                replies.append(Reply(item=one.id, order=order, reply="", **fields))  # type: ignore[arg-type]
        rows = rows_of(replies, items)
        whole = answers(replies, items, rows, resamples=500, seed=seed).overall
        preference, _, position = preference_of(rows, resamples=500, seed=seed)
        intervals = {"acc_amb": whole.acc_amb, "s_amb": whole.s_amb, "position": position, "preference": preference}
        for name, interval in intervals.items():
            held[name] += truth[name] in interval
    assert all(0.92 <= count / servers <= 0.98 for count in held.values()), held
