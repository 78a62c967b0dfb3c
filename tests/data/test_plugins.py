"""Tests formats, models and lint rules of other packages: their discovery, and the errors of unusable ones."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from catsofa.data import formats, plugins
from catsofa.data.files import BadInput
from catsofa.data.formats import Format
from catsofa.data.records import Pair
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.models import files, plugged
from catsofa.validation import lint
from catsofa.validation.lint.rule import Corpus, Found, Given, Rule

CACHES = (formats.plugins, lint.plugins, plugged.registered)


def pair_of(more: str, less: str) -> Pair:
    """Returns a pair with an id derived from its texts."""
    return Pair(more=more, less=less, bias_type="invented", direction="stereo")


class Entry(NamedTuple):
    """An entry point of an installed package."""

    group: str
    name: str
    given: Any

    @property
    def value(self) -> str:
        """Returns the import path."""
        return self.given if isinstance(self.given, str) else "zorb_tools:PART"

    @property
    def dist(self) -> Any:
        """Returns the package."""
        return SimpleNamespace(name="zorb-tools")

    def load(self) -> Any:
        """Returns the value; a text is loaded as Python does."""
        return EntryPoint(self.name, self.given, self.group).load() if isinstance(self.given, str) else self.given


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Returns a function that registers entry points like installed packages."""

    def found(*entries: Entry) -> None:
        monkeypatch.setattr(plugins, "entry_points", lambda group: [one for one in entries if one.group == group])
        for cache in CACHES:
            cache.cache_clear()

    yield found
    for cache in CACHES:
        cache.cache_clear()


def read(path: Path) -> Iterator[Pair]:
    """Returns one pair, whatever the file contains."""
    yield pair_of("a", "b")


ZORBS = Format(
    name="zorbs",
    holds=(Pair,),
    about="pairs of zorbs",
    matches=lambda path, head: head.startswith(b'{"zorbs"'),
    read=read,
    write=lambda pairs, path: path.write_text("zorbs") and len(list(pairs)),
    loses=lambda pair: ["language"],
    suffix=".zorbs",
)
FORMATS, RULES, MODELS = "catsofa.formats", "catsofa.lint_rules", "catsofa.models"


def test_a_format_of_a_package_is_known_by_content_before_any_json_lines(
    tmp_path: Path, register: Callable[..., None]
) -> None:
    """A plugin's file is recognised by content and suffix. Files of built-in formats keep their reader."""
    register(Entry(FORMATS, "zorbs", ZORBS))
    path = tmp_path / "x"
    path.write_text('{"zorbs": 1}\n')
    assert [pair.more for pair in formats.read(path)] == ["a"]
    done = formats.convert(path, tmp_path / "out.zorbs")
    assert (done.source, done.target, dict(done.lost)) == ("zorbs", "zorbs", {"language": 1})
    assert formats.names()[-2:] == ["zorbs", "jsonl"]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("broken", "no_such_module:FORMAT", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("broken", 3, "found 3; expected an instance of catsofa.data.formats.Format"),
        ("broken", ZORBS, "its `name` is 'zorbs'; expected 'broken', the name of the entry point"),
        ("broken", replace(ZORBS, name="broken", read=None), "its `read` is None; expected a function"),
        ("broken", replace(ZORBS, name="broken", holds=("Pair",)), "its `holds` is .*; expected the types"),
    ],
)
def test_a_format_that_cannot_be_used_is_named_where_it_is_asked_for(
    name: str, value: Any, says: str, tmp_path: Path, register: Callable[..., None]
) -> None:
    """An unusable format is reported when it is requested by name, and for a file of unknown format."""
    register(Entry(FORMATS, name, value))
    says = rf"the format 'broken' of zorb-tools \(.*\) cannot be used: {says}.*; mend or uninstall its package"
    with pytest.raises(ValueError, match=says):
        formats.named("broken")
    (tmp_path / "x").write_text("what is this")
    with pytest.raises(BadInput, match=says):
        formats.format_of(tmp_path / "x")


def test_no_package_takes_the_name_of_a_format_of_catsofa(register: Callable[..., None]) -> None:
    """A built-in format keeps its name."""
    register(Entry(FORMATS, "jsonl", replace(ZORBS, name="jsonl")))
    assert formats.named("jsonl").about == "our JSONL"
    assert "catsofa has a format of this name" in formats.plugins().broken["jsonl"]


@pytest.mark.parametrize("method", ["matches", "read", "write", "loses"])
def test_a_fault_in_a_function_of_a_format_names_both(
    method: str, tmp_path: Path, register: Callable[..., None]
) -> None:
    """A fault in a format's function gives one sentence that names the format and the function, with the exception as
    its cause."""

    def fails(*given: Any) -> Any:
        raise KeyError("zorb")

    register(Entry(FORMATS, "zorbs", replace(ZORBS, **{method: fails})))
    (tmp_path / "x").write_text('{"zorbs": 1}\n')
    with pytest.raises(ValueError, match=rf"'zorbs'.*`{method}`.*KeyError: 'zorb'") as raised:
        formats.convert(tmp_path / "x", tmp_path / "out.zorbs")
    assert isinstance(raised.value.__cause__, KeyError)


def check(corpus: Corpus, given: Given) -> Iterator[Found]:
    """Returns a finding for each pair."""
    yield from (Found(item=pair.id, message="a pair") for pair in corpus.pairs)


RULE = Rule(code="L101", severity="info", about="a pair", example="a, b", check=check)


def test_a_lint_rule_of_a_package_runs_with_the_others(register: Callable[..., None]) -> None:
    """Plugin rules run in the order of their codes, and a finding has its rule's code."""
    register(Entry(RULES, "L200", replace(RULE, code="L200")), Entry(RULES, "L101", RULE))
    report = lint.lint([pair_of("a", "b")], select=["l101"])
    assert [(finding.rule, finding.message) for finding in report.findings] == [("L101", "a pair")]
    assert list(lint.rules())[-2:] == ["L101", "L200"]
    assert lint.as_sarif(report, "x")["runs"][0]["results"][0]["ruleIndex"] == list(lint.rules()).index("L101")


@pytest.mark.parametrize(
    ("code", "value", "says"),
    [
        ("L5", replace(RULE, code="L5"), "catsofa has a rule of this name"),
        ("L99", replace(RULE, code="L99"), "its code must be L100 or above"),
        ("L102", RULE, "its `code` is 'L101'; expected 'L102'"),
        ("L101", replace(RULE, severity="dire"), "its `severity` is 'dire'; expected one of error, warning, info"),
        ("L101", replace(RULE, needs="luck"), "it needs 'luck'; expected a field of Given"),
        ("L101", check, "found <function check .*; expected an instance of catsofa"),
    ],
)
def test_a_lint_rule_that_cannot_be_used_is_named_where_it_is_asked_for(
    code: str, value: Any, says: str, register: Callable[..., None]
) -> None:
    """An unusable rule is reported when it is requested; other rules run, and L5 stays catsofa's."""
    register(Entry(RULES, code, value))
    assert "L5" in lint.lint([pair_of("a", "b")], select=["L5"]).ran
    if code != "L5":
        with pytest.raises(ValueError, match=says):
            lint.lint([pair_of("a", "b")], select=[code])
    assert list(lint.plugins().broken) == [code]


def test_a_fault_in_a_lint_rule_names_it(register: Callable[..., None]) -> None:
    """A fault in a plugin's rule gives one sentence with its code."""

    def fails(corpus: Corpus, given: Given) -> Iterator[Found]:
        raise KeyError("zorb")
        yield

    register(Entry(RULES, "L101", replace(RULE, check=fails)))
    with pytest.raises(ValueError, match=r"L101.*KeyError: 'zorb'"):
        lint.lint([pair_of("a", "b")], select=["L101"])


class Letters:
    """A model that gives shorter words a higher log-likelihood."""

    digest = "1"

    def __init__(self, bits: str) -> None:
        self.bits = int(bits)
        self.name = f"letters:{bits}"

    def loglikelihood(self, queries: list[tuple[str, str]]) -> list[list[float]]:
        """Returns one number per word."""
        return [[-float(len(word) * self.bits) for word in text.split()] for _, text in queries]


def test_a_model_of_a_package_is_named_by_a_colon(register: Callable[..., None]) -> None:
    """The text after the colon is the model's argument; a name without a colon is a folder or hub id."""
    register(Entry(MODELS, "letters", Letters))
    pairs = [pair_of("Zorbs hum.", "Zorbs hum loudly."), pair_of("Zorbs sing.", "Zorbs sing well today.")]
    report = evaluate("letters:2", pairs)
    assert report.signature.model == "letters:2@1"
    # Mean over words: in pair 1, 4.5 letters beat 5; in pair 2, 5 lose to 4.75.
    assert report.results.overall.score.value == 50
    assert not plugged.is_plugged("letters")
    with pytest.raises(ValueError, match="letters:x: invalid literal"):
        evaluate("letters:x", pairs)
    with pytest.raises(ValueError, match=r"lettres:2.*models letters"):
        files.find("lettres:2")
    with pytest.raises(ValueError, match=r"letters:2.*another package"):
        files.find("letters:2")


def test_a_model_that_cannot_be_used_is_named(register: Callable[..., None]) -> None:
    """A value that makes no model and one that raises are named in the error."""

    def fails(argument: str) -> Any:
        raise KeyError("zorb")

    register(Entry(MODELS, "broken", 3), Entry(MODELS, "fails", fails))
    with pytest.raises(ValueError, match=r"'broken'.*zorb-tools \(zorb_tools:PART\)"):
        evaluate("broken:2", [pair_of("a", "b c")])
    with pytest.raises(ValueError, match=r"'fails'.*'fails:2'.*KeyError: 'zorb'"):
        evaluate("fails:2", [pair_of("a", "b c")])
