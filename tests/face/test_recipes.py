import json
from pathlib import Path

import pytest
from helpers.commands import run_catsofa

from catsofa import recipes
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import Probe


def recipe(folder: Path, text: str) -> Path:
    """Writes a recipe file with this text."""
    path = folder / "recipe.toml"
    path.write_text(text, "utf-8")
    return path


def test_keys_become_options_and_values_are_put_in(tmp_path: Path) -> None:
    """True is a flag, false is omitted, a list repeats an option, and {name} is a value from the top."""
    path = recipe(
        tmp_path,
        'out = "a b"\nseed = 3\n[[step]]\nrun = "build probes"\nargs = ["x"]\non = ["{out}/1", "2"]\n'
        'seed = "{seed}"\njson = true\nquiet = false\n',
    )
    (step,) = recipes.read(path, {"seed": "7"})
    assert step.command == ("build", "probes")
    assert step.arguments == ("x", "--on", "a b/1", "--on", "2", "--seed", "7", "--json")
    assert str(step) == 'catsofa build probes x --on "a b/1" --on 2 --seed 7 --json'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[step]\n", "no TOML"),
        ('name = "x"\n', r"no \[\[step\]\] table"),
        ("[[step]]\nout = 'x'\n", "step 1 without a command"),
        ("[[step]]\nrun = 'convert'\nto = '{where}'\n", r"\{where\} in step 1"),
        ("[[step]]\nrun = 'convert'\nto = {a = 1}\n", "a dict as 'to' in step 1"),
        ("[[step]]\nrun = 'convert'\nto = '}'\n", "a lone brace in step 1"),
        ("[[step]]\nrun = 'convert'\nto = '{'\n", "a lone brace in step 1"),
        ("out = 'a'\n[[step]]\nrun = 'convert'\nto = '{out.name}'\n", r"\{out.name\} in step 1"),
        ("out = 'a'\n[[step]]\nrun = 'convert'\nto = '{out[0]}'\n", r"\{out\[0\]\} in step 1"),
        ("[[step]]\nrun = 'run'\nargs = ['recipe.toml']\n", "a recipe run by step 1"),
    ],
)
def test_a_recipe_that_cannot_be_read_says_why(tmp_path: Path, text: str, found: str) -> None:
    """Each fault of a recipe is one sentence with the file and the step."""
    with pytest.raises(BadInput, match=found):
        recipes.read(recipe(tmp_path, text))


def probes(folder: Path) -> Path:
    """Writes a file with one probe."""
    path = folder / "probes.jsonl"
    jsonl.write([Probe(category="pastime", identity="Gardeners", stereotype="love rain")], path)
    return path


def test_every_step_is_checked_before_the_first_starts(tmp_path: Path) -> None:
    """A wrong option in the last step, or an input that no step writes, stops the recipe before any file is written."""
    probes(tmp_path)
    first = "[[step]]\nrun = 'convert'\nargs = ['probes.jsonl', 'probes.csv']\n"
    for second, says in [
        (
            "[[step]]\nrun = 'convert'\nargs = ['probes.csv', 'b.jsonl']\nfast = true\n",
            "step 2 (convert): No such option",
        ),
        ("[[step]]\nrun = 'convert'\nargs = ['other.csv', 'b.jsonl']\n", "step 2 reads other.csv"),
        ("[[step]]\nrun = 'bake'\n", "step 2: no command 'bake'"),
    ]:
        recipe(tmp_path, first + second)
        done = run_catsofa("run", "recipe.toml", cwd=tmp_path)
        assert done.returncode == 2
        assert says in done.stderr
        assert not (tmp_path / "probes.csv").exists()


def test_a_second_run_goes_on_after_what_has_ended_well(tmp_path: Path) -> None:
    """A step with unchanged inputs is skipped; a step with a changed input runs again."""
    source = probes(tmp_path)
    recipe(
        tmp_path,
        "[[step]]\nrun = 'convert'\nargs = ['probes.jsonl', 'probes.csv']\n"
        "[[step]]\nrun = 'convert'\nargs = ['probes.csv', 'again.jsonl']\n",
    )
    assert run_catsofa("run", "recipe.toml", cwd=tmp_path).returncode == 0
    assert [json.loads(line)["identity"] for line in (tmp_path / "again.jsonl").read_text().splitlines()] == [
        "Gardeners"
    ]
    second = run_catsofa("run", "recipe.toml", cwd=tmp_path)
    assert second.stderr.count("is already finished") == 2
    jsonl.write([Probe(category="pastime", identity="Bakers", stereotype="love rain")], source)
    third = run_catsofa("run", "recipe.toml", cwd=tmp_path)
    assert third.stderr.count("is already finished") == 0
    assert "Bakers" in (tmp_path / "again.jsonl").read_text()


@pytest.mark.parametrize("text", ["", "[1]", '{"a"'])
def test_a_damaged_journal_is_named(tmp_path: Path, text: str) -> None:
    """A damaged journal cannot show which steps finished; the error names the next step."""
    path = recipe(tmp_path, "")
    (tmp_path / ".recipe.done.json").write_text(text, "utf-8")
    with pytest.raises(BadInput, match=r"\.recipe\.done\.json.*remove"):
        recipes.Journal(path)
