"""Protocols: every choice a score depends on, by name, and the presets that reproduce each paper and each code."""

__all__ = ["Protocol", "named"]

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from math import comb
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from catsofa.data.digests import DIGITS, json_digest
from catsofa.scoring.signature import Signature

Masked = Literal["left-to-right", "pseudo"]
Pieces = Literal["mean-log", "mean-prob", "sum"]
Masks = Literal["one", "all"]
Pseudo = Literal["within-word", "plain"]
Blank = Literal["refuse", "code"]
FirstToken = Literal["bos", "skip", "uncond"]
Length = Literal["mean", "sum"]
CausalPair = Literal["pmi", "ratio-code", "nsp"]
MaskedPair = Literal["nsp", "pseudo"]
Crows = Literal["shared", "differing", "all", "aul", "aula"]
Ties = Literal["excluded", "half", "against"]
Rule = Literal["pairwise", "argmax"]
Average = Literal["terms", "items"]
Normalisation = Literal["identity", "conditional", "none"]
Padding = Literal["none", "tokenizer"]
Pooling = Literal["mean", "max", "cls", "last"]
PValue = Literal["permutation", "parametric", "characteristic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One way of scoring; a default stands where an expert would put it, and `why` says what a preset changes."""

    name: str = "catsofa"
    about: str = "What we recommend: every token conditioned, ties left out, one number per item, refusals named."
    reproduces: str = ""
    why: Mapping[str, str] = field(default_factory=dict)

    masked: Masked = "left-to-right"
    pieces: Pieces = "mean-log"
    masks: Masks = "one"
    pseudo: Pseudo = "within-word"
    blank: Blank = "refuse"
    first_token: FirstToken = "bos"
    length: Length = "mean"
    causal_pair: CausalPair = "pmi"
    masked_pair: MaskedPair = "nsp"
    ties: Ties = "excluded"
    rule: Rule = "pairwise"
    average: Average = "terms"

    crows: Crows = "shared"
    rounding: int | None = None

    normalisation: Normalisation = "identity"
    log_base: float = 10.0
    ddof: int = 1
    padding: Padding = "none"
    ppl_digits: int | None = None

    pooling: Pooling | None = None
    layer: int = -1
    unit_length: bool = False
    special_tokens: bool = True
    p_value: PValue = "permutation"
    counted: int = comb(40, 20)
    """Splits of SEAT's targets that are all counted; above, they are sampled."""
    seed: int = 0

    def options(self) -> dict[str, Any]:
        """Every choice, without the words about it."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in WORDS}

    @property
    def digest(self) -> str:
        """The hash of every choice; two protocols of one name and other choices have other digests."""
        return json_digest(self.options(), DIGITS, compact=False)

    def signature(self, data: str, model: str, **parts: Any) -> Signature:
        """The signature of a number that this version computes by this protocol; `parts` are its other fields."""
        how: dict[str, Any] = {"protocol": self.name, "options": self.digest, "seed": self.seed}
        return Signature(data=data, model=model, version=version("catsofa"), **how, **parts)

    def differences(self) -> dict[str, tuple[Any, Any, str]]:
        """Option to (its value here, its default, why), for each option that differs from the default."""
        default = DEFAULT.options()
        return {
            option: (value, default[option], self.why.get(option, ""))
            for option, value in self.options().items()
            if value != default[option]
        }


WORDS = ("name", "about", "reproduces", "why")
DEFAULT = Protocol()

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
        causal_pair="nsp",
        ties="against",
        why={
            "first_token": "the text's sum starts after the first token",
            "causal_pair": "the text scores the next sentence by a trained next-sentence head",
            "ties": _CODE_WHY["ties"],
        },
    ),
    "stereoset-acl": Protocol(
        name="stereoset-acl",
        about="StereoSet as its second text (ACL, 2021) words its likelihood scoring.",
        reproduces="Nadeem et al. 2021, section 6",
        pieces="mean-prob",
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
        pieces="mean-prob",
        blank="code",
        first_token="uncond",
        causal_pair="ratio-code",
        ties="against",
        why=_CODE_WHY,
    ),
    "bias-bench": Protocol(
        name="bias-bench",
        about="bias-bench's StereoSet (intrasentence only), CrowS-Pairs and SEAT.",
        reproduces="Meade et al. 2022, released code",
        pieces="mean-prob",
        blank="code",
        first_token="uncond",
        ties="against",
        crows="differing",
        pseudo="plain",
        rounding=3,
        pooling="mean",
        unit_length=True,
        counted=100_000,
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
        padding="tokenizer",
        ppl_digits=3,
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
        counted=100_000,
        seed=1111,
        why={"counted": _COUNTED_WHY, "seed": "the released seed of the sampled partitions"},
    ),
    "sent-bias-bert": Protocol(
        name="sent-bias-bert",
        about="SEAT with the released BERT encoder: no special tokens, the first word piece as the sentence.",
        reproduces="May et al. 2019, Table 4, BERT column",
        pooling="cls",
        special_tokens=False,
        counted=100_000,
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
        rounding=3,
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
        crows="aul",
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
        crows="aula",
        ties="against",
        why={
            "crows": "tokens count by the attention they receive, averaged over layers, heads and all positions",
            "ties": "the released code compares with a strict >",
        },
    ),
    "repro-004": Protocol(
        name="repro-004",
        about="The paraphrase-robustness study: mean likelihood of the whole sentence, the best of three wins.",
        reproduces="paper 004, its released Llama-2 numbers",
        first_token="skip",
        rule="argmax",
        average="items",
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


def named(name: str, *, seed: int | None = None) -> Protocol:
    """The preset of this name, with another seed where one is given.

    After the name may stand choices of one's own, `catsofa,pooling=mean,layer=-2`, which stay in the protocol's name.
    """
    preset, *choices = name.split(",")
    if preset not in PRESETS:
        raise ValueError(f"no protocol {preset!r}; the protocols are {', '.join(PRESETS)}")
    found = PRESETS[preset]
    if choices:
        asked = dict(map(_choice, choices))
        kept = {option: why for option, why in found.why.items() if option not in asked}
        found = replace(found, name=name, why={**kept, **dict.fromkeys(asked, "asked for")}, **asked)
    return found if seed is None else replace(found, seed=seed)


def _choice(text: str) -> tuple[str, Any]:
    """An option and its value, from `option=value`."""
    option, _, value = text.partition("=")
    types = {name: kind for name, kind in get_type_hints(Protocol).items() if name not in WORDS}
    if option not in types:
        raise ValueError(f"a protocol has no option {option!r}; the options are {', '.join(types)}")
    kinds = get_args(types[option]) if get_origin(types[option]) in (Union, UnionType) else (types[option],)
    words = [word for kind in kinds for word in get_args(kind)]
    if value in words:
        return option, value
    if value == "none" and NoneType in kinds:
        return option, None
    if bool in kinds and value in ("true", "false"):
        return option, value == "true"
    try:
        return option, next(kind(value) for kind in (int, float) if kind in kinds)
    except (StopIteration, ValueError):
        plain = {int: "a whole number", float: "a number", bool: "true or false", NoneType: "none"}
        allowed = [*words, *(plain[kind] for kind in kinds if kind in plain)]
        raise ValueError(f"{option} cannot be {value!r}; it can be {' or '.join(allowed)}") from None
