"""`catsofa.compare`, `robustness` and `choose` are the commands: the same numbers."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.choice_runs import pairs, run
from helpers.records import cats
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
    """What a command prints with --json."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def same(found: Any, shown: Any) -> bool:
    """Whether a result is what a command printed, unknown numbers as null."""
    from catsofa.data.files.json_files import finite

    return bool(json.loads(json.dumps(finite(found.to_dict()))) == shown)


def test_compare_is_the_command(tiny: Tiny, files: Path) -> None:
    """Two runs of score on CATs."""
    runs = [files / name for name in ("gpt2", "llama")]
    for folder in runs:
        evaluate(tiny(folder.name), files / "cats.jsonl", out=folder, resamples=20)
    assert same(catsofa.compare(runs), printed("compare", *runs))


def test_runs_of_choose_are_compared_on_the_data_that_they_name(tmp_path: Path) -> None:
    """With and without `on`."""
    (tmp_path / "b").mkdir()
    one = run(tmp_path / "a", pairs(8), lambda item, order: "stereotype")
    other = run(tmp_path / "b" / "c", pairs(8), lambda item, order: ("stereotype", "anti-stereotype")[item.id < "p4"])
    found = catsofa.compare([one, other])
    assert found.to_dict() == catsofa.compare([one, other], tmp_path / "data.jsonl").to_dict()
    assert same(found, printed("compare", one, other))


def test_robustness_is_the_command(tiny: Tiny, files: Path) -> None:
    """A run on CATs, and one on the same CATs in other words."""
    reworded = [replace(cat, id=cat.id, context=cat.context.replace("The ", "That ")) for cat in cats()]
    jsonl.write(reworded, files / "reworded.jsonl")
    for name in ("cats", "reworded"):
        evaluate(tiny("gpt2"), files / f"{name}.jsonl", out=files / "runs" / name, resamples=20)
    runs = [files / "runs" / name for name in ("cats", "reworded")]
    found = catsofa.robustness(runs[:1], runs[1:])
    assert same(found, printed("robustness", "--original", runs[0], "--paraphrase", runs[1]))


def test_choose_is_the_command_and_takes_a_network_in_memory(tiny: Tiny, tmp_path: Path) -> None:
    """A tiny chat model by its folder, as `(model, tokenizer)`, and on the command line."""
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
    with pytest.raises(ValueError, match="with dtype"):
        catsofa.choose(pair, tmp_path / "pairs.jsonl", dtype="bfloat16")
