"""Tests measures of other packages: how catsofa finds, chooses and names them in signatures."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, make_dataclass
from importlib.metadata import EntryPoint
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from helpers.records import a_pair

from catsofa.data import formats, plugins
from catsofa.data.files import BadInput
from catsofa.data.records import AssociationTest, Cat, Pair, Probe, Score
from catsofa.scoring import protocols
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.measures import registry
from catsofa.scoring.measures.crows_pairs.questions import PairScores
from catsofa.scoring.measures.registry import Given, Measure, Rows, measure_of
from catsofa.scoring.protocols import DEFAULT, Protocol, named
from catsofa.scoring.results import report
from catsofa.scoring.run.score_files import compare_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Zorb:
    """A record of another package."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ZorbOptions:
    """An option of the measure of zorbs."""

    zeal: int = 2


class Zorbs(Measure):
    """Counts zorbs with a score, times their zeal."""

    name, about, records, options = "zorbs", "Zorbs.", Zorb, ZorbOptions

    def results(self, records: Iterable[Zorb], given: Given, protocol: Protocol, resamples: int) -> Rows:
        """Returns one row."""
        return Rows(self.name, [{"zorbs": len(given.numbers()) * protocol.of(ZorbOptions).zeal}])


class Louder(PairScores):
    """Another measure of pairs."""

    name, about = "louder", "Pairs that are loud."


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Yields measures of other packages, as if their entry points were loaded."""
    measures: dict[str, Any] = {"zorbs": Zorbs(), "louder": Louder()}
    for module in (protocols, registry):
        monkeypatch.setattr(module, "plugins", lambda: plugins.Plugins(measures))
    registry.named.cache_clear()
    yield measures
    registry.named.cache_clear()


@pytest.mark.parametrize(
    ("kind", "name"), [(Cat, "stereoset"), (Pair, "crows_pairs"), (Probe, "sofa"), (AssociationTest, "seat")]
)
def test_records_have_the_measure_of_their_type(kind: type[Any], name: str) -> None:
    """Records have the measure of their type unless a protocol names another one."""
    assert measure_of(kind).name == name


def test_records_of_a_package_have_its_measure_without_being_asked(installed: dict[str, Any]) -> None:
    """The measure of a package is recognised again from the JSON of its results."""
    scores = [Score(item="a", score=1.0), Score(item="b", score=None), Score(item="c", score=1.0)]
    result = report([Zorb(id="a"), Zorb(id="b")], scores, DEFAULT, data="zorbs", model="m")
    assert result.rows() == [{"zorbs": 4}]
    assert (dict(result.unscored), result.unknown_ids) == ({"no score": 1}, 1)
    assert registry.recognised(result.to_dict()["results"]) is installed["zorbs"]
    with pytest.raises(LookupError, match="no measure"):
        registry.recognised({"measure": "blickets", "rows": []})


def test_a_protocol_asks_for_another_measure_of_known_records(installed: dict[str, Any]) -> None:
    """A protocol selects a measure by name; the records must be of the type that the measure takes."""
    assert measure_of(Pair, named("louder")) is installed["louder"]
    assert measure_of(Pair, named("catsofa")).name == "crows_pairs"
    with pytest.raises(BadInput, match=r"cats.*pairs.*louder"):
        measure_of(Cat, named("louder"))


def test_an_option_of_a_package_enters_the_digest_where_it_is_not_the_default(installed: dict[str, Any]) -> None:
    """Only a non-default option enters the digest, so that installing a package changes no signature."""
    assert named("catsofa,zeal=2").digest == DEFAULT.digest == named("louder").digest
    protocol = named("zorbs,zeal=3")
    assert protocol.digest != DEFAULT.digest
    assert (protocol.of(ZorbOptions).zeal, protocol.measure) == (3, "zorbs")
    assert protocol.differences() == {"zeal": (3, 2, "asked for")}
    assert protocol.by_measure()["zorbs"] == {"zeal": 3}
    with pytest.raises(ValueError, match=r"zeal.*'much'.*whole number"):
        named("catsofa,zeal=much")


def test_what_a_measure_cannot_do_is_a_sentence(installed: dict[str, Any]) -> None:
    """A measure without results, an unknown name, and records without a measure give an error."""
    with pytest.raises(ValueError, match=r"'louder'.*no method `results`"):
        report(
            [pair := a_pair("a", "b")],
            [Score(item=pair.id, task="more", score=-1.0)],
            named("louder"),
            data="d",
            model="m",
        )
    with pytest.raises(ValueError, match=r"'blickets'.*stereoset"):
        registry.named("blickets")
    with pytest.raises(BadInput, match=r"scores.*cats, pairs, probes"):
        measure_of(Score)


def broken_options(**options: Any) -> type[Any]:
    """Returns a frozen dataclass of options."""
    return make_dataclass("Options", [(name, type(default), default) for name, default in options.items()], frozen=True)


def louder(**own: Any) -> Any:
    """Returns the measure `broken` of pairs, with these attributes."""
    return type("Broken", (PairScores,), {"name": "broken", "about": "Broken.", **own})()


class Entry(NamedTuple):
    """An entry point of an installed package."""

    value: Any
    name: str = "broken"
    package: str = "zorb-tools"

    @property
    def dist(self) -> Any:
        """The package."""
        return SimpleNamespace(name=self.package)

    def load(self) -> Any:
        """Returns the value; a text is loaded as Python does."""
        entry = EntryPoint(self.name, self.value, "catsofa.measures")
        return entry.load() if isinstance(self.value, str) else self.value


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Returns a function that registers entry points as if packages had them."""

    def found(*entries: Entry) -> None:
        monkeypatch.setattr(plugins, "entry_points", lambda group: entries)
        protocols.plugins.cache_clear()

    registry.named.cache_clear()
    yield found
    protocols.plugins.cache_clear()
    registry.named.cache_clear()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_module:MEASURE", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("json:MEASURE", "AttributeError: module 'json' has no attribute 'MEASURE'"),
        ("json:dumps", "found <function dumps at .*; expected an instance of a subclass of catsofa"),
        ("helpers.raises_on_import:MEASURE", r"RuntimeError: no zorb \\x1b\[31m here"),
        (type(louder()), "found the class Broken; expected an instance of it"),
        (louder(name="other"), "its `name` is 'other'; expected 'broken', the name of the entry point"),
        (louder(about=" "), "it has no `about`; expected a sentence"),
        (louder(records="pairs"), "it has no `records`; expected the type of the records"),
        (louder(options={"zeal": 1}), "its `options` are {'zeal': 1}; expected a frozen dataclass"),
        (louder(options=broken_options(rounding=3)), "it has an option 'rounding', which catsofa has; rename it"),
        (louder(options=broken_options(ties="out")), "it has an option 'ties', which catsofa has; rename it"),
        (louder(options=broken_options(measure="")), "it has an option 'measure', which catsofa has; rename it"),
        (louder(options=make_dataclass("Needs", ["zeal"], frozen=True)), "TypeError: .*missing 1 required"),
    ],
)
def test_a_package_that_registers_no_measure_is_named_where_it_is_asked_for(
    value: Any, says: str, register: Callable[..., None]
) -> None:
    """A faulty package is named for its measure, an unknown option or unmeasured records; other measures work."""
    register(Entry(value), Entry(Louder(), name="louder", package="loud"))
    says = rf"the measure 'broken' of zorb-tools \(.*\) cannot be used: {says}.*; mend or uninstall its package"
    assert (named("louder").measure, measure_of(Pair).name) == ("louder", "crows_pairs")
    assert list(protocols.presets())[-1] == "louder"
    for ask in (named, registry.named):
        with pytest.raises(ValueError, match=says):
            ask("broken")
    for text in ("catsofa,zest=1", "louder,zest=1"):
        with pytest.raises(ValueError, match=says):
            named(text)
    with pytest.raises(BadInput, match=says):
        measure_of(Zorb)


@pytest.mark.parametrize("name", ["bbq", "crows_pairs", "catsofa", "stereoset-v1"])
def test_a_measure_never_takes_the_name_of_a_measure_or_protocol_of_catsofa(
    name: str, register: Callable[..., None]
) -> None:
    """A name of catsofa keeps its meaning."""
    register(Entry(louder(name=name), name=name))
    assert not protocols.plugins().parts
    says = f"the measure '{name}' of zorb-tools .* cannot be used: catsofa has a measure or a protocol of this name"
    with pytest.raises(BadInput, match=says):
        measure_of(Zorb)


def test_packages_that_share_a_name_or_an_option_are_all_refused(register: Callable[..., None]) -> None:
    """If packages share a name or an option, both are refused, in any order."""
    register(Entry(louder(), package="zorb-tools"), Entry(louder(), package="blickets"))
    with pytest.raises(ValueError, match=r"zorb-tools \(.*blickets \(.*2 entry points"):
        named("broken")
    options = broken_options(zeal=3)
    register(Entry(louder(options=options)), Entry(Zorbs(), name="zorbs"), Entry(Louder(), name="louder"))
    assert list(protocols.plugins().parts) == ["louder"]
    for name in ("broken", "zorbs"):
        with pytest.raises(ValueError, match=rf"'{name}'.*broken and zorbs.*'zeal'"):
            named(name)


ROW = {"gap": 1.0, "gap_low": 0.5, "gap_high": 1.5, "coverage": 1.0}


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (None, "returned None; expected results with `to_dict` and `rows`"),
        (Rows("louder", [ROW | {"gap": nan}]), "returned no number as 'gap' with coverage 1"),
        (Rows("louder", [ROW | {"gap": 2.0}]), "returned gap = 2 outside its limits 0.5 and 1.5"),
        (Rows("louder", [ROW | {"coverage": 1.5}]), "returned the coverage 1.5; expected a number from 0 to 1"),
        (Rows("louder", [ROW | {"coverage": nan}]), "returned the coverage nan; expected a number from 0 to 1"),
        (Rows("louder", [{"gap": 1.0, "gap_low": 0.5}]), "returned a row with limits of 'gap' and without gap_high"),
        (Rows("louder", [{"gap": 1.0}]), "returned 'gap' without limits; expected `gap_low` and `gap_high`"),
        (
            Rows("louder", [ROW | {"set": {1}}]),
            "failed in `results`: TypeError: Object of type set is not JSON serializable",
        ),
        (KeyError("zorb"), "failed in `results`: KeyError: 'zorb'"),
    ],
)
def test_what_a_package_returns_is_refused_where_it_breaks_the_rules_of_rows(
    found: Any, says: str, installed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the measure and its module for every fault inside the measure."""

    def results(*arguments: Any) -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(installed["louder"], "results", results, raising=False)
    pair = a_pair("a", "b")
    with pytest.raises(ValueError, match=rf"'louder' .*test_registry.*{says}.*uninstall"):
        report([pair], [Score(item=pair.id, task="more", score=-1.0)], named("louder"), data="d", model="m")
    found = ValueError("none of the \x1b pairs is scored")  # an error in the data
    with pytest.raises(ValueError, match=r"'louder' .*test_registry: none of the \\x1b pairs is scored$"):
        report([pair], [Score(item=pair.id, task="more", score=-1.0)], named("louder"), data="d", model="m")


def raises(*given: Any) -> Any:
    """Raises an error in a method of a measure."""
    raise KeyError("zorb")


def yields(*given: Any) -> Any:
    """Raises an error while the result of a method is iterated."""
    yield from ()
    raise KeyError("zorb")


@pytest.mark.parametrize("method", registry.ASKED)
@pytest.mark.parametrize("fault", [raises, yields])
def test_a_fault_in_a_method_of_a_package_names_the_measure_and_the_method(method: str, fault: Any) -> None:
    """A fault in any call gives one sentence, with the exception as its cause."""
    own = type("Faulty", (PairScores,), {"name": "faulty", method: fault})()
    says = rf"^the measure 'faulty' of .*test_registry failed in `{method}`: KeyError: 'zorb'; mend or uninstall its"
    with pytest.raises(ValueError, match=says) as raised:
        getattr(own, method)(*range(getattr(Measure, method).__code__.co_argcount - 1))
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("method", "found", "odd"),
    [
        ("keys", [["a", ""]], r"\['a', ''\]"),
        ("keys", None, "None"),
        ("keys", {"a": ""}, r"\{'a': ''\}"),
        ("ids", [3], "3"),
        ("items", [("a", "b")], r"\('a', 'b'\)"),
        ("queries", ["a b"], "'a b'"),
        ("scores", [-1.0], "-1.0"),
        ("gaps", ["wide"], "'wide'"),
    ],
)
def test_a_list_of_other_things_than_a_method_must_give_is_refused_by_name(method: str, found: Any, odd: str) -> None:
    """The error names the method, the value returned and the expected list."""
    own = type("Odd", (PairScores,), {"name": "odd", method: lambda *arguments: found})()
    with pytest.raises(ValueError, match=rf"'odd'.*returned {odd} .*`{method}`.*list"):
        getattr(own, method)(*range(getattr(Measure, method).__code__.co_argcount - 1))


def test_a_fault_in_the_items_of_a_package_ends_an_evaluation_in_a_sentence(
    installed: dict[str, Any], tmp_path: Path, tiny: Callable[[str], Path]
) -> None:
    """An evaluation in this process fails with one sentence if a package's measure fails in `items` or in `keys`."""
    for method in ("items", "keys"):
        installed["louder"] = type("Faulty", (Louder,), {method: raises})()
        registry.named.cache_clear()
        with pytest.raises(ValueError, match=rf"'louder' .*test_registry.*failed.*`{method}`"):
            evaluate(str(tiny("gpt2")), [a_pair("a", "b c")], protocol="louder", out=tmp_path / method)


def test_runs_are_compared_by_the_measure_of_their_reports(
    installed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another measure is refused, whether it is the default or the measure of the other run."""

    class Own:
        digest = "1"

        def __init__(self, name: str) -> None:
            self.name = name

        def loglikelihood(self, queries: Sequence[tuple[str, str]]) -> list[list[float]]:
            return [[-1.0 * len(text)] for _, text in queries]

    monkeypatch.setattr(installed["louder"], "results", lambda *arguments: Rows("louder", [ROW]), raising=False)
    formats.named("jsonl").write([a_pair("a", "b c")], tmp_path / "pairs.jsonl")
    runs = [tmp_path / name for name in ("loud", "louder", "crows")]
    for run, protocol in zip(runs, ("louder", "louder", "catsofa"), strict=True):
        evaluate(Own(run.name), tmp_path / "pairs.jsonl", protocol=protocol, out=run)
    says = (
        "loud was measured by louder, and catsofa has the measure crows_pairs; compare its runs with --protocol louder"
    )
    with pytest.raises(ValueError, match=says):
        compare_on(runs[:2])
    with pytest.raises(ValueError, match=r"crows.*catsofa.*measure louder"):
        compare_on(runs[1:], protocol="louder")
    with pytest.raises(ValueError, match=r"'louder'.*no method `compare`"):
        compare_on(runs[:2], protocol="louder")
