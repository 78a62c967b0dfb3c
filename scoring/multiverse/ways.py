"""Ways of asking as protocols: `choice,labels=numbers`, every combination of some options, and the way of a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, get_type_hints

from catsofa.scoring.choices import every_choice, read_choice
from catsofa.scoring.choosing.asking import Way
from catsofa.scoring.choosing.items import DECISIONS, NEUTRAL, WHICH
from catsofa.scoring.choosing.replies import Reply
from catsofa.scoring.choosing.requests import FOR, ORDERS_OF_THREE
from catsofa.scoring.choosing.results import PROTOCOL
from catsofa.scoring.choosing.templates import load
from catsofa.scoring.multiverse.choices import varied, written


def is_choice(protocol: Any) -> bool:
    """Returns True if the name of a protocol asks for choices."""
    return isinstance(protocol, str) and protocol.partition(",")[0] == PROTOCOL


def options_of(way: Way) -> dict[str, Any]:
    """Returns the options of a way by name."""
    return {field.name: getattr(way, field.name) for field in fields(way)}


def ways(protocols: Sequence[str], vary: Sequence[str], kind: str) -> dict[str, Way]:
    """Returns ways of asking about a kind of items, by the names of their cells; `vary` combines options of one way."""
    parsed = [_read(protocol, kind) for protocol in protocols]
    if vary:
        if len(parsed) > 1:
            raise ValueError(f"found {len(parsed)} protocols to vary; expected one")
        options, kinds = options_of(parsed[0]), get_type_hints(Way)

        def every(option: str) -> Sequence[str]:
            return FOR[kind] if option == "templates" else every_choice(option, kinds[option])

        parsed = [replace(parsed[0], **changes) for changes in varied(options, vary, PROTOCOL, every, _value)]
    names = [name_of(way, kind) for way in parsed]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"found a protocol twice, {min(twice)}; name each once")
    if len(parsed) < 2:
        raise ValueError(f"found one protocol, {names[0]}; expected two or more, or --vary with an option")
    return dict(zip(names, parsed, strict=True))


def _read(protocol: str, kind: str) -> Way:
    """Parses the name of a way."""
    chosen = dict(each.partition("=")[::2] for each in protocol.split(",")[1:])
    if unknown := chosen.keys() - options_of(Way()).keys():
        raise ValueError(f"{PROTOCOL} has no option {min(unknown)!r}; the options are {', '.join(options_of(Way()))}")
    return replace(_default(kind), **{option: _value(option, value) for option, value in chosen.items()})


def _value(option: str, value: str) -> Any:
    """Parses a written value; templates are loaded, so that errors are found before anything is asked."""
    if option == "templates":
        return tuple(load(each) and each for each in value.split("+"))
    return read_choice(option, value, get_type_hints(Way)[option])


def _default(kind: str) -> Way:
    """Returns the default way in which `choose` asks about a kind of items."""
    return Way(templates=() if kind in (WHICH, DECISIONS) else FOR[kind][:1])


def name_of(way: Way, kind: str) -> str:
    """Returns the name of a cell: its differences from the default, each template without its folder."""
    shown, default = options_of(way), options_of(_default(kind))
    shown["templates"] = tuple(load(each).name if "/" in each else each for each in way.templates)
    if way.temperature and way.samples == 1:  # at a temperature every reply is a sample
        shown["samples"] = None
    return ",".join([PROTOCOL, *(f"{o}={written(value)}" for o, value in shown.items() if value != default[o])])


def way_of(replies: Sequence[Reply], how: Mapping[str, Any]) -> Way:
    """Returns the way in which the replies of a run were asked; `how` has further options that the run stored."""
    orders = Counter((one.item, one.template, one.sample) for one in replies if len({*one.order} - {NEUTRAL}) > 2)
    samples = 1 + max(reply.sample for reply in replies)
    budgets = ("temperature", "answer_tokens", "reasoning_tokens")
    return Way(
        templates=tuple(dict.fromkeys(reply.template for reply in replies)),
        labels=replies[0].labels,
        neutral=replies[0].neutral,
        orders="balanced" if orders and max(orders.values()) < ORDERS_OF_THREE else "all",
        samples=samples if how.get("sampled") or samples > 1 else None,
        **{name: how[name] for name in budgets if name in how},
    )
