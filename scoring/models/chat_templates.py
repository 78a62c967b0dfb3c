"""Formats prompts for local chat models with the chat template of each model."""

from typing import Any

from catsofa.scoring.models.model import Model

THINKING = "enable_thinking"
"""The template variable that turns the reasoning of a model on or off."""
THINK_END = "</think>"


def need_template(model: Model) -> None:
    """Refuse a model without a chat template, such as a base model."""
    if not getattr(model.tokenizer, "chat_template", None):
        raise ValueError(
            f"{model.name} has no chat template, so it is not a chat model; measure likelihoods with `catsofa score`"
        )


def knows_thinking(model: Model) -> bool:
    """Returns True if the template of a model can turn its reasoning on and off."""
    template = model.tokenizer.chat_template
    texts = template.values() if isinstance(template, dict) else [template]
    return any(THINKING in str(text) for text in texts)


def prompt_text(model: Model, prompt: str, *, thinking: bool = False) -> str:
    """A prompt in the model's chat format, up to the beginning of the answer."""
    options: dict[str, Any] = {THINKING: thinking} if knows_thinking(model) else {}
    message = [{"role": "user", "content": prompt}]
    return str(model.tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False, **options))


def ids_of(model: Model, text: str) -> tuple[int, ...]:
    """The token ids of a text that already contains its special tokens."""
    return tuple(model.tokenizer(text, add_special_tokens=False)["input_ids"])
