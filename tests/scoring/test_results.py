import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from helpers.records import cat, scores
from helpers.report_runs import cats as results_of_cats

from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.records import Cat, Pair, Score
from catsofa.scoring import results
from catsofa.scoring.dataset import open_data
from catsofa.scoring.measures.registry import Given
from catsofa.scoring.protocols import DEFAULT, named
from catsofa.scoring.results import report
from catsofa.scoring.run.origins import scored_by
from catsofa.scoring.run.score_files import read_scores, report_on
from catsofa.scoring.run.store import Run
from catsofa.scoring.signature import Signature, differences, name_of

CATS = [cat(f"{term}{n}", target=f"t{term}") for term in "xyz" for n in range(4)]
GIVEN = scores({c.id: (3, 2, 1) if c.id[-1] in "012" else (2, 3, 1) for c in CATS})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Writes a StereoSet file and predictions for it, and returns both paths."""
    data, predictions = tmp_path / "set.json", tmp_path / "predictions.json"
    formats.named("stereoset").write(iter(CATS), data)
    formats.named("predictions").write(
        (Score(item=c.id, task=record.kind, score=GIVEN[c.id]) for record in CATS for c in record.candidates),
        predictions,
    )
    return data, predictions


def test_the_json_of_a_report() -> None:
    """The JSON has exactly the keys that other scripts use, and each measure has the limits of its interval."""
    result = report(
        CATS, [Score(item=item, score=score) for item, score in GIVEN.items()], named("catsofa"), data="d", model="m"
    ).to_dict()
    assert list(result) == ["protocol", "results", "unscored", "unknown_ids", "warnings", "signature"]
    assert list(result["results"]) == ["intrasentence", "overall"]
    gender = result["results"]["intrasentence"]["pastime"]
    assert {key: gender[key] for key in ("lms", "ss", "icat", "items", "terms", "coverage")} == {
        "lms": 100,
        "ss": 75,
        "icat": 50,
        "items": 12,
        "terms": 3,
        "coverage": 1,
    }
    assert list(gender["intervals"]) == ["lms", "ss", "icat"]
    assert all(list(limits) == ["low", "high"] for limits in gender["intervals"].values())
    assert result["signature"]["protocol"] == "catsofa"


def test_where_nothing_is_scored_the_report_has_reasons_and_no_numbers() -> None:
    """If a model cannot score a task, the coverage is 0 % and the reasons are counted."""
    unscored = [Score(item=item, score=None, reason="no head") for item in GIVEN]
    result = report(CATS, unscored, named("catsofa"), data="d", model="m")
    assert result.unscored == {"no head": len(GIVEN)}
    assert result.to_dict()["results"]["overall"]["coverage"] == 0


def test_scores_of_other_data_are_refused() -> None:
    """Scores without an id in common with the data are refused."""
    with pytest.raises(ValueError, match=r"1 score.*12 records"):
        report(CATS, [Score(item="other", score=-1.0)], named("catsofa"), data="d", model="m")


def test_what_is_unscored_is_counted_by_reason_and_what_is_foreign_too() -> None:
    """One candidate without a score and one score of an unknown id are counted."""
    values = [Score(item=item, score=score) for item, score in GIVEN.items()]
    values[0] = replace(values[0], score=None, reason="too long")
    result = report(CATS, [*values, Score(item="z", score=1.0)], named("catsofa"), data="d", model="m")
    assert (result.unscored, result.unknown_ids) == ({"too long": 1}, 1)
    assert result.results.to_dict()["overall"]["coverage"] == pytest.approx(11 / 12)


def test_a_report_is_rows_a_frame_and_a_table() -> None:
    """The rows are two sets of one task and the whole; the table shows numbers with their limits."""
    values = [Score(item=item, score=score) for item, score in GIVEN.items()]
    result = report(CATS, values, named("catsofa"), data="d<1>", model="m")
    assert [(row["task"], row["domain"]) for row in result.rows()] == [
        ("intrasentence", "pastime"),
        ("intrasentence", "overall"),
        ("both", "overall"),
    ]
    assert list(result.to_pandas()["ss"]) == [75, 75, 75]
    assert "<td>100.0 [43.9, 100.0]</td>" in result._repr_html_()
    assert "d&lt;1&gt;" in result._repr_html_()


def test_pairs_have_a_report_too() -> None:
    """In scores of pairs, the task is the side; one of two pairs is preferred."""
    pairs = [Pair(id=name, more="A", less="B", direction="stereo", bias_type="pastime") for name in "ab"]
    values = [
        Score(item=name, task=side, score=score)
        for name, sides in {"a": (2.0, 1.0), "b": (1.0, 2.0)}.items()
        for side, score in zip(("more", "less"), sides, strict=True)
    ]
    result = report(pairs, values, named("crows-pairs"), data="d", model="m")
    assert result.to_dict()["results"]["overall"]["score"] == 50
    assert [row["set"] for row in result.rows()] == ["overall", "stereo", "pastime"]


def test_a_report_is_of_one_kind_of_record() -> None:
    """CATs and pairs together are refused, because their measures differ; an empty list is refused too."""
    pair = Pair(more="A", less="B", direction="stereo", bias_type="pastime")
    with pytest.raises(ValueError, match="cats and pairs"):
        report([CATS[0], pair], [], named("catsofa"), data="d", model="m")
    with pytest.raises(ValueError, match="found none"):
        report([], [], named("catsofa"), data="d", model="m")


def test_a_signature_is_one_line_that_leaves_out_what_is_empty() -> None:
    """A signature describes in one line how a result was computed, and omits empty fields."""
    signature = Signature(data="dev.json@1f", model="gpt2@607a", protocol="catsofa", seed=3, version="1.0")
    assert (
        str(signature) == "data:dev.json@1f | model:gpt2@607a | protocol:catsofa | seed:3 | resamples:0 | version:1.0"
    )
    assert signature.to_dict()["line"] == str(signature)


@pytest.mark.parametrize("option", DEFAULT.options())
def test_changing_any_one_option_of_a_protocol_changes_the_signature(option: str) -> None:
    """The name of a protocol is not enough: the hash beside it covers every option."""
    value = DEFAULT.options()[option]
    other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else "other"
    changed = DEFAULT.changed(**{option: {"ddof": 0, "rounding": 3, "ppl_digits": 3}.get(option, other)})
    records = [Score(item=item, score=score) for item, score in GIVEN.items()]
    one, two = (report(CATS, records, way, data="d", model="m", resamples=0).signature for way in (DEFAULT, changed))
    assert one.protocol == two.protocol == "catsofa"
    assert any(line.startswith("options: ") for line in differences(one, two))
    assert str(one) != str(two)


def test_numbers_stand_side_by_side_if_only_their_models_differ() -> None:
    """Only results that differ in the model alone are comparable; another protocol, precision or seed is named."""
    one = Signature(data="d", model="m", protocol="catsofa", dtype="float32")
    assert differences(one, replace(one, model="n")) == []
    assert differences(one, replace(one, protocol="stereoset-code", dtype="")) == [
        "protocol: catsofa and stereoset-code",
        "dtype: float32 and not recorded",
    ]
    assert differences(one, replace(one, seed=5)) == ["seed: 0 and 5"]


def test_a_name_changes_with_a_byte_or_a_file_name(tmp_path: Path) -> None:
    """A file is named by its bytes, a folder by the names and bytes of its files."""
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "a").write_text("1")
    names = {name_of(folder / "a"), name_of(folder)}
    (folder / "b").write_text("2")
    names.add(name_of(folder))
    (folder / "b").rename(folder / "c")
    names.add(name_of(folder))
    assert len(names) == 4
    assert all(name.startswith(("a@", "set@")) for name in names)
    with pytest.raises(BadInput, match="no such file"):
        name_of(tmp_path / "nothing")


def test_a_text_that_is_scored_twice_is_refused(tmp_path: Path) -> None:
    """Two scores of the same text are ambiguous and are refused."""
    file = tmp_path / "scores.jsonl"
    file.write_text('{"item": "a", "score": 1.0}\n{"item": "a", "score": 2.0}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="two scores of 'a'"):
        read_scores(file)


def test_only_cats_and_pairs_have_measures_made_from_scores(tmp_path: Path) -> None:
    """The error names the kind of records found in the file."""
    file = tmp_path / "scores.jsonl"
    file.write_text('{"item": "a", "score": 1.0}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"found scores.*cats, pairs"):
        report_on(file, file)


def test_the_score_command(files: tuple[Path, Path], catsofa: Callable[..., tuple[str, str]]) -> None:
    """The command measures two files and prints JSON or a table, with terms if requested."""
    data, predictions = files
    command = ("score", "--predictions", predictions, "--on", data)
    result = json.loads(catsofa(*command, "--protocol", "stereoset-code", "--terms", "--json")[0])
    assert (result["protocol"], result["results"]["overall"]["ss"]) == ("stereoset-code", 75)
    assert [row["term"] for row in result["terms"]] == ["tx", "ty", "tz"]
    table = catsofa(*command)[0]
    assert "75.0" in table
    assert f"data:{open_data(data).name} " in table


def test_the_score_command_says_what_is_wrong(files: tuple[Path, Path], tmp_path: Path) -> None:
    """In a process of its own, the command prints one line on stderr and exits with code 2."""
    done = run_catsofa("score", "--predictions", "nothing.json", "--on", str(files[0]), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "nothing.json: found no such file" in done.stderr


def test_the_files_the_wrong_way_round_and_an_unknown_protocol(
    files: tuple[Path, Path], catsofa: Callable[..., tuple[str, str]]
) -> None:
    """The errors say what was found and what was expected, and list the known protocols."""
    data, predictions = files
    assert (
        "found scores; expected records with a measure: cats"
        in catsofa("score", "--predictions", data, "--on", predictions)[1]
    )
    command = ("score", "--predictions", predictions, "--on", data, "--protocol", "x")
    assert "no protocol 'x'; the protocols are catsofa" in catsofa(*command)[1]


def test_the_robustness_command(
    files: tuple[Path, Path], tmp_path: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """One model is compared on two sets of paraphrases; two models are too few for a rank correlation."""
    data, predictions = files
    turned, values = tmp_path / "turned.json", {"stereotype": 2.0, "anti-stereotype": 3.0, "unrelated": 1.0}
    formats.named("predictions").write(
        (Score(item=c.id, task=record.kind, score=values[c.label]) for record in CATS for c in record.candidates),
        turned,
    )
    two = ("robustness", "--original", predictions, "--paraphrase", turned, "--paraphrase", predictions, "--on", data)
    result = json.loads(catsofa(*two, "--json")[0])
    assert [one["flips"]["value"] for one in result["comparisons"]] == [75, 0]
    change = result["comparisons"][0]["change"]["ss"]
    assert (change["value"], change["holm"] >= change["p"]) == (-75, True)
    assert "ranks" not in result
    ranks = json.loads(catsofa(*two, "--original", turned, "--json")[0])["ranks"][0]
    assert ranks["kendall"]["value"] is None
    assert "in percent of 12 items decided in both: 75.0" in catsofa(*two)[0]
    uneven = catsofa(*two, "--original", turned, "--original", turned)[1]
    assert "each original needs as many paraphrases; found 3 and 2" in uneven


def test_baseline_and_ensemble_commands(
    files: tuple[Path, Path], tmp_path: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """The commands write a prediction file that is scored like any other."""
    data, predictions = files
    baseline, mixed = tmp_path / "stereotyped.json", tmp_path / "ensemble.json"
    catsofa("baseline", "stereotyped", "--on", data, "--out", baseline)
    assert (
        json.loads(catsofa("score", "--predictions", baseline, "--on", data, "--json")[0])["results"]["overall"]["icat"]
        == 0
    )
    messages = catsofa("ensemble", "--scores", predictions, "--scores", baseline, "--on", data, "--out", mixed)[1]
    assert "--weights intrasentence=" in messages
    assert (
        json.loads(catsofa("score", "--predictions", mixed, "--on", data, "--json")[0])["results"]["overall"]["lms"]
        == 100
    )
    assert "name a file with --word-counts" in catsofa("baseline", "unigram", "--on", data, "--out", baseline)[1]
    assert "name one with --sentiment-model" in catsofa("baseline", "sentiment", "--on", data, "--out", baseline)[1]


def test_controls_and_power_commands(
    files: tuple[Path, Path], tmp_path: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """`controls` writes CATs, and `power` gives one row per set."""
    data, predictions = files
    counts = tmp_path / "counts.tsv"
    counts.write_text("tidy\t7\nuntidy\t1\n", encoding="utf-8")
    command = ("controls", "--on", data, "--out", tmp_path / "controls", "--word-counts", counts, "--json")
    controls = json.loads(catsofa(*command)[0])
    assert controls["attribute_only"]["kept"] == 12
    assert controls["frequency_gap"]["more_frequent"]["value"] == 100
    assert len(list(formats.read_as(controls["target_swapped"]["file"], Cat))) == 12
    command = ("power", "--on", data, "--predictions", predictions, "--against", predictions, "--json")
    power = json.loads(catsofa(*command)[0])
    assert {(row["clusters"], row["effect"]) for row in power["sets"]} == {(3, None)}
    assert "need --predictions" in catsofa("power", "--on", data, "--against", predictions)[1]


def run_of(folder: Path, on: Path, stereotyped: bool, **model: str) -> Path:
    """Writes a run over these CATs, which are all stereotyped or all not, and returns its folder."""
    values = {"stereotype": -3.0 if stereotyped else -4.0, "anti-stereotype": -3.5, "unrelated": -5.0}
    known = {"digest": "sha256:" + 64 * "a", "dtype": "float32"}
    identity = {"model": known | model, "data": open_data(on).digest, "protocol": {"pieces": "mean-log"}}
    about = {"model": "m", "data": open_data(on).name, "on": str(on), "protocol": "catsofa"}
    with Run.begin(folder, identity, about) as run:
        run.add(Score(item=c.id, task=record.kind, score=values[c.label]) for record in CATS for c in record.candidates)
        digest = str(identity["model"]["digest"])
        signature = {"data": about["data"], "model": f"m@{digest[7:19]}", "protocol": "catsofa"}
        run.finish({"results": results_of_cats("x"), "signature": signature})
    return folder


def test_two_runs_know_their_data(
    files: tuple[Path, Path], tmp_path: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """`--on` is optional for runs; data that changed since are refused, and files of scores require it."""
    data, predictions = files
    one, other = run_of(tmp_path / "one", data, True), run_of(tmp_path / "other", data, False)
    arguments = ("robustness", "--original", one, "--paraphrase", other, "--json")
    assert json.loads(catsofa(*arguments)[0])["comparisons"][0]["flips"]["value"] == 100
    third = run_of(tmp_path / "third", data, False, digest="sha256:" + 64 * "b")
    assert json.loads(catsofa("compare", one, third, "--json")[0])["disagreement"]["m@bbbbbbbbbbbb"]["value"] == 100
    assert "-100.0" in catsofa("compare", one, third)[0]
    assert scored_by(one) == "m@aaaaaaaaaaaa"
    assert "found one" in catsofa("compare", one)[1]
    assert f"{one} and {other}" in catsofa("compare", one, other)[1], "the same model, scored in the same way"
    assert (
        "found scores, which do not name their data"
        in catsofa("robustness", "--original", predictions, "--paraphrase", predictions)[1]
    )
    for command in (("robustness", "--original", one, "--paraphrase", "none"), ("compare", one, "none")):
        assert "none: found no such file or folder" in catsofa(*command)[1]
    data.write_bytes(data.read_bytes() + b" ")
    assert catsofa(*arguments)[0], "the same records"
    formats.named("stereoset").write(iter(CATS[1:]), data)
    assert "found other data than" in catsofa(*arguments)[1]


def test_runs_that_were_scored_in_different_ways_are_not_held_against_each_other(
    files: tuple[Path, Path], tmp_path: Path, catsofa: Callable[..., tuple[str, str]]
) -> None:
    """Runs that differ in model, precision or protocol are refused, because not only the texts differ."""
    data = files[0]
    one = run_of(tmp_path / "one", data, True)
    other = run_of(tmp_path / "other", data, False, dtype="bfloat16")
    message = catsofa("robustness", "--original", one, "--paraphrase", other)[1]
    assert "were not scored alike (model.dtype: float32 → bfloat16)" in message
    options = ("--protocol", "stereoset-code")
    for command in (("compare", one, other), ("score", "--predictions", one, "--on", data)):
        assert "was scored by catsofa, and stereoset-code scores texts otherwise" in catsofa(*command, *options)[1]


def test_a_text_without_a_score_is_counted_once_however_often_scores_are_read() -> None:
    """A measure may read the scores twice; the second reading has the same scores and counts nothing."""
    unscored = Counter[str]()
    given = results._passed(
        Given(scores=[Score(item="a", score=-1.0), Score(item="b", score=None, reason="too long")]), unscored
    )
    assert [one.item for one in given.scores] == [one.item for one in given.scores] == ["a", "b"]
    assert unscored == {"too long": 1}
