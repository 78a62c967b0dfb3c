"""A loaded model, its kind, and the kinds of queries that its trained weights can answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Kind = Literal["causal", "masked", "permutation", "sequence-to-sequence", "encoder"]
Ability = Literal["left-to-right", "masked", "next-sentence", "infilling", "vectors"]

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
"""Short dtype names of users to torch's names."""

ANSWERS: dict[Kind, tuple[Ability, ...]] = {
    "causal": ("left-to-right", "vectors"),
    "masked": ("masked", "vectors"),
    "permutation": ("left-to-right", "masked", "vectors"),
    "sequence-to-sequence": ("infilling", "vectors"),
    "encoder": ("vectors",),
}

MEANS: dict[Ability, str] = {
    "left-to-right": "the probability of a text from left to right",
    "masked": "the probability of a word behind a mask",
    "next-sentence": "whether one sentence follows another",
    "infilling": "the probability of a text that fills a gap",
    "vectors": "vectors",
}


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A loaded model in evaluation mode, its tokenizer, and the kinds of queries that it can answer."""

    name: str
    kind: Kind
    module: Any
    tokenizer: Any
    device: str
    dtype: str
    digest: str
    answers: frozenset[Ability]
    next_label: int = 0
    """The class of a next-sentence head that means "follows"."""
    options: Mapping[str, Any] = field(default_factory=dict)
    unused: str = ""
    """A sentence about layer weights in the files that the network does not use; empty without any."""
    loaded: Any = None
    """The `Fresh` of the network, which notices changes of it and of the tokenizer after loading; None without it."""

    def as_it_is(self) -> "Model":
        """The model, with the digest of its current state in memory if this changed after loading."""
        changed = self.loaded.changed(self.module, self.tokenizer) if self.loaded else ""
        return replace(self, digest=changed) if changed else self

    @property
    def body(self) -> Any:
        """The network below its heads."""
        return self.module.base_model

    @property
    def pads_left(self) -> bool:
        """True if the model is causal and its tokenizer pads on the left."""
        return self.kind == "causal" and self.tokenizer.padding_side == "left"

    @property
    def precision(self) -> str:
        """The precision of the computation: the dtype, and the quantisation of the weights on loading."""
        how = self.options.get("quantisation") or {}
        return " ".join([self.dtype, *(f"{option}={value}" for option, value in sorted(how.items()))])

    def need(self, ability: Ability, purpose: str) -> None:
        """Refuse a kind of query that the trained weights cannot answer."""
        if ability not in self.answers:
            able = " and ".join(MEANS[a] for a in ANSWERS[self.kind] if a in self.answers) or "nothing we ask"
            raise ValueError(
                f"{purpose} asks for {MEANS[ability]}, and {self.name} ({type(self.module).__name__}) has no "
                f"trained weights for that; it can give {able}"
            )

    def identity(self) -> dict[str, Any]:
        """The identity of the model behind a score: name, weights, architecture and precision."""
        return {
            "model": self.name,
            "digest": self.digest,
            "architecture": type(self.module).__name__,
            "dtype": self.dtype,
            **{key: value for key, value in self.options.items() if value},
        }
