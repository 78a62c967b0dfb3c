"""Protocols: named sets of all options that a score depends on, with presets that reproduce papers and their code."""

__all__ = ["Protocol", "named"]

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.metadata import version
from typing import Any, TypeVar, get_type_hints

from catsofa.data.digests import DIGITS, json_digest
from catsofa.data.plugins import Plugins
from catsofa.scoring.choices import FirstToken, Length, Pseudo, Ties, read_choice, refuse_outside, without_folders
from catsofa.scoring.measures import MODULES
from catsofa.scoring.measures.crows_pairs.options import CrowsPairsOptions
from catsofa.scoring.measures.plugins import load
from catsofa.scoring.measures.seat.options import SeatOptions
from catsofa.scoring.measures.sofa.options import SofaOptions
from catsofa.scoring.measures.stereoset.options import StereoSetOptions
from catsofa.scoring.signature import Signature

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A scoring configuration: defaults are an expert's choice; `why` explains each option that a preset changes.

    Options of several measures are fields of the protocol; the others belong to their measure. Names are unique.
    """

    name: str = "catsofa"
    about: str = "What we recommend: every token conditioned, ties left out, one number per item, refusals named."
    reproduces: str = ""
    why: Mapping[str, str] = field(default_factory=dict)
    measure: str = ""
    """Plug-in measure that this protocol uses; empty for the measure of the records."""

    first_token: FirstToken = "bos"
    length: Length = "mean"
    pseudo: Pseudo = "within-word"
    ties: Ties = "excluded"
    seed: int = 0

    stereoset: StereoSetOptions = field(default_factory=StereoSetOptions)
    crows_pairs: CrowsPairsOptions = field(default_factory=CrowsPairsOptions)
    sofa: SofaOptions = field(default_factory=SofaOptions)
    seat: SeatOptions = field(default_factory=SeatOptions)
    others: Mapping[str, Any] = field(default_factory=dict)
    """Options of other measures by the name of the measure, where an option differs from its default."""

    def __post_init__(self) -> None:
        """Raises ValueError for a negative seed."""
        refuse_outside("seed", self.seed, self.seed >= 0, "a whole number from 0")

    def parts(self) -> dict[str, Any]:
        """Returns the options of each measure by the name of the measure."""
        return {**{name: getattr(self, name) for name in MEASURES}, **self.others}

    def of(self, kind: type[Options]) -> Options:
        """Returns the options with this type, or their defaults."""
        return next((part for part in self.parts().values() if isinstance(part, kind)), kind())

    def options(self) -> dict[str, Any]:
        """Returns all options by name; those in LATER or of measures outside `MEASURES` only if not the default."""
        grouped = self.by_measure()
        for name, part in self.parts().items():
            default = _values(type(part)())
            plain = {o: default[o] for o in default if o in LATER} if name in MEASURES else default
            grouped[name] = {o: value for o, value in grouped[name].items() if o not in plain or value != plain[o]}
        return {option: value for options in grouped.values() for option, value in options.items()}

    def by_measure(self) -> dict[str, dict[str, Any]]:
        """Returns all options by the name of their measure; options that several measures share come first."""
        shared = {option: getattr(self, option) for option in SHARED}
        return {"all measures": shared, **{name: _values(part) for name, part in self.parts().items()}}

    @property
    def digest(self) -> str:
        """Hash of all options; protocols with the same name but different options have different digests."""
        return json_digest(self.options(), DIGITS, compact=False)

    def signature(self, data: str, model: str, **parts: Any) -> Signature:
        """Returns the signature of a result of this version and this protocol; `parts` are its other fields."""
        how: dict[str, Any] = {"protocol": self.name, "options": self.digest, "seed": self.seed}
        return Signature(data=data, model=model, version=version("catsofa"), **how, **parts)

    def differences(self) -> dict[str, tuple[Any, Any, str]]:
        """Returns option to (value, default, reason) for each option that differs from its default."""
        default = {option: getattr(DEFAULT, option) for option in SHARED}
        for part in self.parts().values():
            default |= _values(type(part)())
        return {
            option: (value, default[option], self.why.get(option, ""))
            for option, value in self.options().items()
            if value != default[option]
        }

    def changed(self, **choices: Any) -> "Protocol":
        """Returns the protocol with these options changed; `choices` has the names of `options`, for any measure."""
        rest = {option: value for option, value in choices.items() if option not in (*WORDS, *SHARED)}
        own: dict[str, Any] = {option: value for option, value in choices.items() if option not in rest}
        plugged = dict(self.others)
        for name, part in {**self.parts(), **(_plugged(plugged) if rest.keys() - option_types() else {})}.items():
            if mine := {option: rest.pop(option) for option in _values(part) if option in rest}:
                (own if name in MEASURES else plugged)[name] = replace(part, **mine)
        if rest:
            raise _unknown(next(iter(rest)))
        return replace(self, others=plugged, **own)


WORDS = ("name", "about", "reproduces", "why", "measure")
SHARED = ("first_token", "length", "pseudo", "ties", "seed")
MEASURES = ("stereoset", "crows_pairs", "sofa", "seat")
"""Measures whose options are fields of a protocol, and always part of its digest."""
LATER = ("weights", "padding_text")
"""Options of these measures that enter the digest only if they differ from the default, so older digests stay valid."""
DEFAULT = Protocol()


def _values(part: Any) -> dict[str, Any]:
    """Returns the options of a measure by name."""
    return {f.name: getattr(part, f.name) for f in fields(part)}


_CODE_WHY = {
    "pieces": "the released code averages the probabilities of the pieces, which rewards one easy continuation",
    "blank": "letters glued to BLANK stay on the filler and are added again by the context; of two BLANKs the "
    "first mask counts with the word of the last",
    "first_token": "the first token is scored after BOS alone, the others in a pass without BOS",
    "ties": "the released code compares with a strict >, so a tie counts against",
    "causal_pair": "the released ratio of sentence likelihoods; the context's own likelihood stands where the "
    "text says that of the sentence given the context",
}

_COUNTED_WHY = "the released code counts all splits up to its 100,000 samples, 9 targets a side, and samples above"

PRESETS: dict[str, Protocol] = {
    "catsofa": DEFAULT,
    "stereoset-v1": Protocol(
        name="stereoset-v1",
        about="StereoSet as its first text (arXiv, 2020) words it.",
        reproduces="Nadeem et al. 2020, sections 5 and 6",
        first_token="skip",
        stereoset=StereoSetOptions(causal_pair="nsp"),
        ties="against",
        why={
            "first_token": "the text's sum starts after the first token",
            "causal_pair": "the text scores the next sentence by a trained next-sentence head",
            "ties": _CODE_WHY["ties"],
        },
    ),
    "stereoset-acl": Protocol(
        name="stereoset-acl",
        about="StereoSet as its second text (ACL, 2021) words its likelihood scoring; XLNet needs a padding_text.",
        reproduces="Nadeem et al. 2021, section 6",
        stereoset=StereoSetOptions(pieces="mean-prob"),
        length="sum",
        ties="against",
        why={
            "pieces": "the text averages the probability of each subword",
            "length": "the text takes the probability of the full sentence, without a length",
            "ties": _CODE_WHY["ties"],
        },
    ),
    "stereoset-code": Protocol(
        name="stereoset-code",
        about="The released StereoSet code, known bugs included.",
        reproduces="the released prediction files and predictions.json",
        stereoset=StereoSetOptions(pieces="mean-prob", blank="code", causal_pair="ratio-code"),
        first_token="uncond",
        ties="against",
        why=_CODE_WHY,
    ),
    "bias-bench": Protocol(
        name="bias-bench",
        about="bias-bench's StereoSet (intrasentence only), CrowS-Pairs and SEAT.",
        reproduces="Meade et al. 2022, released code",
        stereoset=StereoSetOptions(pieces="mean-prob", blank="code"),
        first_token="uncond",
        ties="against",
        crows_pairs=CrowsPairsOptions(crows="differing", rounding=3),
        pseudo="plain",
        seat=SeatOptions(pooling="mean", unit_length=True, counted=100_000),
        why={
            **{option: _CODE_WHY[option] for option in ("pieces", "blank", "first_token", "ties")},
            "crows": "the mean over the tokens that differ, not the sum over those that are shared",
            "pseudo": "one token is hidden at a time, though the rest of its word gives it away",
            "rounding": "scores are rounded to three decimals before they are compared",
            "pooling": "the mean of the last layer over every piece, special tokens included",
            "unit_length": "vectors are scaled to length one",
            "counted": _COUNTED_WHY,
        },
    ),
    "sofa-hf": Protocol(
        name="sofa-hf",
        about="SoFa over the `evaluate` perplexity metric, as its released scripts use it.",
        reproduces="Marchiori Manerba et al. 2024, released analysis",
        sofa=SofaOptions(padding="tokenizer", ppl_digits=3),
        why={
            "padding": "the metric puts BOS before the pads of a left-padding tokenizer, so that a value depends "
            "on the longest text of its call; with a right-padding tokenizer nothing changes",
            "ppl_digits": "the released analysis rounds a probe's perplexity to three decimals",
        },
    ),
    "sent-bias": Protocol(
        name="sent-bias",
        about="SEAT as its released code runs it, without its encoders' bugs.",
        reproduces="May et al. 2019, released weat.py",
        seat=SeatOptions(counted=100_000),
        seed=1111,
        why={"counted": _COUNTED_WHY, "seed": "the released seed of the sampled partitions"},
    ),
    "sent-bias-bert": Protocol(
        name="sent-bias-bert",
        about="SEAT with the released BERT encoder: no special tokens, the first word piece as the sentence.",
        reproduces="May et al. 2019, Table 4, BERT column",
        seat=SeatOptions(pooling="cls", special_tokens=False, counted=100_000),
        seed=1111,
        why={
            "pooling": "the released encoder takes the first position",
            "special_tokens": "it never adds [CLS], so that the first position is the first word piece",
            "counted": _COUNTED_WHY,
            "seed": "the released seed of the sampled partitions",
        },
    ),
    "crows-pairs": Protocol(
        name="crows-pairs",
        about="CrowS-Pairs as its released metric.py computes it.",
        reproduces="Nangia et al. 2020, released code",
        pseudo="plain",
        ties="against",
        crows_pairs=CrowsPairsOptions(rounding=3),
        why={
            "pseudo": "one token is hidden at a time, though the rest of its word gives it away",
            "rounding": "scores are rounded to three decimals before they are compared",
            "ties": "a tie after rounding is set aside as neutral and stays in the denominator",
        },
    ),
    "aul": Protocol(
        name="aul",
        about="CrowS-Pairs by AUL: the mean log-probability of every token while all of them are seen.",
        reproduces="Kaneko and Bollegala 2022, released code",
        crows_pairs=CrowsPairsOptions(crows="aul"),
        ties="against",
        why={
            "crows": "hiding a token changes what the model reads; nothing is hidden here",
            "ties": "the released code compares with a strict >",
        },
    ),
    "aula": Protocol(
        name="aula",
        about="AUL with each token's log-probability times the mean attention that it receives.",
        reproduces="Kaneko and Bollegala 2022, released code",
        crows_pairs=CrowsPairsOptions(crows="aula"),
        ties="against",
        why={
            "crows": "tokens count by the attention they receive, averaged over layers, heads and all positions",
            "ties": "the released code compares with a strict >",
        },
    ),
    "sss": Protocol(
        name="sss",
        about="CrowS-Pairs by SSS: the modified tokens, hidden all at once, given the others; known bug included.",
        reproduces="Kaneko and Bollegala 2022, released code",
        crows_pairs=CrowsPairsOptions(crows="modified-code"),
        ties="against",
        why={
            "crows": "each modified token is averaged at every one's place; `modified` takes each at its own place",
            "ties": "the released code compares with a strict >",
        },
    ),
    "repro-004": Protocol(
        name="repro-004",
        about="The paraphrase-robustness study: mean likelihood of the whole sentence, the best of three wins.",
        reproduces="paper 004, its released Llama-2 numbers",
        first_token="skip",
        stereoset=StereoSetOptions(rule="argmax", average="items"),
        ties="against",
        why={
            "first_token": "the model's own loss leaves the first token out",
            "rule": "lms asks that the best of the three is not the unrelated one, so that chance is 66.7 and not 50",
            "average": "the study counts items, not target terms",
            "ties": "of equal scores the candidate listed first is the best",
        },
    ),
}
"""Preset name to protocol."""


@cache
def plugins() -> Plugins:
    """Returns the measures of other packages; loads them on the first call."""
    return load({*PRESETS, *MODULES}, {*option_types(), *(part.name for part in fields(Protocol))})


def presets() -> dict[str, Protocol]:
    """Returns all protocols by name: the presets, and the default protocol with each plug-in measure."""
    own = plugins().parts
    return PRESETS | {name: replace(DEFAULT, name=name, about=part.about, measure=name) for name, part in own.items()}


def sets_choice_of(protocol: Protocol, measure: str) -> bool:
    """Returns True if the protocol is the default one, or changes an option of this measure."""
    part = protocol.parts()[measure]
    return protocol == DEFAULT or part != type(part)()


def named(name: str, *, seed: int | None = None) -> Protocol:
    """Returns the preset with this name, with another seed if one is given.

    The name can be followed by options, `catsofa,pooling=mean,layer=-2`, which become part of the protocol's name.
    """
    preset, *choices = name.split(",")
    if preset not in (available := PRESETS if preset in PRESETS else presets()):
        missing = f"no protocol {preset!r}; the protocols are {', '.join(available)}"
        raise ValueError(plugins().broken.get(preset, missing))
    protocol = available[preset]
    if choices:
        changes = dict(map(choice, choices))
        reasons = {option: why for option, why in protocol.why.items() if option not in changes}
        protocol = protocol.changed(
            name=without_folders(name), why={**reasons, **dict.fromkeys(changes, "asked for")}, **changes
        )
    return protocol if seed is None else replace(protocol, seed=seed)


def option_types(*more: Any) -> dict[str, Any]:
    """Returns the type of each option of a protocol and of these further options."""
    shared = {name: kind for name, kind in get_type_hints(Protocol).items() if name in SHARED}
    return {k: v for part in (*DEFAULT.parts().values(), *more) for k, v in get_type_hints(type(part)).items()} | shared


def _plugged(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of each plug-in: the chosen ones, else the defaults."""
    return {name: chosen.get(name) or part.options() for name, part in plugins().parts.items() if part.options}


def _unknown(option: str) -> ValueError:
    """Returns the error for an option that no measure has."""
    options = option_types(*_plugged({}).values())
    return ValueError(f"a protocol has no option {option!r}; the options are {', '.join(options)}{plugins().hint()}")


def choice(text: str) -> tuple[str, Any]:
    """Parses `option=value` into the option and its value."""
    option, _, value = text.partition("=")
    if option not in (types := option_types()) and option not in (types := option_types(*_plugged({}).values())):
        raise _unknown(option)
    return option, read_choice(option, value, types[option])
