"""A sentence-transformers model run by ONNX Runtime, without torch: the folder's own onnx/model.onnx, pooled by hand.

Sentence-transformers' own ONNX backend goes through optimum, which cannot be installed beside transformers 5.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catsofa.builders.similarity.encoders import refuse_no_model, signature
from catsofa.data.files import BadInput

POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}
FILES = ["*.json", "1_Pooling/config.json", "onnx/model.onnx"]


class OnnxEncoder:
    """An encoder of three parts, transformer, pooling, normalisation: what all-MiniLM-L6-v2 and its kin are."""

    def __init__(self, model: str, *, batch: int = 32) -> None:
        self.model, self.batch = model, batch

    @cached_property
    def signature(self) -> str:
        """The model's name, with the hash of its files if it is a folder, and the backend."""
        return signature(self.model) + " (onnx)"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length one for each text; texts of like length go together, since each batch is filled up."""
        encoded = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids))
        vectors: list[NDArray[np.float32]] = []
        for begin in range(0, len(order), self.batch):
            vectors.append(self._pooled([encoded[at] for at in order[begin : begin + self.batch]]))
        found = np.empty((len(order), vectors[0].shape[1] if vectors else 0), dtype=np.float32)
        found[order] = np.concatenate(vectors) if vectors else found
        return found

    def _pooled(self, encoded: Sequence[Any]) -> NDArray[np.float32]:
        """The normalised vectors of one batch."""
        longest = max(len(one.ids) for one in encoded)
        fields = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        given = {
            name: np.array([getattr(one, field) + [0] * (longest - len(one.ids)) for one in encoded], dtype=np.int64)
            for name, field in fields.items()
        }
        wanted = {node.name for node in self._session.get_inputs()}
        states = self._session.run(None, {name: array for name, array in given.items() if name in wanted})[0]
        mask = given["attention_mask"][:, :, None].astype(np.float32)
        pooled = states[:, 0] if self._pooling == "first" else (states * mask).sum(axis=1) / mask.sum(axis=1)
        rows: NDArray[np.float32] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return rows

    @cached_property
    def _folder(self) -> Path:
        """The model's files: a folder, or a snapshot from the hub."""
        if Path(self.model).is_dir():
            return Path(self.model)
        refuse_no_model(self.model)
        from huggingface_hub import snapshot_download

        try:
            return Path(snapshot_download(self.model, allow_patterns=FILES))
        except (OSError, ValueError) as error:
            raise BadInput(
                self.model, f"no such folder, nor a model on the hub ({error})", "a model with onnx/model.onnx"
            ) from None

    @cached_property
    def _session(self) -> Any:
        """The running model."""
        import onnxruntime

        path = str(self._file("onnx/model.onnx"))
        return onnxruntime.InferenceSession(path, providers=onnxruntime.get_available_providers())

    @cached_property
    def _tokenizer(self) -> Any:
        """The fast tokenizer, cutting where the model was trained to cut."""
        from tokenizers import Tokenizer

        made = Tokenizer.from_file(str(self._file("tokenizer.json")))
        made.no_padding()
        made.enable_truncation(self._json("sentence_bert_config.json").get("max_seq_length") or 512)
        return made

    @cached_property
    def _pooling(self) -> str:
        """How token vectors become one: their mean, or the first."""
        chosen = [name for name, on in self._json("1_Pooling/config.json").items() if on is True and name in POOLINGS]
        if len(chosen) != 1:
            raise BadInput(self._folder, "another pooling than mean or first token", "a model for --backend torch")
        return POOLINGS[chosen[0]]

    def _json(self, name: str) -> dict[str, Any]:
        """One of the model's settings files."""
        found: dict[str, Any] = json.loads(self._file(name).read_text(encoding="utf-8"))
        return found

    def _file(self, name: str) -> Path:
        """One of the model's files."""
        path = self._folder / name
        if not path.is_file():
            raise BadInput(self._folder, f"no {name}", "a model with its ONNX file; or use --backend torch")
        return path
