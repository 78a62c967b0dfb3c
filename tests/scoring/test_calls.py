"""Tests that the functions of `catsofa` give the numbers of the commands, and take models in memory."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.choice_runs import pairs, run
from helpers.records import PAIRS, PROBES, cats
from typer.testing import CliRunner

import catsofa
from catsofa.cli import app
from catsofa.data.files import jsonl
from catsofa.scoring.evaluate import evaluate

Tiny = Callable[[str], Path]
CHAT = (
    "{% for m in messages %}<|endoftext|>{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def printed(*arguments: object) -> Any:
    """Returns the JSON that a command prints."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def same(found: Any, shown: Any) -> bool:
    """Returns True if a result equals the output of a command, with unknown numbers as null."""
    from catsofa.data.files.json_files import finite

    return bool(json.loads(json.dumps(finite(found.to_dict()))) == shown)


def test_compare_is_the_command(tiny: Tiny, files: Path) -> None:
    """`compare` equals its command on two runs of `score` on CATs."""
    runs = [files / name for name in ("gpt2", "llama")]
    for folder in runs:
        evaluate(tiny(folder.name), files / "cats.jsonl", out=folder, resamples=20)
    assert same(catsofa.compare(runs), printed("compare", *runs))


def test_runs_of_choose_are_compared_on_the_data_that_they_name(tmp_path: Path) -> None:
    """Runs of `choose` are compared alike with and without `on`."""
    (tmp_path / "b").mkdir()
    one = run(tmp_path / "a", pairs(8), lambda item, order: "stereotype")
    other = run(tmp_path / "b" / "c", pairs(8), lambda item, order: ("stereotype", "anti-stereotype")[item.id < "p4"])
    comparison = catsofa.compare([one, other])
    assert comparison.to_dict() == catsofa.compare([one, other], tmp_path / "data.jsonl").to_dict()
    assert same(comparison, printed("compare", one, other))


def test_robustness_is_the_command(tiny: Tiny, files: Path) -> None:
    """`robustness` equals its command on a run on CATs and a run on the same CATs in other words."""
    reworded = [replace(cat, id=cat.id, context=cat.context.replace("The ", "That ")) for cat in cats()]
    jsonl.write(reworded, files / "reworded.jsonl")
    for name in ("cats", "reworded"):
        evaluate(tiny("gpt2"), files / f"{name}.jsonl", out=files / "runs" / name, resamples=20)
    runs = [files / "runs" / name for name in ("cats", "reworded")]
    comparison = catsofa.robustness(runs[:1], runs[1:])
    assert same(comparison, printed("robustness", "--original", runs[0], "--paraphrase", runs[1]))


def test_choose_is_the_command_and_takes_a_network_in_memory(tiny: Tiny, tmp_path: Path) -> None:
    """A tiny chat model gives the same choices by its folder, as `(model, tokenizer)` and on the command line."""
    import transformers

    folder = tmp_path / "chatty"
    shutil.copytree(tiny("qwen2"), folder)
    (folder / "chat_template.jinja").write_text(CHAT)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 512}))
    jsonl.write(pairs(4), tmp_path / "pairs.jsonl")
    shown = printed("choose", folder, "--on", tmp_path / "pairs.jsonl", "--answer-tokens", 4)
    assert same(catsofa.choose(folder, tmp_path / "pairs.jsonl", answer_tokens=4), shown)
    pair = (
        transformers.AutoModelForCausalLM.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    )
    held = catsofa.choose(pair, tmp_path / "pairs.jsonl", answer_tokens=4)
    assert same(held, shown)
    assert len(held.items()) == 4
    catsofa.choose(pair, pairs(4), answer_tokens=4, out=tmp_path / "run")  # the folder contains data in memory
    assert set(catsofa.items(tmp_path / "run")["id"]) == {record.id for record in pairs(4)}
    with pytest.raises(ValueError, match="dtype cannot change it"):
        catsofa.choose(pair, tmp_path / "pairs.jsonl", dtype="bfloat16")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Lets torch compute in one thread, since several round differently on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("function", [catsofa.multiverse, catsofa.contamination])
def test_a_network_in_memory_gives_the_numbers_of_its_folder(function: Callable[..., Any], tiny: Tiny) -> None:
    """A network with its tokenizer and a pipeline give the same result as their folder; a function is refused."""
    import transformers

    how = {"resamples": 10} if function is catsofa.multiverse else {}
    pipeline = transformers.pipeline("text-generation", model=str(tiny("gpt2")))
    expected = function(tiny("gpt2"), PAIRS, **how).to_dict()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny("gpt2"))  # that of the pipeline pads on the left
    for model in (pipeline, (pipeline.model, tokenizer)):
        assert str(function(model, PAIRS, **how).to_dict()) == str(expected)
    with pytest.raises(ValueError, match="found <lambda> as the model; expected a folder"):
        function(lambda text: -1.0, PAIRS, **how)
    with pytest.raises(ValueError, match="loaded already; dtype cannot change it"):
        function((pipeline.model, tokenizer), PAIRS, dtype="float64", **how)


def test_several_networks_in_memory_are_one_multiverse(tiny: Tiny) -> None:
    """Networks in a list have the same cells as their folders."""
    import transformers

    folders = [tiny(name) for name in ("gpt2", "llama")]
    pairs = [
        (transformers.AutoModelForCausalLM.from_pretrained(each), transformers.AutoTokenizer.from_pretrained(each))
        for each in folders
    ]
    held, named = (catsofa.multiverse(models, PAIRS, resamples=10) for models in (pairs, folders))
    assert str(held.to_dict()) == str(named.to_dict())
    with pytest.raises(ValueError, match="no model; expected one or more"):
        catsofa.multiverse([], PAIRS)
    with pytest.raises(ValueError, match="one network twice"):
        catsofa.multiverse([pairs[0], (*pairs[0],)], PAIRS)


@pytest.mark.parametrize(
    ("data", "how", "said"),
    [
        ([*PAIRS, *PROBES], {}, "found pairs and probes; expected records of one kind"),
        (PAIRS, {"references": "gpt2"}, "found 'gpt2' as references; expected a list"),
        (PAIRS, {"references": None}, "found None as references; expected a list"),
        (cats(), {"paraphrases": "partition_1.jsonl"}, "found 'partition_1.jsonl' as paraphrases; expected a list"),
    ],
)
def test_contamination_refuses_mixed_data_and_what_is_no_list(data: Any, how: Any, said: str, tiny: Tiny) -> None:
    """Records of two kinds are refused, and one name where a list of references or paraphrases is expected."""
    with pytest.raises(ValueError, match=said):
        catsofa.contamination(tiny("gpt2"), data, **how)


@pytest.mark.parametrize("function", [catsofa.compare, catsofa.examine, catsofa.items])
def test_what_is_no_path_of_a_run_is_refused(function: Callable[..., Any], tmp_path: Path) -> None:
    """A report in memory is refused with what to give instead; a single path is a path, not a list of letters."""
    report = evaluate(lambda text: -float(len(text)), PAIRS, resamples=10)
    for given in (report, [report]):
        with pytest.raises(ValueError, match="found a Report; expected the path of a run"):
            function(given)
    with pytest.raises(ValueError, match=r"found one|found 1 model|no such file"):
        function(str(tmp_path / "nothing"))
