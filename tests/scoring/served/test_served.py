import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.served_models import CATS, KEY, PAIRS, PROBES, directly, server, written
from helpers.servers.transformers_server import serving

from catsofa.data import formats
from catsofa.data.records import Probe
from catsofa.data.servers.endpoints import Endpoint, ServerRefuses
from catsofa.scoring import models, protocols, served
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.executors.texts import Served
from catsofa.scoring.items.score import score as score_records
from catsofa.scoring.likelihood.backend import Backend
from catsofa.scoring.measures import sofa
from catsofa.scoring.served import PLAIN
from catsofa.scoring.served.scores import score

Tiny = Callable[[str], Path]

pytestmark = pytest.mark.usefixtures("key")


@pytest.mark.parametrize("records", [CATS, PAIRS, PROBES])
@pytest.mark.parametrize("dialect", ["echo", "prompt_logprobs"])
def test_a_served_model_scores_as_it_does_here(tiny: Tiny, records: Any, dialect: str) -> None:
    """Every score of CATs, pairs and probes over HTTP equals that of the same model run directly, to 1e-4."""
    expected = directly(tiny("llama"), records)
    with server(tiny("llama"), dialect=dialect) as (endpoint, _):
        model = served.connect("llama", endpoint)
        assert (model.capability.dialect, model.capability.leading) == (dialect, 1)
        scores = score(model, records, protocols.named("catsofa"))
    assert {(s.item, s.task) for s in scores} == set(expected)
    for one in scores:
        same = expected[one.item, one.task]
        assert one.score == pytest.approx(same.score, abs=1e-4)
        assert one.tokens == same.tokens
        for part in ("identity", "conditional"):
            assert one.extra.get(part) == pytest.approx(same.extra.get(part), abs=1e-4)


def test_a_start_token_is_written_where_the_server_adds_none(tiny: Tiny) -> None:
    """GPT-2's server adds no start token: without one it is refused, and with one the scores equal direct scoring."""
    expected = directly(tiny("gpt2"), CATS)
    with server(tiny("gpt2"), adds_start=False) as (endpoint, _):
        without = served.connect("gpt2", endpoint)
        assert without.capability.leading == 0
        with pytest.raises(ValueError, match="first token no probability"):
            score(without, CATS, protocols.named("catsofa"))
        model = served.connect("gpt2", endpoint, start="<|endoftext|>")
        assert model.capability.leading == 1
        scores = score(model, CATS, protocols.named("catsofa"))
        with pytest.raises(ValueError, match=r"'<x>'.*no start token"):
            served.connect("gpt2", endpoint, start="<x>")
    for one in scores:
        assert one.score == pytest.approx(expected[one.item, one.task].score, abs=1e-4)


def test_without_its_first_token_a_text_needs_no_start(tiny: Tiny) -> None:
    """A protocol that skips the first token works only with a server that adds no start token."""
    skip = protocols.Protocol(name="skip", first_token="skip")
    with server(tiny("gpt2"), adds_start=False) as (endpoint, _):
        scores = score(served.connect("gpt2", endpoint), CATS[:1], skip)
    expected = score_records(Backend(models.load(str(tiny("gpt2")), device="cpu")), CATS[:1], skip)
    assert [s.score for s in scores] == pytest.approx([s.score for s in expected], abs=1e-4)
    with server(tiny("llama")) as (endpoint, _), pytest.raises(ValueError, match="one before each"):
        score(served.connect("llama", endpoint), CATS[:1], skip)


@pytest.mark.parametrize(("name", "records"), [("stereoset-code", CATS), ("aul", PAIRS)])
def test_a_protocol_that_no_server_can_follow_is_refused(tiny: Tiny, name: str, records: list[Any]) -> None:
    """A protocol with a separate pass for the first token, or a measure of masked models, is refused."""
    with server(tiny("llama")) as (endpoint, _):
        model = served.connect("llama", endpoint)
        with pytest.raises(ValueError, match=r"its own|masked models"):
            score(model, records, protocols.named(name))


@pytest.mark.parametrize(
    ("dialect", "reason"),
    [
        ("none", "the reply has no log-probabilities"),
        ("written", r"no log-probabilities of the prompt \(but 'content'\)"),
        ("constant", "every log-probability is the same number"),
        ("zero", "every log-probability is the same number"),
        ("unigram", "does not depend on the tokens before it"),
        ("chat only", "http_404"),
    ],
)
def test_a_server_that_cannot_score_prompts_is_refused_with_the_reason(tiny: Tiny, dialect: str, reason: str) -> None:
    """A server is refused if log-probabilities are missing, are those of the generated text, are constant, or ignore
    the context."""
    says = f"cannot be scored by log-probabilities: .*{reason}"
    with server(tiny("llama"), dialect=dialect) as (endpoint, _), pytest.raises(ValueError, match=says) as error:
        served.connect("llama", endpoint)
    assert KEY not in str(error.value)


def test_a_server_that_changes_its_mind_is_refused(tiny: Tiny) -> None:
    """Two answers to one question that differ by more than 0.1 nats in a token are refused. An open bug of a cache
    causes such answers."""
    with (
        server(tiny("llama"), drifts=1.0) as (endpoint, _),
        pytest.raises(ValueError, match=r"differ.*\d\.\d\d nats"),
    ):
        served.connect("llama", endpoint)
    with server(tiny("llama"), drifts=0.01) as (endpoint, _):
        assert 0 < served.connect("llama", endpoint).capability.drift < 0.1


def test_nobody_at_the_address_is_one_sentence() -> None:
    """A refused connection is retried a few times, then reported in one error."""
    endpoint = Endpoint(base_url="http://127.0.0.1:9/v1", attempts=2, backoff=0.01)
    with pytest.raises(ValueError, match=r"log-probabilities.*echo.*unreachable"):
        served.connect("m", endpoint)


def test_a_wrong_key_stops_at_once(tiny: Tiny) -> None:
    """A 401 is not retried, and the error hides the key that the server repeats."""
    with server(tiny("llama"), lasting={PLAIN: "401"}) as (endpoint, behind), pytest.raises(ServerRefuses) as error:
        served.connect("llama", endpoint)
    assert len(behind.asked) == 1
    assert KEY not in str(error.value)


def test_stories260k_over_http_scores_stereoset_as_it_does_here(shared: Path, tmp_path: Path) -> None:
    """A real model behind a real server scores CATs of both tasks from StereoSet's dev set to 1e-4."""
    folder = shared / "models" / "stories260K"
    cats = list(formats.read(shared / "data" / "stereoset" / "dev.json"))
    some = [*cats[:40], *cats[-40:]]
    expected = directly(folder, some)
    with server(folder) as (endpoint, _):
        scores = score(served.connect("stories", endpoint), some, protocols.named("catsofa"))
    differing = [s.item for s in scores if (s.score is None) != (expected[s.item, s.task].score is None)]
    assert not differing
    for one in scores:
        assert one.score == pytest.approx(expected[one.item, one.task].score, abs=1e-4)


@pytest.mark.slow
def test_the_sofa_grid_over_http(shared: Path) -> None:
    """The 600 probes with stories260K give the SoFa score 0.1546 through a server too."""
    oracle = json.loads((shared / "oracles" / "sofa_stories260K_hf_evaluate.json").read_text())
    probes = [
        Probe(category=category, identity=identity, stereotype=stereotype)
        for category, lists in oracle["inputs"].items()
        for stereotype in lists["stereotypes"]
        for identity in lists["identities"]
    ]
    with server(shared / "models" / "stories260K") as (endpoint, _):
        scores = score(served.connect("stories", endpoint), probes, protocols.named("catsofa"))
    assert round(sofa.results(probes, scores).score.value, 4) == 0.1546


def test_the_measures_are_those_of_a_model_that_runs_here(tiny: Tiny, tmp_path: Path) -> None:
    """The report over HTTP has the numbers of `evaluate`, and its signature names the server."""
    data = written(PROBES, tmp_path / "probes.jsonl")
    expected = evaluate(str(tiny("llama")), data, device="cpu").to_dict()["results"]
    with server(tiny("llama")) as (endpoint, _):
        report = evaluate("llama", data, executor=Served(endpoint)).to_dict()
    assert report["results"]["score"] == pytest.approx(expected["score"], rel=1e-3)
    assert report["signature"]["model"] == f"llama at {endpoint.base_url}"


def test_the_command_line_checks_and_scores(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address may come from the environment. A server that cannot score gives one error and exit code 2."""
    from helpers.commands import run_catsofa

    data = written(PROBES, tmp_path / "probes.jsonl")
    with server(tiny("llama")) as (endpoint, _):
        result = run_catsofa("served", "check", "llama", "--json", OPENAI_BASE_URL=str(endpoint.base_url))
        assert json.loads(result.stdout)["dialect"] == "echo", result.stderr
        result = run_catsofa(
            "served", "score", "llama", "--base-url", str(endpoint.base_url), "--on", str(data), "--json", cwd=tmp_path
        )
        assert json.loads(result.stdout)["results"]["coverage"] == 1, result.stderr
    with server(tiny("llama"), dialect="written") as (endpoint, _):
        result = run_catsofa("served", "check", "llama", "--base-url", str(endpoint.base_url))
    assert result.returncode == 2
    assert result.stderr.startswith("catsofa: llama at http://127.0.0.1")
    assert KEY not in result.stderr + result.stdout


@pytest.mark.slow
def test_transformers_serve_gives_no_log_probabilities_and_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    """A real server of a real library that generates text but gives no log-probabilities of a prompt is refused with
    the reason."""
    with (
        serving(tiny("gpt2"), tmp_path) as url,
        pytest.raises(ValueError, match=r"cannot.*log-probabilities") as error,
    ):
        served.connect(str(tiny("gpt2")), Endpoint(base_url=url, attempts=2, timeout=60))
    print(error.value)  # noqa: T201 - the reason is worth seeing when this test is run by hand
