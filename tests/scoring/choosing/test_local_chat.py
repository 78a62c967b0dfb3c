"""Chat models in this process: token-by-token prompts, and label probabilities from a plain forward pass."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catsofa.data.files import jsonl
from catsofa.data.records import Pair
from catsofa.data.servers.reply_store import ReplyStore
from catsofa.scoring.choosing.asking import Asking
from catsofa.scoring.choosing.items import item_of
from catsofa.scoring.choosing.local import LocalChat, _drawing
from catsofa.scoring.choosing.measured import report_on
from catsofa.scoring.choosing.replies import REPLIES
from catsofa.scoring.choosing.requests import Request, requests
from catsofa.scoring.choosing.session import Choices, ask
from catsofa.scoring.choosing.templates import load as template
from catsofa.scoring.dataset import open_data
from catsofa.scoring.models import load
from catsofa.scoring.models.chat_templates import ids_of, knows_thinking, prompt_text
from catsofa.scoring.models.model import Model

PLAIN = (
    "{% for m in messages %}<|endoftext|>{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
THINKS = PLAIN + "{% if enable_thinking %}<think>{% else %}<think></think>{% endif %}"
ITEMS = [
    item_of(
        Pair(id=str(n), more=f"Zorb {n} is tidy.", less=f"Zorb {n} is messy.", direction="stereo", bias_type="invented")
    )
    for n in range(3)
]
Tiny = Callable[[str], Path]


@pytest.fixture
def chatty(tiny: Tiny, tmp_path: Path) -> Callable[[str], Model]:
    """Returns a function that makes a tiny model with a given chat template."""

    def made(text: str) -> Model:
        folder = tmp_path / f"chatty-{len(text)}"
        shutil.copytree(tiny("qwen2"), folder, dirs_exist_ok=True)
        (folder / "chat_template.jinja").write_text(text)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 512}))
        return load(str(folder), device="cpu")

    return made


def replies(model: Model, wanted: list[Request], store: ReplyStore | None = None, **how: Any) -> list[Any]:
    """Returns the replies to requests, in order."""
    return list(LocalChat(model, Asking(**how)).replies(wanted, store or ReplyStore()))


def test_the_prompt_is_token_by_token_the_one_written_by_hand(chatty: Callable[[str], Model]) -> None:
    """The prompt is the start token, the role, the words and the start of the answer, without other special tokens."""
    model = chatty(PLAIN)
    text = prompt_text(model, "Hi")
    by_hand = [model.tokenizer.convert_tokens_to_ids("<|endoftext|>")]
    for piece in "user: Hi\nassistant:":
        by_hand += model.tokenizer.convert_tokens_to_ids([{" ": "Ġ", "\n": "Ċ"}.get(piece, piece)])
    assert text == "<|endoftext|>user: Hi\nassistant:"
    assert model.tokenizer.decode(ids_of(model, text)) == model.tokenizer.decode(by_hand)
    official = model.tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], add_generation_prompt=True, return_dict=False
    )
    assert list(ids_of(model, text)) == list(official)


def test_label_probabilities_are_those_of_a_plain_forward(chatty: Callable[[str], Model]) -> None:
    """In both orders, a label's probability is the softmax after the prompt, summed over A and space A."""
    import torch

    model = chatty(PLAIN)
    wanted = list(requests(ITEMS, [template("likelihood")]))
    for request, reply in zip(wanted, replies(model, wanted), strict=True):
        prompt = list(ids_of(model, prompt_text(model, request.prompt)))
        expected = {}
        for option, label in zip(request.order, "AB", strict=True):
            total = 0.0
            for text in (label, f" {label}"):
                ids, value = list(ids_of(model, text)), 0.0
                with torch.no_grad():
                    logits = model.module(torch.tensor([prompt + ids])).logits[0].double().log_softmax(-1)
                for position, token in enumerate(ids):
                    value += float(logits[len(prompt) - 1 + position, token])
                total += float(torch.tensor(value).exp())
            expected[option] = total
        assert reply.probabilities == pytest.approx(expected, rel=1e-4)
        assert reply.finish_reason == "stop"


def test_the_prompt_that_requests_share_is_forwarded_once_a_row(chatty: Callable[[str], Model]) -> None:
    """Four continuations of one prompt forward at most 8 tokens more than the prompt itself."""
    model = chatty(PLAIN)
    chat = LocalChat(model, Asking())
    wanted = list(requests(ITEMS[:1], [template("likelihood")]))[:1]
    list(chat.replies(wanted, ReplyStore()))
    prompt = len(ids_of(model, prompt_text(model, wanted[0].prompt)))
    assert chat._backend.tally.forwarded <= prompt + 8


def test_a_model_without_a_template_is_sent_to_score(tiny: Tiny) -> None:
    """A base model has no chat template and is refused; the error points to `catsofa score`."""
    with pytest.raises(ValueError, match=r"chat template.*`catsofa score`"):
        LocalChat(load(str(tiny("qwen2")), device="cpu"), Asking())


def test_a_template_that_knows_thinking_is_told_whether_to_think(chatty: Callable[[str], Model]) -> None:
    """With a budget the model thinks first; without one, the template closes the reasoning."""
    model = chatty(THINKS)
    assert knows_thinking(model)
    assert not knows_thinking(chatty(PLAIN))
    assert prompt_text(model, "Hi", thinking=True).endswith("<think>")
    assert prompt_text(model, "Hi", thinking=False).endswith("<think></think>")
    (reply,) = replies(model, list(requests(ITEMS[:1], [template("likelihood")]))[:1], reasoning_tokens=0)
    assert reply.probabilities


def test_reasoning_that_comes_to_no_end_is_truncated(chatty: Callable[[str], Model]) -> None:
    """A model that never ends its reasoning gives no answer, and its reasoning is stored."""
    (reply,) = replies(chatty(THINKS), list(requests(ITEMS[:1], [template("likelihood")]))[:1], reasoning_tokens=5)
    assert (reply.reply, reply.finish_reason, reply.probabilities) == ("", "length", None)
    assert reply.reasoning


@pytest.mark.parametrize("how", [{}, {"sampled": True, "temperature": 1.0, "answer_tokens": 4}])
def test_replies_are_kept_and_the_same_again(
    chatty: Callable[[str], Model], tmp_path: Path, how: dict[str, Any]
) -> None:
    """Stored replies are not computed again; without the store, the same seed gives the same replies."""
    model = chatty(PLAIN)
    wanted = list(requests(ITEMS, [template("likelihood")], samples=2 if how else 1))
    with ReplyStore(tmp_path / "replies.jsonl") as store:
        first = replies(model, wanted, store, **how)
    with ReplyStore(tmp_path / "replies.jsonl") as store:
        assert replies(model, wanted, store, **how) == first
    assert replies(model, wanted, **how) == first
    assert all(isinstance(reply.reply, str) for reply in first)
    if how:
        assert all(reply.probabilities is None for reply in first)


SAMPLED: dict[str, Any] = {"sampled": True, "temperature": 1.0, "answer_tokens": 6}


@pytest.mark.parametrize("how", [SAMPLED, {**SAMPLED, "reasoning_tokens": 6}])
def test_a_sampled_reply_is_that_of_its_request_whatever_is_asked_beside_it(
    chatty: Callable[[str], Model], how: dict[str, Any]
) -> None:
    """Two of 24 requests give the same replies alone and among the others; samples differ."""
    model = chatty(THINKS)
    wanted = list(requests(ITEMS, [template("likelihood")], samples=4))
    together = replies(model, wanted, **how)
    assert [replies(model, [wanted[number]], **how)[0] for number in (3, 17)] == [together[3], together[17]]
    assert len({(reply.reasoning, reply.reply) for reply in together}) > 20


def test_drawn_tokens_have_their_probabilities() -> None:
    """In 4,000 draws at temperature 2, tokens with shares of 50, 25, 15, 10 and 0 % occur as often, within 4 sigma."""
    import torch

    shares, count = torch.tensor([0.5, 0.25, 0.15, 0.1, 0.0]), 4000
    drawn = _drawing(range(count), 2.0)(None, (shares.log() * 2).repeat(count, 1)).argmax(-1)
    for token, share in enumerate(shares.tolist()):
        assert abs(int((drawn == token).sum()) - count * share) <= 4 * (count * share * (1 - share)) ** 0.5


def test_the_models_own_settings_of_generation_change_no_reply(chatty: Callable[[str], Model]) -> None:
    """A repetition penalty, beams, minimum length or temperature in `generation_config` is not used, but is kept."""
    model = chatty(PLAIN)
    wanted = list(requests(ITEMS, [template("likelihood")], samples=2))
    greedy = {"sampled": True, "answer_tokens": 8}
    plain = [replies(model, wanted, **how) for how in (greedy, SAMPLED)]
    own = model.module.generation_config
    own.update(do_sample=True, temperature=0.1, top_k=1, top_p=0.1, repetition_penalty=9.0, min_new_tokens=3)
    own.update(no_repeat_ngram_size=1, num_beams=3, suppress_tokens=list(range(40)), min_p=0.9)
    assert [replies(model, wanted, **how) for how in (greedy, SAMPLED)] == plain
    assert (model.module.generation_config.repetition_penalty, model.module.generation_config.num_beams) == (9.0, 3)


def test_a_model_that_ends_its_replies_elsewhere_is_another_model(chatty: Callable[[str], Model]) -> None:
    """The tokens that end a reply are part of the identity of the model."""
    model = chatty(PLAIN)
    before = LocalChat(model, Asking()).label
    model.module.generation_config.eos_token_id = [5, 6]
    after = LocalChat(model, Asking())
    assert {5, 6} <= after._ends
    assert after.label != before
    assert after.label.endswith("changed in memory")


@pytest.mark.parametrize("how", [{}, SAMPLED])
@pytest.mark.parametrize("stored", [1, 5, 64, 70])
def test_a_run_that_was_stopped_ends_as_an_unstopped_one(
    chatty: Callable[[str], Model], tmp_path: Path, stored: int, how: dict[str, Any]
) -> None:
    """Wherever a run stops, the resumed run gives every reply and probability to the last bit."""
    model = chatty(PLAIN)
    wanted = list(requests(ITEMS, [template("likelihood")], samples=12))
    wanted = [replace(request, prompt=f"{request.prompt} {request.sample}") for request in wanted]
    whole = replies(model, wanted, **how)
    chat, store = LocalChat(model, Asking(**how)), ReplyStore()
    list(chat.replies(wanted, store))
    with ReplyStore(tmp_path / "replies.jsonl") as cut:
        for key, reply in list(store.replies.items())[:stored]:
            cut.answered(key, reply)
    with ReplyStore(tmp_path / "replies.jsonl") as cut:
        assert replies(model, wanted, cut, **how) == whole


def test_a_prompt_that_the_model_cannot_read_has_a_reason(chatty: Callable[[str], Model]) -> None:
    """A prompt with more tokens than the model has positions gets an error; the other prompts are answered."""
    model = chatty(PLAIN)
    short, long = list(requests(ITEMS[:1], [template("likelihood")]))
    long = replace(long, prompt=long.prompt * 10)
    first, second = replies(model, [short, long])
    assert first.probabilities
    assert (second.reply, second.probabilities) == (None, None)
    assert second.error.endswith("reads at most 512")


def test_labels_that_the_tokenizer_writes_alike_are_refused(chatty: Callable[[str], Model]) -> None:
    """A word tokenizer without A and B is refused: both would have the probability of an unknown word."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"<unk>": 0, "zorb": 1}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    tokenizer.chat_template = PLAIN
    model = replace(chatty(PLAIN), tokenizer=tokenizer)
    with pytest.raises(ValueError, match="labels A and B"):
        replies(model, list(requests(ITEMS[:1], [template("likelihood")])))


def test_answers_that_begin_with_other_words_than_labels_are_told(chatty: Callable[[str], Model]) -> None:
    """A warning says that a model with random weights gives its labels hardly any probability."""
    pairs = [Pair(more=f"Zorb {n} hums.", less=f"Zorb {n} sings.", direction="stereo", bias_type="x") for n in range(3)]
    task = Choices(data=open_data(pairs), items={i.id: i for i in map(item_of, pairs)}, templates=[template("plain")])
    report = ask(LocalChat(chatty(PLAIN), Asking()), task, resamples=50)
    assert any("where an answer begins: the model would say something else" in warning for warning in report.warnings)


def test_the_precision_of_a_model_is_in_the_signature(chatty: Callable[[str], Model], tmp_path: Path) -> None:
    """The signature has the precision, because bfloat16 changes probabilities; the run folder stores it."""
    pairs = [
        Pair(id=str(n), more=f"Zorb {n} hums.", less=f"Zorb {n} sings.", direction="stereo", bias_type="x")
        for n in range(3)
    ]
    task = Choices(data=open_data(pairs), items={i.id: i for i in map(item_of, pairs)}, templates=[template("plain")])
    place = chatty(PLAIN).name
    for dtype in ("float32", "bfloat16"):
        model = LocalChat(load(place, device="cpu", dtype=dtype), Asking())
        report = ask(model, task, out=tmp_path / dtype, resamples=10)
        assert report.signature.dtype == dtype
        jsonl.write(pairs, tmp_path / "pairs.jsonl")
        again = report_on(tmp_path / dtype / REPLIES, tmp_path / "pairs.jsonl", resamples=10)
        assert again.signature.dtype == dtype
