"""Exports a data set as tasks for chat models, for lm-evaluation-harness, Inspect and lighteval."""

import json
import shutil
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from catsofa.data.files.folders import atomic_folder
from catsofa.share import lighteval_export
from catsofa.share.chat_task import MEASURES, TEMPLATE, TOKENS, documents
from catsofa.share.harness import METRIC, NAME

OURS = ("README.md", "chat.py", "inspect_task.py", "lighteval_task.py", "*.yaml", "*.jsonl")
HIGHER = ("consistent", "coverage")
"""Measures for which a higher value is better."""
IDEALS = {"preference": 0.5, "position": 0, "consistent": 1, "coverage": 1}

TASK = """\
# Stereotypes of people; content warning. Benchmark data, not for training.
tag: catsofa
task: {task}
custom_dataset: !function chat.load
dataset_kwargs:
  file: {file}
test_split: test
output_type: generate_until
doc_to_text: prompt
doc_to_target: ""
num_fewshot: 0
generation_kwargs:
  until: ["<|endoftext|>"]  # a stop is required; some servers refuse an empty list of them
  do_sample: false
  temperature: 0
  max_gen_toks: {tokens}
process_results: !function chat.process
metric_list:
{metrics}
metadata:
  version: 1.0
"""
CHAT = '''\
"""What the task of lm-evaluation-harness beside this file reads and computes, by catsofa's own reader of replies."""

from pathlib import Path

from catsofa.share.chat_task import MEASURES, answer, measures, read_documents  # pip install catsofa


def load(file, **_):
    """The documents, from the file beside this one."""
    from datasets import Dataset

    return {{"test": Dataset.from_list(read_documents(Path(__file__).with_name(file)))}}


def process(doc, results):
    """What the reply to a document is read as; every measure is made of it."""
    return dict.fromkeys(MEASURES, answer(doc, reply=results[0]))


def measure(name):
    """The function that makes one measure of all answers."""
    return lambda answers: measures(tuple(answers))[name]


{functions}
'''
INSPECT = '''\
"""Choices of a chat model as a task of Inspect, measured by catsofa's own reader of replies."""

from pathlib import Path

from catsofa.scoring.choosing.logs.inspect import said  # pip install catsofa
from catsofa.share.chat_task import Answer, answer, measures, read_documents
from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import SampleScore, Score, metric, score_reducer, scorer
from inspect_ai.solver import generate


@metric
def choices():
    """Preference, position effect, consistency, coverage, and the share of every outcome."""

    def measure(scores: list[SampleScore]):
        return dict(measures(tuple(Answer.of(said) for each in scores for said in each.score.metadata["answers"])))

    return measure


@score_reducer
def every():
    """All answers to a prompt, one of each epoch."""

    def reduce(scores: list[Score]):
        answers = [said for score in scores for said in score.metadata["answers"]]
        return scores[0].model_copy(update={{"metadata": {{"answers": answers}}}})

    return reduce


@scorer(metrics=[choices()])
def outcome():
    """The outcome of each reply."""

    async def score(state, target):
        reply = said(state.output.model_dump(mode="json"))
        read = answer(state.metadata, **reply, sample=state.epoch - 1)
        return Score(value=read.outcome, answer=reply["reply"], metadata={{"answers": [read._asdict()]}})

    return score


@task
def {task}():
    """Which of the sentences of an item the model names, in every order."""
    samples = [
        Sample(id=number, input=document.pop("prompt"), metadata=document)
        for number, document in enumerate(read_documents(Path(__file__).with_name("{file}")), 1)
    ]
    return Task(
        dataset=MemoryDataset(samples, name="{task}"),
        solver=generate(),
        scorer=outcome(),
        epochs=Epochs(1, every()),
        config=GenerateConfig(temperature=0, max_tokens={tokens}),
    )
'''
README = """\
# {task}: tasks for chat models

**Content warning.** The data hold sentences that stereotype people. They measure models; please leave them out of
training corpora.

The tasks import catsofa, which reads the replies: `pip install catsofa` into the environment of the program.
The command line of Inspect takes relative task paths only: run it in a folder above this one.

    lm_eval --model local-chat-completions --apply_chat_template --tasks {task} --include_path THIS-FOLDER \\
      --model_args model=NAME,base_url=http://127.0.0.1:8000/v1/chat/completions --log_samples --output_path OUT
    LOCAL_API_KEY=none inspect eval THIS-FOLDER/inspect_task.py --log-format json --model openai-api/local/NAME \\
      --model-base-url http://127.0.0.1:8000/v1
    lighteval accelerate model_name=MODEL {task} --custom-tasks THIS-FOLDER/lighteval_task.py

Written by catsofa {version}: {count:,} requests, in every order of the sentences, with the wording {template}. The
numbers are those of `catsofa choose NAME --base-url URL --on DATA --samples 1`, as shares. A preference that position
decides is NaN.

None of the programs makes intervals for them; catsofa does, of a log of the harness or of Inspect, and asks nobody:

    catsofa choose --replies OUT/…/samples_{task}_….jsonl --on DATA
    catsofa choose --replies logs/….json --on DATA

lm-evaluation-harness passes on the text of a reply alone. A reply that its limit of tokens cut off, or that a content
filter stopped, counts as what its text says, or as unread. Inspect passes on why a reply ended, and the reasoning.

The ideal of the preference is 0.5: neither more nor less is better, and 0.5 is not “unbiased”.
"""


def write(records: Iterable[Any], folder: Path | str, name: str) -> int:
    """Writes the tasks `catsofa_NAME_chat` as a new folder; returns the number of requests."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a task; use small letters, digits, - and _")
    task, file, count = f"catsofa_{name}_chat", f"{name}.jsonl", 0
    metrics = "\n".join(
        METRIC.format(
            name=each, function=f"chat.{each}", ideal=IDEALS.get(each, "none"),
            higher="true" if each in HIGHER else "null",
        )
        for each in MEASURES
    )  # fmt: skip
    functions = "\n".join(f'{each} = measure("{each}")' for each in MEASURES)
    filled = {"task": task, "file": file, "tokens": TOKENS, "metrics": metrics, "functions": functions}
    with atomic_folder(folder, lambda entry: any(map(entry.match, OURS))) as filling:
        with (filling / file).open("w", encoding="utf-8") as lines:
            for document in documents(records):
                lines.write(f"{json.dumps(document, ensure_ascii=False)}\n")
                count += 1
        if not count:
            raise ValueError("found no records; expected CATs or pairs to choose from")
        (filling / f"{task}.yaml").write_text(TASK.format(**filled), encoding="utf-8")
        (filling / "chat.py").write_text(CHAT.format(**filled), encoding="utf-8")
        code = INSPECT.format(**filled | {"task": task.replace("-", "_")})
        (filling / "inspect_task.py").write_text(code, encoding="utf-8")
        (filling / "lighteval_task.py").write_text(lighteval_export.TASK.format(**filled), encoding="utf-8")
        (filling / "lighteval_data").mkdir()
        shutil.copyfile(filling / file, filling / "lighteval_data" / "test.jsonl")  # lighteval reads a folder
        about = README.format(task=task, version=version("catsofa"), count=count, template=TEMPLATE)
        (filling / "README.md").write_text(about, encoding="utf-8")
    return count
