"""A callback for the Trainer of transformers that measures stereotypes during training."""

__all__ = ["StereotypeCallback"]

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

from transformers import TrainerCallback

from catsofa.integrations import numbers
from catsofa.scoring.dataset import open_data
from catsofa.scoring.evaluate import evaluate
from catsofa.scoring.results import Report


class Log(Interface):
    """A function that logs a report, such as `log` of `catsofa.integrations.wandb`, `mlflow` and `trackio`."""

    def __call__(self, report: Report, *, step: int | None = None) -> None:
        """Logs the numbers of a report at a step."""


class StereotypeCallback(TrainerCallback):  # type: ignore[misc]
    """Measures the network on a data set at each evaluation of the Trainer.

    The numbers over all items are added to the metrics of the evaluation as `eval_catsofa_MEASURE_NAME`, and to the
    state's `log_history`. `metric_for_best_model` may name them. Each function in `log` receives the report and the
    step, on the first process only. The callback does not affect training: the network, its gradients and the random
    state stay as they are.
    """

    def __init__(
        self,
        data: str | Path | Iterable[Any],
        *,
        protocol: str = "catsofa",
        limit: int | None = None,
        tokenizer: Any = None,
        log: Sequence[Log] = (),
    ) -> None:
        self.data = data
        open_data(self.data, limit)  # fail now on wrong data, not after the training up to the first evaluation
        self.how: dict[str, Any] = {"protocol": protocol, "limit": limit}
        self.tokenizer, self.log = tokenizer, tuple(log)
        self.reports: dict[int, Report] = {}
        """Step to the report of the network at that step."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Raises a ValueError at the start for a setup that cannot be measured later."""
        if self.tokenizer is None and kwargs.get("processing_class") is None:
            raise ValueError(
                "found no tokenizer for the callback; give Trainer processing_class, or the callback tokenizer="
            )
        deepspeed = getattr(getattr(args, "hf_deepspeed_config", None), "is_zero3", lambda: False)()
        if getattr(args, "fsdp", None) or deepspeed:
            raise ValueError(
                "found weights in parts (FSDP or ZeRO-3); measure the saved checkpoints with catsofa score"
            )

    def on_evaluate(
        self, args: Any, state: Any, control: Any, *, metrics: dict[str, float], model: Any, **kwargs: Any
    ) -> None:
        """Measures the network once at this step, and adds the numbers to the metrics."""
        step, first = int(state.global_step), int(state.global_step) not in self.reports
        if first:
            tokenizer = self.tokenizer if self.tokenizer is not None else kwargs.get("processing_class")
            self.reports[step] = evaluate((model, tokenizer), self.data, **self.how)
        whole = {
            name.replace("/", "_"): value for name, value in numbers(self.reports[step]).items() if name.count("/") == 2
        }
        metrics.update({f"eval_{name}": value for name, value in whole.items()})
        if first:
            state.log_history.append({**{f"eval_{name}": value for name, value in whole.items()}, "step": step})
        if first and state.is_world_process_zero:
            for log in self.log:
                log(self.reports[step], step=step)
