"""The task for chat models of lighteval, exported beside the tasks of lm-evaluation-harness and Inspect."""

TASK = '''\
"""Choices of a chat model as a task of lighteval, measured by catsofa's own reader of replies."""

from pathlib import Path

from catsofa.share.chat_task import MEASURES, answer, measures, read_documents  # pip install catsofa
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.tasks.lighteval_task import LightevalTask, LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

HERE = Path(__file__).parent


class Read(SampleLevelComputation):
    """What the reply to a document is read as."""

    def compute(self, doc, model_response, **_):
        return answer(doc.specific, reply=model_response.text[0])


def whole(answers):
    """Every measure of all answers at once: lighteval makes no standard error of what is a dict."""
    return dict(measures(tuple(answers)))


def doc_of(line, task_name=None):
    """A request as lighteval asks it."""
    return Doc(task_name=task_name, query=line["prompt"], choices=[""], gold_index=0, specific=line)


METRIC = CorpusLevelMetric(
    metric_name="catsofa",
    higher_is_better=True,
    category=SamplingMethod.GENERATIVE,
    sample_level_fn=Read(),
    corpus_level_fn=whole,
)
TASKS_TABLE = [
    LightevalTaskConfig(
        name="{task}",
        prompt_function=doc_of,
        hf_repo=str(HERE / "lighteval_data"),
        hf_subset="default",
        metrics=[METRIC],
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        generation_size={tokens},
        stop_sequence=[],
    )
]
'''
