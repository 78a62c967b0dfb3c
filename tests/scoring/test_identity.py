"""One model has one hash and one data set has one hash, whichever command names them."""

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
    """CATs, and the same with other words, in files."""
    given = cats()
    formats.named("jsonl").write(given, tmp_path / "cats.jsonl")
    formats.named("stereoset").write(given, tmp_path / "cats.json")
    turned = [replace(cat, context=cat.context.replace("The ", "Every ")) for cat in given]
    formats.named("jsonl").write(turned, tmp_path / "paraphrased.jsonl")
    return tmp_path


def test_a_file_its_conversion_and_a_list_of_its_records_are_the_same_data(files: Path) -> None:
    """The hash is of the records: another format, another order and a list have the same one."""
    given = cats()
    digests = {open_data(on).digest for on in (files / "cats.jsonl", files / "cats.json", given, given[::-1])}
    assert len(digests) == 1
    assert digests == {f"records:{content_of(given).digest}"}
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
    """An id, a domain, a text, a language, a fill and a label."""
    assert content_of([replace(a_cat(), **change)]) != content_of([a_cat()])


def test_votes_and_provenance_do_not_change_the_hash_and_a_repeat_does() -> None:
    """Nobody's score depends on who voted; an item that is there twice counts twice."""
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
"""Names by which tokenizers of transformers find their files, and templates and code."""
NOT_READ = (
    "LICENSE", "LICENSE.txt", "requirements.txt", "README.md", ".gitattributes", "logo.PNG", "optimizer.pt",
    "optimizer.bin", "optimizer.safetensors", "scheduler.pt", "rng_state.pth", "events.out.tfevents.1", "tf_model.h5",
    "flax_model.msgpack", "model.onnx", "model.gguf", "pytorch_model.bin", "pytorch_model-00001-of-00002.bin",
    "pytorch_model.bin.index.json", "model.safetensors.sha256", "config.json~",
)  # fmt: skip
"""Notes, states of a training, and weights of other formats than the safetensors beside them."""


def test_every_file_that_decides_a_score_enters_the_hash_of_a_model(tiny: Tiny, tmp_path: Path) -> None:
    """A byte more in any file of a tokenizer gives another hash; notes and weights that are not loaded do not."""
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
    """A shard, a later module and a sub-package of code, also through the links of a hub snapshot; copies do not."""
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
    """Without safetensors, pickled weights are the model."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"zorb")
    before = digest_of(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"quib")
    assert digest_of(tmp_path) != before


@pytest.mark.parametrize("beside", ["model.fp16.safetensors", "model_old.safetensors", "zorb/model.safetensors"])
def test_pickled_weights_count_beside_safetensors_that_are_not_loaded(tmp_path: Path, beside: str) -> None:
    """transformers looks for `model.safetensors` and its index alone."""
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
    """Code of the model may read a table of any name; without its code the table is a note."""
    (tmp_path / "config.json").write_text(json.dumps({"auto_map": {"AutoModel": "modeling_zorb.Zorb"}}))
    (tmp_path / "modeling_zorb.py").write_text("")
    digests = []
    for text in ("zorb", "quib"):
        (tmp_path / "table.npz").write_text(text)
        digests.append([digest_of(tmp_path, runs_code=runs) for runs in (True, False)])
    assert digests[0][0] != digests[1][0]
    assert digests[0][1] == digests[1][1]


def test_code_of_another_repository_is_named_by_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is read from one repository, at the commit that the identity of the model names."""
    asked = []

    def on_hub(name: str) -> files_of_models.Source:
        asked.append(name)
        return files_of_models.Source(name, name, "c0ffee")

    monkeypatch.setattr(files_of_models, "find", on_hub)
    source = files_of_models.Source("model", str(tmp_path))
    classes = {"AutoConfig": "zorbs/code--configuration.Zorb", "AutoModel": "zorbs/code--modeling.Zorb"}
    (tmp_path / "config.json").write_text(json.dumps({"auto_map": classes}))
    code = source.code()
    assert code is not None
    assert (asked, code.revision) == (["zorbs/code"], "c0ffee")
    tokenizer = {"auto_map": {"AutoTokenizer": ["tokenization.Zorb", None]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ValueError, match="model and zorbs/code"):
        source.code()
    (tmp_path / "config.json").write_text("{}")
    assert source.code() is None


def test_the_hash_of_an_ordinary_model_is_that_of_earlier_versions(tmp_path: Path) -> None:
    """By hand: SHA-256 of a line for each file, its name and its SHA-256, in the order of the names."""
    contents = {"config.json": "{}", "merges.txt": "z o", "model.safetensors": "w", "tokenizer.json": "{}"}
    lines = (f"{name} {sha256(text.encode()).hexdigest()}\n" for name, text in contents.items())
    for name, text in {**contents, "README.md": "notes", "training.log": "x"}.items():
        (tmp_path / name).write_text(text)
    assert digest_of(tmp_path) == f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"


def test_a_file_is_hashed_again_only_after_it_changed(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call reads nothing; a changed file is read."""
    first = content_at(files / "cats.jsonl")
    read = sources.read
    monkeypatch.setattr(sources, "read", lambda on: pytest.fail("read again"))
    assert content_at(files / "cats.jsonl") == first
    monkeypatch.setattr(sources, "read", read)
    formats.named("jsonl").write(cats()[1:], files / "cats.jsonl")
    assert content_at(files / "cats.jsonl").records == first.records - 1


def test_the_released_set_is_the_same_data_in_every_format(shared: Path, tmp_path: Path) -> None:
    """StereoSet's dev set, its conversion to JSONL, that back again, and the list of its records."""
    released = shared / "data" / "stereoset" / "dev.json"
    formats.convert(released, tmp_path / "dev.jsonl")
    formats.convert(tmp_path / "dev.jsonl", tmp_path / "again.json", target_format="stereoset")
    found = {content_at(on) for on in (released, tmp_path / "dev.jsonl", tmp_path / "again.json")}
    assert found == {content_of(list(sources.read(released)))}


def test_numbers_on_the_same_records_are_comparable_whatever_their_file_is_called(tiny: Tiny, files: Path) -> None:
    """The names differ, the hashes do not; a limit names the records that it takes."""
    model = str(tiny("gpt2"))
    one, other = (evaluate(model, on, resamples=0).signature for on in (files / "cats.jsonl", files / "cats.json"))
    assert one.data != other.data
    assert differences(one, other) == []
    same = evaluate(model, cats(), resamples=0).signature
    assert differences(one, same) == []
    first, last = (evaluate(model, some, limit=1, resamples=0).signature for some in (cats(), cats()[::-1]))
    assert [line.partition(":")[0] for line in differences(first, last)] == ["subset"]


def test_a_model_has_one_hash_in_every_command(tiny: Tiny, files: Path, catsofa: Command) -> None:
    """score, its run measured again, compare, robustness, report and SEAT name the model alike."""
    model, other = tiny("gpt2"), tiny("llama")
    for name, on in (("original", "cats.jsonl"), ("reworded", "paraphrased.jsonl")):
        catsofa("score", model, "--on", files / on, "--out", files / name, "--quiet")
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
    """Its heading holds one model; runs of two models are refused."""
    for name, model, on in (
        ("a", "gpt2", "cats.jsonl"),
        ("b", "gpt2", "paraphrased.jsonl"),
        ("c", "llama", "paraphrased.jsonl"),
    ):
        catsofa("score", tiny(model), "--on", files / on, "--out", files / name, "--quiet")
    said = catsofa("robustness", "--original", files / "a", "--paraphrase", files / "b")[0]
    heading = said.splitlines()[0]
    assert re.fullmatch(rf"gpt2{HASH}: cats\.jsonl{HASH} → paraphrased\.jsonl{HASH}", heading), heading
    assert "were not scored alike" in catsofa("robustness", "--original", files / "a", "--paraphrase", files / "c")[1]


def test_a_file_of_scores_is_named_as_what_it_is(tiny: Tiny, files: Path, catsofa: Command) -> None:
    """Its bytes name no model."""
    catsofa("score", tiny("gpt2"), "--on", files / "cats.jsonl", "--out", files / "run", "--quiet")
    catsofa("export", files / "run", "--out", files / "scores.json")
    found = json.loads(
        catsofa("score", "--predictions", files / "scores.json", "--on", files / "cats.json", "--json")[0]
    )
    assert found["signature"]["model"] == f"predictions:{name_of(files / 'scores.json')}"


def test_two_runs_of_one_model_are_told_apart_by_their_options(tiny: Tiny, files: Path, catsofa: Command) -> None:
    """float32 against bfloat16: one hash, and the option that differs."""
    for dtype in ("float32", "bfloat16"):
        catsofa(
            "score", tiny("gpt2"), "--on", files / "cats.jsonl", "--out", files / dtype, "--dtype", dtype, "--quiet"
        )
    found = json.loads(catsofa("compare", files / "float32", files / "bfloat16", "--json")[0])
    models = [found["first"], *found["disagreement"]]
    assert [model.partition(" ")[2] for model in models] == ["dtype=float32", "dtype=bfloat16"]
    assert len({model.partition(" ")[0] for model in models}) == 1
