"""Asks about a data set in several ways: each way is a run of `choose` in its own folder."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from catsofa.data import sources
from catsofa.data.files import json_files
from catsofa.data.progress import SILENT, Progress
from catsofa.data.servers import plans
from catsofa.data.servers.endpoints import Endpoint
from catsofa.data.servers.plans import Plan
from catsofa.data.servers.prices import FREE, Price
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.local import LocalChat
from catsofa.scoring.choosing.measured import RUN, asked_in, items_of
from catsofa.scoring.choosing.replies import ASKED, RECEIVED
from catsofa.scoring.choosing.results import PROTOCOL, ChoiceReport
from catsofa.scoring.choosing.served import ServedChat
from catsofa.scoring.choosing.session import ChatModel, Choices, ask, choices, identity, ledger, plan
from catsofa.scoring.choosing.templates import load as load_template
from catsofa.scoring.dataset import open_data
from catsofa.scoring.models import load
from catsofa.scoring.models.model import Model
from catsofa.scoring.multiverse import Multiverse, compared
from catsofa.scoring.multiverse.chosen import MEASURES, PART, chosen
from catsofa.scoring.multiverse.dependence import Claim
from catsofa.scoring.multiverse.ways import is_choice, ways
from catsofa.scoring.signature import shown_name
from catsofa.scoring.statistics.intervals import RESAMPLES


class WayRun(NamedTuple):
    """One model, asked in one way."""

    model: str
    name: str
    chat: ChatModel
    asked: Choices
    folder: Path | None
    price: Price | None
    known: Path | None
    """The folder of a run with the same requests to the same model, whose replies are reused."""
    twin: bool
    """True if an earlier one of these runs has the same requests."""


@dataclass(slots=True)
class Asker:
    """The models, the data, the ways of asking, and the folder of the replies."""

    models: Mapping[str, str | Model]
    """Models by the names of their folders."""
    data: str | Path | Iterable[Any]
    protocols: Sequence[Any]
    vary: Sequence[str] = ()
    limit: int | None = None
    out: str | Path | None = None
    server: Endpoint | None = None
    """The server of the models; without one they run in this process."""
    price: Callable[[str], Price | None] = lambda model: FREE
    loading: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Loads records into memory, because every way of asking reads them."""
        self.data = self.data if isinstance(self.data, str | Path) else list(sources.read(self.data))
        if other := next((each for each in self.protocols if not is_choice(each)), None):
            name = other if isinstance(other, str) else other.name
            raise ValueError(f"found {name} beside {PROTOCOL}; numbers of likelihoods and of choices share no table")

    def ways(self) -> tuple[dict[str, tuple[Asking, Choices]], dict[str, str]]:
        """Returns the settings and requests of each way, and the reason for each way that cannot be asked."""
        kind = next(iter(items_of(open_data(self.data)).values())).kind
        askable, refused = dict[str, tuple[Asking, Choices]](), dict[str, str]()
        for name, way in ways(self.protocols, self.vary, kind).items():
            try:
                templates = [load_template(template) for template in way.templates]
                askable[name] = way.asking(), choices(self.data, templates, limit=self.limit, **way.requests())
            except ValueError as error:
                refused[name] = str(error)
        if not askable:
            raise ValueError("; ".join(f"{name}: {why}" for name, why in refused.items()))
        return askable, refused

    def runs(self, askable: Mapping[str, tuple[Asking, Choices]], root: str | Path | None) -> Iterator[WayRun]:
        """Yields the runs of each model in each way, in folders below a root."""
        for label, model in self.models.items():
            below = "" if len(self.models) == 1 else label.replace("/", "--")
            make, price = self._chats(model), self.price(label)
            before = dict[tuple[str, ...], Any]()
            for name, (asking, questions) in askable.items():
                chat = make(asking)
                keys = tuple(chat.key(request) for request in questions.requests)
                folder, twin = Path(root, below, name) if root else None, keys in before
                reused = before[keys] if twin else _same(Path(root), chat, questions) if root else None
                before.setdefault(keys, folder)
                yield WayRun(label, name, chat, questions, folder, price, reused, twin)

    def _chats(self, model: str | Model) -> Callable[[Asking], ChatModel]:
        """Returns a function that makes the chat model for given settings; loads the model once."""
        if (server := self.server) is not None:
            return lambda asking: ServedChat(str(model), server, asking)
        how = dict(self.loading)
        batch_tokens = how.pop("batch_tokens", None)
        loaded = load(model, **how) if isinstance(model, str) else model
        return lambda asking: LocalChat(loaded, asking, batch_tokens)


def planned(asker: Asker) -> Plan:
    """Returns the remaining requests of all ways together and their cost; sends and writes nothing."""
    runs = (run for run in asker.runs(asker.ways()[0], asker.out) if not run.twin)

    def place(run: WayRun) -> Path | None:
        return run.folder if run.folder and (run.folder / RECEIVED).is_file() else run.known

    return plans.together([plan(run.chat, run.asked, out=place(run), price=run.price) for run in runs])


def asked_in_ways(
    asker: Asker,
    *,
    claims: Sequence[str] = (),
    max_cost: float | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    progress: Progress = SILENT,
) -> Multiverse:
    """Returns the choices of models in several ways of asking, and how the answer depends on the way.

    `max_cost` limits the total cost of all runs in dollars. A run reuses the replies of another run below the folder
    with the same requests.
    """
    claimed = [Claim.read(claim, MEASURES) for claim in claims]
    if max_cost is not None and asker.out is None:
        raise ValueError("--max-cost needs --out: a folder that keeps the replies you paid for")
    askable, refused = asker.ways()
    how: dict[str, Any] = {"resamples": resamples, "seed": seed}
    cells, options, kinds = dict[str, dict[str, Any]](), dict[str, dict[str, Any]](), dict[str, str]()
    reports: dict[str, dict[str, ChoiceReport]] = {}
    with ExitStack() as held:
        root = asker.out or Path(held.enter_context(TemporaryDirectory()))
        runs: Iterable[WayRun] = asker.runs(askable, root)
        spent = dict[Path | None, float]()
        if max_cost is not None:
            runs = list(runs)
            spent = {run.folder: _spent(run) for run in runs}
        for run in runs:
            assert run.folder is not None
            if run.known and not (run.folder / RECEIVED).exists():
                run.folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(run.known / RECEIVED, run.folder / RECEIVED)
            before = sum(dollars for folder, dollars in spent.items() if folder != run.folder)
            limit: dict[str, Any] = {"price": run.price, "max_cost": max_cost, "before": before}
            report = ask(run.chat, run.asked, out=run.folder, progress=progress, **limit, **how)
            cell = chosen(run.folder, run.asked.data)
            spent[run.folder] = _spent(run)
            reports.setdefault(run.model, {})[run.name] = report
            cells.setdefault(run.model, {})[run.name] = cell.cell
            options[run.name], kinds[run.name] = cell.options, cell.kind
    first = next(iter(kinds))
    if other := next((name for name, kind in kinds.items() if kind != kinds[first]), None):
        raise ValueError(f"{other} asks another question than {first}; expected protocols that ask one question")
    signatures = {
        model: {name: report.signature for name, report in by_way.items()} for model, by_way in reports.items()
    }
    labels = [signatures[model][first].model for model in signatures]
    return replace(
        compared({PART: cells}, options, **how, claims=claimed),
        signatures=signatures,
        refused=dict.fromkeys(asker.models, refused) if refused else {},
        warnings=tuple(warnings_of(reports)),
        signature=replace(
            signatures[next(iter(signatures))][first], model=" ".join(labels), protocol=" ".join(askable), options=""
        ),
    )


def _same(root: Path, chat: ChatModel, questions: Choices) -> Path | None:
    """Returns the folder of a run below a root with the same requests to the same model; None without one.

    Replies of a server to a smaller sample are reused too. Those of a local model are not, because its rounding depends
    on the other requests of a batch.
    """
    expected = json.loads(json.dumps(identity(chat, questions)))
    for place in sorted(root.rglob(ASKED)):
        folder = place.parent
        if (folder / RECEIVED).is_file() and json_files.read(place, "who was asked") == expected:
            whole = (folder / RUN).is_file() and asked_in(folder / RUN).get("subset", "") == questions.subset
            if whole or isinstance(chat, ServedChat):
                return folder
    return None


def _spent(run: WayRun) -> float:
    """Returns the cost of the replies of a run in dollars; 0 for a twin, whose replies the other run paid for."""
    if run.twin or run.folder is None or not (run.folder / RECEIVED).exists():
        return 0.0
    with ledger(run.chat, run.folder, run.price) as store:
        return store.spent


def warnings_of(reports: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yields the warnings of all reports, each once; a warning of only some protocols begins with their names."""
    for model, by_protocol in reports.items():
        sentences: dict[str, list[str]] = {}
        for name, report in by_protocol.items():
            for sentence in report.warnings:
                sentences.setdefault(sentence, []).append(name)
        for sentence, names in sentences.items():
            prefix = "" if len(names) == len(by_protocol) else f"{', '.join(names)}: "
            yield f"{model}: {prefix}{sentence}" if len(reports) > 1 else f"{prefix}{sentence}"


def by_name_of(models: str | Model | Sequence[str | Model]) -> dict[str, str | Model]:
    """Returns models by their displayed names; raises a ValueError for duplicate names."""
    several = [models] if isinstance(models, str | Model) else list(models)
    names = [shown_name(each if isinstance(each, str) else each.name) for each in several]
    if not names:
        raise ValueError("found no model; expected one or more")
    if len(set(names)) < len(names):
        raise ValueError(f"two models have the same name ({', '.join(names)}); name each once")
    return dict(zip(names, several, strict=True))
