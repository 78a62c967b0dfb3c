"""Tests that one model has one hash and one data set has one hash in every command."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from helpers.records import PAIRS, PROBES, TEST, a_cat, cats, said

from catsofa.data import formats, sources
from catsofa.data.content import content_at, content_of
from catsofa.report import document
from catsofa.scoring.dataset import open_data, read_named
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.models import files as files_of_models
from catsofa.scoring.models.files import digest_of
from catsofa.scoring.signature import differences, name_of

Tiny = Callable[[str], Path]
Command = Callable[..., tuple[str, str]]
HASH = r"@([0-9a-f]{12})\b"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Writes CATs, and the same CATs in other words, to files and returns their folder."""
    records = cats()
    formats.named("jsonl").write(records, tmp_path / "cats.jsonl")
    formats.named("stereoset").write(records, tmp_path / "cats.json")
    turned = [replace(cat, context=cat.context.replace("The ", "Every ")) for cat in records]
    formats.named("jsonl").write(turned, tmp_path / "paraphrased.jsonl")
    return tmp_path


def test_a_file_its_conversion_and_a_list_of_its_records_are_the_same_data(files: Path) -> None:
    """The hash covers the records: another format, another order and a list have the same hash."""
    records = cats()
    digests = {
        open_data(source).digest for source in (files / "cats.jsonl", files / "cats.json", records, records[::-1])
    }
    assert len(digests) == 1
    assert digests == {f"records:{content_of(records).digest}"}
    assert read_named(files / "cats.json")[0] == open_data(files / "cats.json").name


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"target": "quib"},
        {"bias_type": "other"},
        {"context": "A zorb was BLANK."},
        {"language": "de"},
        {"candidates": a_cat(stereotype="slow").candidates},
        {"candidates": a_cat(stereotype="early", anti="late").candidates},
    ],
)
def test_every_field_that_a_score_or_a_measure_depends_on_changes_the_hash(change: dict[str, Any]) -> None:
    """An id, a target, a domain, a text, a language, a filler and a label change the hash."""
    assert content_of([replace(a_cat(), **change)]) != content_of([a_cat()])


def test_votes_and_provenance_do_not_change_the_hash_and_a_repeat_does() -> None:
    """Votes and sources do not enter the hash, because scores do not depend on them; a repeated item counts twice."""
    voted = a_cat(votes={"stereotype": said("one", "stereotype")}, source={"file": "f"}, extra={"note": 1})
    assert content_of([voted]) == content_of([a_cat()])
    assert content_of([voted, voted]) != content_of([a_cat()])
    assert len({content_of([record]).digest for record in (*PAIRS, *PROBES, TEST)}) == len([*PAIRS, *PROBES, TEST])


def test_the_order_of_candidates_changes_the_hash() -> None:
    """Ties against a label depend on which candidate is listed first."""
    assert content_of([replace(a_cat(), candidates=a_cat().candidates[::-1])]) != content_of([a_cat()])


READ_BY_TOKENIZERS = (
    "vocab.txt", "merges.txt", "dict.txt", "bpe.codes", "source.spm", "target.spm", "prophetnet.tokenizer",
    "qwen.tiktoken", "spiece.model", "vocab.json", "emoji.json", "chat_template.jinja", "tokenization_zorb.py",
)  # fmt: skip
"""Names of files that tokenizers of transformers load, and of templates and code."""
NOT_READ = (
    "LICENSE", "LICENSE.txt", "requirements.txt", "README.md", ".gitattributes", "logo.PNG", "optimizer.pt",
    "optimizer.bin", "optimizer.safetensors", "scheduler.pt", "rng_state.pth", "events.out.tfevents.1", "tf_model.h5",
    "flax_model.msgpack", "model.onnx", "model.gguf", "pytorch_model.bin", "pytorch_model-00001-of-00002.bin",
    "pytorch_model.bin.index.json", "model.safetensors.sha256", "config.json~",
)  # fmt: skip
"""Notes, training states, and weights in other formats than the safetensors beside them."""


def test_every_file_that_decides_a_score_enters_the_hash_of_a_model(tiny: Tiny, tmp_path: Path) -> None:
    """Any change in a tokenizer file changes the hash; notes and weights that are not loaded do not."""
    model = shutil.copytree(tiny("gpt2"), tmp_path / "model")
    before = digest_of(model)
    for name in NOT_READ:
        (model / name).write_text("zorb")
        assert digest_of(model) == before, name
    for name in READ_BY_TOKENIZERS:
        for text in ("zorb", "zorbs"):
            (model / name).write_text(text)
            assert digest_of(model) != before, name
            before = digest_of(model)


@pytest.mark.parametrize("name", ["w/one.safetensors", "1_Pooling/config.json", "zorb/deep/modeling.py"])
def test_a_file_below_a_folder_of_the_model_enters_its_hash(tmp_path: Path, name: str) -> None:
    """Shards, modules and packages of code enter the hash, also through hub links; copies do not."""
    model, blob = tmp_path / "model", tmp_path / "blob"
    file = model / name
    file.parent.mkdir(parents=True)
    (model / "config.json").write_text("{}")
    file.symlink_to(blob)
    hashes = set()
    for text in ("zorb", "zorbs"):
        blob.write_text(text)
        hashes.add(digest_of(model))
    for other in ("checkpoint-10/config.json", ".cache/config.json", "__pycache__/zorb.pyc"):
        (model / other).parent.mkdir()
        (model / other).write_text("{}")
    (model / "up").symlink_to(model)
    assert len(hashes) == 2
    assert digest_of(model) in hashes


def test_weights_enter_the_hash_in_the_format_that_is_loaded(tmp_path: Path) -> None:
    """Without safetensors, pickled weights enter the hash."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"zorb")
    before = digest_of(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"quib")
    assert digest_of(tmp_path) != before


@pytest.mark.parametrize("beside", ["model.fp16.safetensors", "model_old.safetensors", "zorb/model.safetensors"])
def test_pickled_weights_count_beside_safetensors_that_are_not_loaded(tmp_path: Path, beside: str) -> None:
    """transformers loads only `model.safetensors` and its index."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "zorb").mkdir()
    (tmp_path / beside).write_bytes(b"other")
    (tmp_path / "pytorch_model.bin").write_bytes(b"zorb")
    before = digest_of(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"quib")
    assert digest_of(tmp_path) != before


@pytest.mark.parametrize("shard", ["pytorch_model-1.bin", "zorb.pt", "checkpoint-1/w.safetensors", ".zorb/w.bin"])
@pytest.mark.parametrize("by", ["index", "configuration"])
def test_every_file_of_weights_that_a_model_names_enters_its_hash(tmp_path: Path, shard: str, by: str) -> None:
    """An index, or `transformers_weights` in the configuration, may name any file below the folder."""
    (tmp_path / shard).parent.mkdir(exist_ok=True)
    (tmp_path / "checkpoint-1").mkdir(exist_ok=True)
    (tmp_path / "checkpoint-1" / "config.json").write_text("{}")
    named = {"transformers_weights": shard} if by == "configuration" else {}
    (tmp_path / "config.json").write_text(json.dumps(named))
    (tmp_path / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": {"w": "own.bin" if named else shard}})
    )
    (tmp_path / shard).write_bytes(b"zorb")
    before = digest_of(tmp_path)
    (tmp_path / shard).write_bytes(b"quib")
    assert digest_of(tmp_path) != before


def test_every_file_beside_code_that_is_run_enters_the_hash(tmp_path: Path) -> None:
    """Code of the model may load a table of any name; without the code the table does not enter the hash."""
    (tmp_path / "config.json").write_text(json.dumps({"auto_map": {"AutoModel": "modeling_zorb.Zorb"}}))
    (tmp_path / "modeling_zorb.py").write_text("")
    digests = []
    for text in ("zorb", "quib"):
        (tmp_path / "table.npz").write_text(text)
        digests.append([digest_of(tmp_path, runs_code=runs) for runs in (True, False)])
    assert digests[0][0] != digests[1][0]
    assert digests[0][1] == digests[1][1]


def test_code_of_another_repository_is_named_by_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code comes from one repository, at the commit that the identity of the model names."""
    requests = []

    def on_hub(name: str) -> files_of_models.Source:
        requests.append(name)
        return files_of_models.Source(name, name, "c0ffee")

    monkeypatch.setattr(files_of_models, "find", on_hub)
    source = files_of_models.Source("model", str(tmp_path))
    classes = {"AutoConfig": "zorbs/code--configuration.Zorb", "AutoModel": "zorbs/code--modeling.Zorb"}
    (tmp_path / "config.json").write_text(json.dumps({"auto_map": classes}))
    code = source.code()
    assert code is not None
    assert (requests, code.revision) == (["zorbs/code"], "c0ffee")
    tokenizer = {"auto_map": {"AutoTokenizer": ["tokenization.Zorb", None]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ValueError, match="model and zorbs/code"):
        source.code()
    (tmp_path / "config.json").write_text("{}")
    assert source.code() is None


def test_the_hash_of_an_ordinary_model_is_that_of_earlier_versions(tmp_path: Path) -> None:
    """The hash is the SHA-256 of one line per file (its name and its SHA-256), in the order of the names."""
    contents = {"config.json": "{}", "merges.txt": "z o", "model.safetensors": "w", "tokenizer.json": "{}"}
    lines = (f"{name} {sha256(text.encode()).hexdigest()}\n" for name, text in contents.items())
    for name, text in {**contents, "README.md": "notes", "training.log": "x"}.items():
        (tmp_path / name).write_text(text)
    assert digest_of(tmp_path) == f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"


def test_a_file_is_hashed_again_only_after_it_changed(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call does not read the file; a changed file is read again."""
    first = content_at(files / "cats.jsonl")
    original = sources.read
    monkeypatch.setattr(sources, "read", lambda on: pytest.fail("read again"))
    assert content_at(files / "cats.jsonl") == first
    monkeypatch.setattr(sources, "read", original)
    formats.named("jsonl").write(cats()[1:], files / "cats.jsonl")
    assert content_at(files / "cats.jsonl").records == first.records - 1


def test_the_released_set_is_the_same_data_in_every_format(shared: Path, tmp_path: Path) -> None:
    """StereoSet's dev set, its JSONL conversion, the conversion back and the list of records have the same hash."""
    released = shared / "data" / "stereoset" / "dev.json"
    formats.convert(released, tmp_path / "dev.jsonl")
    formats.convert(tmp_path / "dev.jsonl", tmp_path / "again.json", target_format="stereoset")
    contents = {content_at(path) for path in (released, tmp_path / "dev.jsonl", tmp_path / "again.json")}
    assert contents == {content_of(list(sources.read(released)))}


def test_numbers_on_the_same_records_are_comparable_whatever_their_file_is_called(tiny: Tiny, files: Path) -> None:
    """The names differ, the hashes do not; a limit identifies the records that it selects."""
    model = str(tiny("gpt2"))
    one, other = (evaluate(model, path, resamples=0).signature for path in (files / "cats.jsonl", files / "cats.json"))
    assert one.data != other.data
    assert differences(one, other) == []
    same = evaluate(model, cats(), resamples=0).signature
    assert differences(one, same) == []
    first, last = (evaluate(model, some, limit=1, resamples=0).signature for some in (cats(), cats()[::-1]))
    assert [line.partition(":")[0] for line in differences(first, last)] == ["subset"]


def test_a_model_has_one_hash_in_every_command(tiny: Tiny, files: Path, catsofa: Command) -> None:
    """`score`, its rescored run, `compare`, `robustness`, `report` and SEAT give the model the same name."""
    model, other = tiny("gpt2"), tiny("llama")
    for name, file in (("original", "cats.jsonl"), ("reworded", "paraphrased.jsonl")):
        catsofa("score", model, "--on", files / file, "--out", files / name, "--quiet")
    catsofa("score", other, "--on", files / "cats.json", "--out", files / "other", "--quiet")
    signature = json.loads((files / "original" / "report.json").read_text())["signature"]
    label = signature["model"]
    assert re.fullmatch(r"gpt2@[0-9a-f]{12}", label), label
    again = ("score", "--predictions", files / "original", "--on", files / "cats.json", "--json")
    assert json.loads(catsofa(*again)[0])["signature"] == signature | {
        "data": open_data(files / "cats.json").name,
        "line": signature["line"].replace("cats.jsonl@", "cats.json@"),
    }
    compared = json.loads(catsofa("compare", files / "original", files / "other", "--json")[0])
    assert compared["first"] == label
    assert compared["signature"]["model"].split()[0] == label
    assert compared["signature"]["dtype"] == "float32"
    robust = json.loads(
        catsofa("robustness", "--original", files / "original", "--paraphrase", files / "reworded", "--json")[0]
    )
    assert (robust["signature"]["model"], robust["signature"]["dtype"]) == (label, "float32")
    shown = document([files / "original"], paraphrases=[files / "reworded"])
    named = set(re.findall(r"gpt2@\w+", str(shown)))
    assert named == {label}
    assert evaluate(str(model), [TEST]).signature.model.startswith(f"{label} kind=transformers ")


def test_robustness_names_one_model_and_two_data_sets(tiny: Tiny, files: Path, catsofa: Command) -> None:
    """The heading names one model and two data sets; runs of two models are refused."""
    for name, model, file in (
        ("a", "gpt2", "cats.jsonl"),
        ("b", "gpt2", "paraphrased.jsonl"),
        ("c", "llama", "paraphrased.jsonl"),
    ):
        catsofa("score", tiny(model), "--on", files / file, "--out", files / name, "--quiet")
    output = catsofa("robustness", "--original", files / "a", "--paraphrase", files / "b")[0]
    heading = output.splitlines()[0]
    assert re.fullmatch(rf"gpt2{HASH}: cats\.jsonl{HASH} → paraphrased\.jsonl{HASH}", heading), heading
    assert "were not scored alike" in catsofa("robustness", "--original", files / "a", "--paraphrase", files / "c")[1]


def test_a_file_of_scores_is_named_as_what_it_is(tiny: Tiny, files: Path, catsofa: Command) -> None:
    """A file of scores is named as predictions, because its bytes do not identify a model."""
    catsofa("score", tiny("gpt2"), "--on", files / "cats.jsonl", "--out", files / "run", "--quiet")
    catsofa("export", files / "run", "--out", files / "scores.json")
    result = json.loads(
        catsofa("score", "--predictions", files / "scores.json", "--on", files / "cats.json", "--json")[0]
    )
    assert result["signature"]["model"] == f"predictions:{name_of(files / 'scores.json')}"


def test_two_runs_of_one_model_are_told_apart_by_their_options(tiny: Tiny, files: Path, catsofa: Command) -> None:
    """Runs in float32 and bfloat16 have one hash, and their names show the option that differs."""
    for dtype in ("float32", "bfloat16"):
        catsofa(
            "score", tiny("gpt2"), "--on", files / "cats.jsonl", "--out", files / dtype, "--dtype", dtype, "--quiet"
        )
    comparison = json.loads(catsofa("compare", files / "float32", files / "bfloat16", "--json")[0])
    models = [comparison["first"], *comparison["disagreement"]]
    assert [model.partition(" ")[2] for model in models] == ["dtype=float32", "dtype=bfloat16"]
    assert len({model.partition(" ")[0] for model in models}) == 1
