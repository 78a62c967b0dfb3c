"""Tests the depth of the call stack between `catsofa score` and the forward pass, so that readers can follow it."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from helpers import ROOT
from helpers.records import PAIRS

from catsofa.__main__ import main
from catsofa.data.files import jsonl

MOST = 12


def frames() -> list[str]:
    """Returns the project's functions on the call stack, from the outermost to the caller's caller."""
    calls: list[str] = []
    frame: FrameType | None = sys._getframe(2)
    while frame:
        file = frame.f_code.co_filename
        if not file.startswith("<") and Path(file).resolve().is_relative_to(ROOT):
            calls.append(f"{Path(file).resolve().relative_to(ROOT)}:{frame.f_code.co_name}")
        frame = frame.f_back
    return [call for call in calls[::-1] if not call.startswith(("tests/", ".venv/"))]


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_forward_is_few_functions_below_the_command(
    name: str, tiny: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most 12 functions of the project are on the stack when a causal or a masked model forwards a batch."""
    from transformers import BertModel, GPT2Model

    folder, recorded = tiny(name), list[list[str]]()
    network: Any = {"gpt2": GPT2Model, "bert": BertModel}[name]
    forward = network.forward

    def watched(*arguments: Any, **more: Any) -> Any:
        recorded.append(frames())
        return forward(*arguments, **more)

    monkeypatch.setattr(network, "forward", watched)
    jsonl.write(PAIRS, tmp_path / "pairs.jsonl")
    score = ["score", str(folder), "--on", str(tmp_path / "pairs.jsonl"), "--quiet"]
    monkeypatch.setattr(sys, "argv", ["catsofa", *score])
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 0
    # forward passes that inspect the head and the masks, and those of a self-check, are ignored
    asides = ("self_check.py", "causal.py:possible", "output_head.py:__init__")
    stacks = [stack for stack in recorded if not any(aside in call for call in stack for aside in asides)]
    assert stacks
    for stack in stacks:
        assert stack[0] == "catsofa/__main__.py:main"
        assert len(stack) <= MOST, "\n".join(stack)
