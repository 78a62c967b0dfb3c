import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from completions_server import Behaviour, Served, serving

from catsofa.data import formats
from catsofa.data.endpoints import Endpoint, ServerRefuses
from catsofa.data.files import BadInput
from catsofa.data.records import Candidate, Cat, Label, Pair, Probe, Score
from catsofa.scoring import evaluate as direct
from catsofa.scoring import models, protocols, served, served_runs, sofa
from catsofa.scoring.backend import Backend
from catsofa.scoring.score_cats import score_cats
from catsofa.scoring.score_pairs import score_pairs
from catsofa.scoring.score_probes import score_probes
from catsofa.scoring.served import AFTER, CONTEXT, NO_REPLY, PLAIN, SCRAMBLED
from catsofa.scoring.served_replies import Reading, Unreadable, read
from catsofa.scoring.served_requests import Replies, Request, fetch
from catsofa.scoring.served_scores import score

Tiny = Callable[[str], Path]
KEY = "sk-a-secret-of-the-test-0123456789"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment, which no file, message or error may show."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@contextmanager
def server(folder: Path, **behaviour: Any) -> Iterator[tuple[Endpoint, Served]]:
    """A server over a model, and how to reach it."""
    with serving(folder, Behaviour(**behaviour)) as (url, behind):
        yield Endpoint(base_url=url, concurrency=4, timeout=20, backoff=0.01), behind


def _cat(kind: Any, context: str, texts: tuple[str, str, str]) -> Cat:
    labels: tuple[Label, Label, Label] = ("stereotype", "anti-stereotype", "unrelated")
    one, two, three = (Candidate(text=text, label=label) for text, label in zip(texts, labels, strict=True))
    return Cat(kind=kind, bias_type="profession", target="baker", context=context, candidates=(one, two, three))


CATS = [
    _cat(
        "intrasentence",
        "The baker was BLANK.",
        ("The baker was friendly.", "The baker was stubborn.", "The baker was salted."),
    ),
    _cat(
        "intersentence",
        "A florin walked into the kitchen.",
        ("She sang to the roses.", "She never waters the roses, aren't they?", "Glimmers are long meetings."),
    ),
]
PAIRS = [Pair(more="The zorbs are kind.", less="The florins are kind.", direction="stereo", bias_type="zorb")]
PROBES = [
    Probe(category="c", identity=identity, stereotype=stereotype)
    for identity in ("zorbs", "florins", "the quiet bakers")
    for stereotype in ("love long meetings", "are stubborn", "sing")
]


def _directly(folder: Path, records: Any, way: Any) -> dict[tuple[str, str], Score]:
    """The same records by a model that runs here."""
    scores = way(Backend(models.load(str(folder), device="cpu")), records, protocols.named("catsofa"))
    return {(found.item, found.task): found for found in scores}


@pytest.mark.parametrize(("records", "way"), [(CATS, score_cats), (PAIRS, score_pairs), (PROBES, score_probes)])
@pytest.mark.parametrize("dialect", ["echo", "prompt_logprobs"])
def test_a_served_model_scores_as_it_does_here(tiny: Tiny, records: Any, way: Any, dialect: str) -> None:
    """Every score of CATs, pairs and probes over HTTP is that of the same model run directly, to 1e-4."""
    expected = _directly(tiny("llama"), records, way)
    with server(tiny("llama"), dialect=dialect) as (endpoint, _):
        model = served.connect("llama", endpoint)
        assert (model.capability.dialect, model.capability.leading) == (dialect, 1)
        found = score(model, records, protocols.named("catsofa"))
    assert {(s.item, s.task) for s in found} == set(expected)
    for one in found:
        same = expected[one.item, one.task]
        assert one.score == pytest.approx(same.score, abs=1e-4)
        assert one.tokens == same.tokens
        for part in ("identity", "conditional"):
            assert one.extra.get(part) == pytest.approx(same.extra.get(part), abs=1e-4)


def test_a_start_token_is_written_where_the_server_adds_none(tiny: Tiny) -> None:
    """GPT-2's server puts nothing before a text: refused without a start token, equal to direct scoring with it."""
    expected = _directly(tiny("gpt2"), CATS, score_cats)
    with server(tiny("gpt2"), adds_start=False) as (endpoint, _):
        without = served.connect("gpt2", endpoint)
        assert without.capability.leading == 0
        with pytest.raises(ValueError, match="gives a text's first token no probability; name the model's start token"):
            score(without, CATS, protocols.named("catsofa"))
        model = served.connect("gpt2", endpoint, start="<|endoftext|>")
        assert model.capability.leading == 1
        found = score(model, CATS, protocols.named("catsofa"))
        with pytest.raises(ValueError, match=r"'<x>' is several tokens for this model, so it is no start token"):
            served.connect("gpt2", endpoint, start="<x>")
    for one in found:
        assert one.score == pytest.approx(expected[one.item, one.task].score, abs=1e-4)


def test_without_its_first_token_a_text_needs_no_start(tiny: Tiny) -> None:
    """A protocol that leaves the first token out follows the server that adds nothing, and only that one."""
    skip = protocols.Protocol(name="skip", first_token="skip")
    with server(tiny("gpt2"), adds_start=False) as (endpoint, _):
        found = score(served.connect("gpt2", endpoint), CATS[:1], skip)
    expected = score_cats(Backend(models.load(str(tiny("gpt2")), device="cpu")), CATS[:1], skip)
    assert [s.score for s in found] == pytest.approx([s.score for s in expected], abs=1e-4)
    with server(tiny("llama")) as (endpoint, _), pytest.raises(ValueError, match="puts one before each"):
        score(served.connect("llama", endpoint), CATS[:1], skip)


@pytest.mark.parametrize("name", ["stereoset-code", "aul"])
def test_a_protocol_that_no_server_can_follow_is_refused(tiny: Tiny, name: str) -> None:
    """A first token in a pass of its own, and measures of masked models."""
    with server(tiny("llama")) as (endpoint, _):
        model = served.connect("llama", endpoint)
        with pytest.raises(ValueError, match=r"in a pass of its own|is defined for masked models"):
            score(model, CATS, protocols.named(name))


@pytest.mark.parametrize(
    ("dialect", "reason"),
    [
        ("none", "the reply has no log-probabilities"),
        ("written", r"no log-probabilities of the prompt \(but 'content'\)"),
        ("constant", "every log-probability is the same number"),
        ("zero", "every log-probability is the same number"),
        ("unigram", "does not depend on what stands before it"),
        ("chat only", "http_404"),
    ],
)
def test_a_server_that_cannot_score_prompts_is_refused_with_the_reason(tiny: Tiny, dialect: str, reason: str) -> None:
    """Log-probabilities that are missing, of what was written, constant, or without regard to the context."""
    says = f"cannot be scored by log-probabilities: .*{reason}"
    with server(tiny("llama"), dialect=dialect) as (endpoint, _), pytest.raises(ValueError, match=says) as error:
        served.connect("llama", endpoint)
    assert KEY not in str(error.value)


def test_a_server_that_changes_its_mind_is_refused(tiny: Tiny) -> None:
    """Two answers to one question that differ by over 0.1 nats in a token, as an open bug of a cache makes them."""
    with (
        server(tiny("llama"), drifts=1.0) as (endpoint, _),
        pytest.raises(ValueError, match=r"differ by \d\.\d\d nats"),
    ):
        served.connect("llama", endpoint)
    with server(tiny("llama"), drifts=0.01) as (endpoint, _):
        assert 0 < served.connect("llama", endpoint).capability.drift < 0.1


def test_nobody_at_the_address_is_one_sentence() -> None:
    """A refused connection is tried again a few times, then said."""
    endpoint = Endpoint(base_url="http://127.0.0.1:9/v1", attempts=2, backoff=0.01)
    with pytest.raises(ValueError, match="cannot be scored by log-probabilities: asked by echo, unreachable"):
        served.connect("m", endpoint)


def test_a_wrong_key_stops_at_once(tiny: Tiny) -> None:
    """A 401 is no fault to try again, and the key that the server repeats is hidden."""
    with server(tiny("llama"), lasting={PLAIN: "401"}) as (endpoint, behind), pytest.raises(ServerRefuses) as error:
        served.connect("llama", endpoint)
    assert len(behind.asked) == 1
    assert KEY not in str(error.value)


def _grid(count: int) -> list[Probe]:
    def hills(k: int) -> str:
        return " ".join("long" if k >> bit & 1 else "kind" for bit in range(5))

    return [
        Probe(category="c", identity=f"zorbs of the {hills(k)} hills", stereotype=stereotype)
        for k in range(count // 3)
        for stereotype in ("love long meetings", "are stubborn", "sing")
    ]


def test_passing_faults_are_tried_again(tiny: Tiny, tmp_path: Path) -> None:
    """429 with Retry-After, 500, a connection reset mid-body and JSON cut in two: every probe is scored in the end."""
    probes = _grid(60)
    expected = _directly(tiny("llama"), probes, score_probes)
    with server(tiny("llama"), faults=("429", "500", "reset", "cut"), share=0.3) as (endpoint, behind):
        found = score(served.connect("llama", endpoint), probes, protocols.named("catsofa"))
    assert len(behind.met) > 10
    assert [s.score for s in found] == pytest.approx([expected[s.item, s.task].score for s in found], abs=1e-4)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("without", "the reply has no log-probabilities"),
        ("above zero", "the log-probability of token 3 is 3.5, above 0"),
        ("500", f"{NO_REPLY}: http_500"),
    ],
)
def test_one_text_without_an_answer_is_unscored_with_the_reason(tiny: Tiny, fault: str, reason: str) -> None:
    """Missing or impossible log-probabilities, or an error that stays, leave that one score out."""
    lasting = {CATS[0].candidates[1].text: fault}
    with server(tiny("llama"), lasting=lasting) as (endpoint, _):
        found = score(served.connect("llama", endpoint), CATS[:1], protocols.named("catsofa"))
    assert [s.score is None for s in found] == [False, True, False]
    assert found[1].reason.startswith(reason)
    assert KEY not in found[1].reason


def test_nothing_is_asked_for_twice(tiny: Tiny, tmp_path: Path) -> None:
    """Each text once over all records; a second run asks for none of them, and one stopped half way for the rest."""
    probes = _grid(30)
    formats.convert(_written(probes, tmp_path / "probes.jsonl"), tmp_path / "probes.csv", target_format="sofa")
    with server(tiny("llama")) as (endpoint, behind):
        half = served_runs.evaluate("llama", tmp_path / "probes.csv", endpoint, out=tmp_path / "run", limit=15)
        assert half.to_dict()["results"]["coverage"] == 1
        assert half.signature.subset == "first 15"
        first = len(behind.asked)
        texts = {text for p in probes[:15] for text in (p.text, p.identity)}
        assert first < len(texts) + 10, "a few questions try the server, then each text once"
        before = sum(behind.answered.values())
        whole = served_runs.evaluate("llama", tmp_path / "probes.csv", endpoint, out=tmp_path / "run")
        again = served_runs.evaluate("llama", tmp_path / "probes.csv", endpoint, out=tmp_path / "run")
        own = {text: count for text, count in behind.answered.items() if "hills" in text}
    assert before < sum(behind.answered.values())
    assert set(own.values()) == {1}
    assert whole.to_dict() == again.to_dict()
    assert whole.to_dict()["results"]["categories"]["c"]["probes"] == 30


def _written(records: Any, path: Path) -> Path:
    from catsofa.data import jsonl

    jsonl.write(records, path)
    return path


def test_a_text_that_had_no_reply_is_asked_for_by_the_next_run(tiny: Tiny, tmp_path: Path) -> None:
    """A failure is no result: the run goes on with what is missing, and then has the whole."""
    data = _written(_grid(30), tmp_path / "probes.jsonl")
    with server(tiny("llama"), lasting={_grid(30)[4].text: "500"}) as (endpoint, behind):
        short = served_runs.evaluate("llama", data, endpoint, out=tmp_path / "run").to_dict()
        assert short["results"]["coverage"] == 29 / 30
        assert sum(short["unscored"].values()) == 1
        behind.behaviour.lasting.clear()
        whole = served_runs.evaluate("llama", data, endpoint, out=tmp_path / "run").to_dict()
    assert whole["results"]["coverage"] == 1
    assert not whole["unscored"]


def test_a_reply_cut_short_by_a_kill_is_asked_for_again(tiny: Tiny, tmp_path: Path) -> None:
    """Half a line at the end of the journal is no reply; the whole ones before it are."""
    journal = tmp_path / "replies.jsonl"
    with server(tiny("llama")) as (endpoint, behind):
        with Replies(journal) as replies:
            first = score(served.connect("llama", endpoint, replies=replies), PROBES, protocols.named("catsofa"))
        journal.write_bytes(journal.read_bytes()[:-40])
        behind.answered.clear()
        with Replies(journal) as replies:
            second = score(served.connect("llama", endpoint, replies=replies), PROBES, protocols.named("catsofa"))
        asked = sum(
            count for text, count in behind.answered.items() if text not in (PLAIN, SCRAMBLED, CONTEXT, f" {AFTER}")
        )
    assert first == second
    assert asked == 1


def test_a_server_out_of_order_is_left_alone(tiny: Tiny) -> None:
    """Ten texts in a row without a reply end the run in one sentence, not thousands of requests."""
    probes = _grid(90)
    lasting = {p.text: "503" for p in probes} | {p.identity: "503" for p in probes}
    with server(tiny("llama"), lasting=lasting) as (endpoint, behind):
        model = served.connect("llama", endpoint)
        asked = len(behind.asked)
        with pytest.raises(ServerRefuses, match="10 requests in a row had no reply"):
            score(model, probes, protocols.named("catsofa"))
    assert len(behind.asked) - asked < 20 * endpoint.attempts


def test_the_key_is_in_no_file(tiny: Tiny, tmp_path: Path) -> None:
    """It was sent, and it stands nowhere: not in replies, scores, manifest or report, though the server repeats it."""
    data = _written(_grid(30), tmp_path / "probes.jsonl")
    with server(tiny("llama"), faults=("429", "500"), share=0.3) as (endpoint, behind):
        report = served_runs.evaluate("llama", data, endpoint, out=tmp_path / "run")
    assert behind.keys == {KEY}
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    assert KEY not in json.dumps(report.to_dict())


def test_a_run_of_another_server_is_not_mixed_in(tiny: Tiny, tmp_path: Path) -> None:
    """The address and the way of asking are part of what the numbers are numbers of."""
    data = _written(PROBES, tmp_path / "probes.jsonl")
    with server(tiny("llama")) as (endpoint, _):
        served_runs.evaluate("llama", data, endpoint, out=tmp_path / "run")
    with server(tiny("llama")) as (endpoint, _), pytest.raises(ValueError, match=r"model\.at: http://127"):
        served_runs.evaluate("llama", data, endpoint, out=tmp_path / "run")


def test_vectors_are_not_to_be_had(shared: Path) -> None:
    """Association tests are refused before anything is asked."""
    with pytest.raises(BadInput, match="a server gives no vectors"):
        served_runs.evaluate("m", shared / "data" / "seat", Endpoint(base_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"choices": []}, "the reply has no choice"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [None]}}]}, "are not as many"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1, None]}}]}, "token 2 is None"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1, "x"]}}]}, "token 2 is 'x'"),
        ({"choices": [{"logprobs": {"tokens": [], "token_logprobs": []}}]}, "no token of the prompt"),
        ({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1, -(10**400)]}}]}, "token 2 is -1000"),
        ({"choices": [{"logprobs": ["a"]}]}, r"no log-probabilities of the prompt \(but list\)"),
        ({"choices": [{"logprobs": {"x" * 2000: 1}}]}, r"^.{0,200}$"),
    ],
)
def test_a_reply_is_text_until_proved_otherwise(reply: dict[str, Any], says: str) -> None:
    """What is no list of tokens with a log-probability each is refused with the reason."""
    with pytest.raises(Unreadable, match=says):
        read(reply, "echo")


@pytest.mark.parametrize(
    ("tokens", "text", "spelled"),
    [
        (("A", "Ġb"), "A b", True),
        (("▁A", "▁b"), "A b", True),
        (("A", "<0x0A>", "b"), "A\nb", True),
        (("A", "<unk>"), "A b", True),
        (("A", " c"), "A b", False),
        (("A",), "A b", False),
    ],
)
def test_tokens_are_compared_with_the_text(tokens: tuple[str, ...], text: str, spelled: bool) -> None:
    """Tokenizers write spaces and bytes in their own ways; other letters are another text."""
    assert Reading(tokens, (-1.0,) * len(tokens)).spells(text) == spelled


def test_what_the_server_wrote_is_not_the_prompt() -> None:
    """The tokens after the prompt are counted by `usage` and left out."""
    reply = {
        "choices": [{"logprobs": {"tokens": ["<s>", "A", " b", "x"], "token_logprobs": [None, -1, -2, -3]}}],
        "usage": {"completion_tokens": 1},
    }
    assert read(reply, "echo and write") == Reading(("<s>", "A", " b"), (None, -1, -2))


def test_replies_are_by_everything_that_was_asked(tmp_path: Path) -> None:
    """Another model or another field is another question."""
    bodies = [{"model": m, "prompt": "a", "max_tokens": n} for m, n in (("m", 0), ("m", 1), ("n", 0))]
    assert len({Request("completions", body).key for body in bodies}) == 3
    with Replies(tmp_path / "r.jsonl") as replies:
        replies.add(Request("completions", bodies[0]), {"choices": [1], "id": "left out"})
    with Replies(tmp_path / "r.jsonl") as replies:
        assert replies[Request("completions", bodies[0])] == {"choices": [1]}
        assert Request("completions", bodies[1]) not in replies
        assert not list(fetch([], Endpoint(base_url="http://127.0.0.1:9/v1"), replies))


def test_stories260k_over_http_scores_stereoset_as_it_does_here(shared: Path, tmp_path: Path) -> None:
    """A real model behind a real server: CATs of both tasks from StereoSet's dev set to 1e-4, and the same measures."""
    folder = shared / "models" / "stories260K"
    cats = list(formats.read(shared / "data" / "stereoset" / "dev.json"))
    some = [*cats[:40], *cats[-40:]]
    expected = _directly(folder, some, score_cats)
    with server(folder) as (endpoint, _):
        found = score(served.connect("stories", endpoint), some, protocols.named("catsofa"))
    differing = [s.item for s in found if (s.score is None) != (expected[s.item, s.task].score is None)]
    assert not differing
    for one in found:
        assert one.score == pytest.approx(expected[one.item, one.task].score, abs=1e-4)


@pytest.mark.slow
def test_the_sofa_grid_over_http(shared: Path) -> None:
    """The 600 probes with stories260K: the SoFa score 0.1546 once more, through a server."""
    oracle = json.loads((shared / "oracles" / "sofa_stories260K_hf_evaluate.json").read_text())
    probes = [
        Probe(category=category, identity=identity, stereotype=stereotype)
        for category, lists in oracle["inputs"].items()
        for stereotype in lists["stereotypes"]
        for identity in lists["identities"]
    ]
    with server(shared / "models" / "stories260K") as (endpoint, _):
        found = score(served.connect("stories", endpoint), probes, protocols.named("catsofa"))
    assert round(sofa.evaluate(probes, found).score.value, 4) == 0.1546


def test_the_measures_are_those_of_a_model_that_runs_here(tiny: Tiny, tmp_path: Path) -> None:
    """The report over HTTP has the numbers of `evaluate`, under a signature that names the server."""
    data = _written(PROBES, tmp_path / "probes.jsonl")
    expected = direct.evaluate(str(tiny("llama")), data, device="cpu").to_dict()["results"]
    with server(tiny("llama")) as (endpoint, _):
        found = served_runs.evaluate("llama", data, endpoint).to_dict()
    assert found["results"]["score"] == pytest.approx(expected["score"], rel=1e-3)
    assert found["signature"]["model"] == f"llama at {endpoint.base_url}"


def test_the_command_line_checks_and_scores(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address may come from the environment; what cannot be scored is one sentence and exit code 2."""
    from tests_support import run_catsofa

    data = _written(PROBES, tmp_path / "probes.jsonl")
    with server(tiny("llama")) as (endpoint, _):
        told = run_catsofa("served", "check", "llama", "--json", OPENAI_BASE_URL=str(endpoint.base_url))
        assert json.loads(told.stdout)["dialect"] == "echo", told.stderr
        told = run_catsofa(
            "served", "score", "llama", "--base-url", str(endpoint.base_url), "--on", str(data), "--json", cwd=tmp_path
        )
        assert json.loads(told.stdout)["results"]["coverage"] == 1, told.stderr
    with server(tiny("llama"), dialect="written") as (endpoint, _):
        told = run_catsofa("served", "check", "llama", "--base-url", str(endpoint.base_url))
    assert told.returncode == 2
    assert told.stderr.startswith("catsofa: llama at http://127.0.0.1")
    assert KEY not in told.stderr + told.stdout


@contextmanager
def _transformers_serve(folder: Path, model: Path) -> Iterator[str]:
    """`transformers serve` on this machine; it loads the model that a request names."""
    (folder / "home/hub").mkdir(parents=True)
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    port = 28_000 + os.getpid() % 2_000
    program = Path(sys.executable).with_name("transformers")
    command = [program, "serve", str(model), "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        for _ in range(300):
            assert process.poll() is None, (folder / "log").read_text()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                    break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_transformers_serve_gives_no_log_probabilities_and_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    """A real server of a real library that writes but does not say how likely a prompt is: refused, with the reason."""
    serve: AbstractContextManager[str] = _transformers_serve(tmp_path, tiny("gpt2"))
    with serve as url, pytest.raises(ValueError, match="cannot be scored by log-probabilities: ") as error:
        served.connect(str(tiny("gpt2")), Endpoint(base_url=url, attempts=2, timeout=60))
    print(error.value)  # noqa: T201 - the reason is worth seeing when this test is run by hand
