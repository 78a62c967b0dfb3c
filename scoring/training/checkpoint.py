"""State of a training on disk: weights, optimiser and progress, complete after any kill."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catsofa.data.files import BadInput, read_text
from catsofa.data.files.folders import atomic_folder
from catsofa.scoring.models.files import disk_errors

EXPECTED = "the state of a training"
_STEP = re.compile(r"step-(\d{8,})")


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Values that training changes: weights by name, their optimiser, and the loss scale of half precision."""

    weights: Mapping[str, Any]
    optimizer: Any
    scaler: Any

    def save(self, folder: Path, step: int, about: Mapping[str, Any]) -> None:
        """Writes the state after a step beside the previous one, then deletes the previous one."""
        from safetensors.torch import save_file

        path = folder / f"step-{step:08}"
        with atomic_folder(path, lambda file: False) as place, disk_errors():
            save_file(
                {name: w.detach().contiguous() for name, w in self.weights.items()}, place / "weights.safetensors"
            )
            save_file(self._moments(), place / "optimizer.safetensors")
            state = {"step": step, "scaler": self.scaler.state_dict(), **about}
            (place / "state.json").write_text(json.dumps(state, indent=1), encoding="utf-8")
        for older in _saved(folder):
            if older != path:
                shutil.rmtree(older)

    def restore(self, folder: Path) -> dict[str, Any] | None:
        """Restores the last state in a folder and returns the notes stored with it; None without a state."""
        import torch
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        for torn in folder.glob(".*.partial"):
            shutil.rmtree(torn)
        saved = _saved(folder)
        if not saved:
            return None
        try:
            with torch.no_grad():
                for name, values in load_file(saved[-1] / "weights.safetensors").items():
                    self.weights[name].copy_(values)
            self._set_moments(load_file(saved[-1] / "optimizer.safetensors"))
            about: dict[str, Any] = json.loads(read_text(saved[-1] / "state.json", EXPECTED))
        except (KeyError, ValueError, RuntimeError, SafetensorError) as error:
            raise BadInput(
                saved[-1], f"a damaged state ({error})", f"{EXPECTED}; delete the folder to begin again"
            ) from None
        if about["scaler"]:
            self.scaler.load_state_dict(about["scaler"])
        return about

    def _moments(self) -> dict[str, Any]:
        """Returns AdamW's values of each weight; empty before its first step."""
        moments = {}
        for name, weights in self.weights.items():
            for part, value in self.optimizer.state.get(weights, {}).items():
                moments[f"{part}:{name}"] = value.detach().clone().contiguous()
        return moments

    def _set_moments(self, moments: Mapping[str, Any]) -> None:
        """Restores AdamW's values."""
        for key, value in moments.items():
            part, _, name = key.partition(":")
            weights = self.weights[name]
            place = value if part == "step" else value.to(weights.device)
            self.optimizer.state[weights][part] = place


def _saved(folder: Path) -> list[Path]:
    """Returns the complete states in a folder, the last one last."""
    states = [path for path in folder.glob("step-*") if _STEP.fullmatch(path.name)]
    return sorted(states, key=lambda path: int(path.name.removeprefix("step-")))
