"""A tiny Llama that memorises dialogues, to be served as a real chat model; runs as its own program.

It has its own byte-pair vocabulary and chat template, and a few hundred thousand parameters. Greedy decoding returns
every reply exactly; otherwise the program fails.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch  # noqa: TID253 - a program of its own, that does nothing without it
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: TID253 - the same

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tokenizer_for(texts: list[str]) -> Any:
    """Returns a byte-level vocabulary of these texts, with a chat template."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>", "<pad>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bare.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=900, special_tokens=special, initial_alphabet=alphabet)
    )
    made = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|end|>", bos_token="<|end|>", pad_token="<pad>")
    made.chat_template = TEMPLATE
    return made


def encoded(tokenizer: Any, dialogues: list[dict[str, str]]) -> list[tuple[list[int], list[int]]]:
    """Returns each dialogue as the tokens of its prompt and of its reply."""
    pairs = []
    for dialogue in dialogues:
        chat = [{"role": "user", "content": dialogue["prompt"]}]
        prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        ids = [tokenizer(text, add_special_tokens=False).input_ids for text in (prompt, dialogue["reply"] + "<|end|>")]
        pairs.append((ids[0], ids[1]))
    return pairs


def learnt(tokenizer: Any, pairs: list[tuple[list[int], list[int]]]) -> Any:
    """Returns a model that has memorised the replies."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=1024,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )
    model = LlamaForCausalLM(config)
    longest = max(len(a) + len(b) for a, b in pairs)
    ids = torch.full((len(pairs), longest), tokenizer.pad_token_id)
    labels, mask = torch.full_like(ids, -100), torch.zeros_like(ids)
    for row, (a, b) in enumerate(pairs):
        ids[row, : len(a) + len(b)] = torch.tensor(a + b)
        labels[row, len(a) : len(a) + len(b)] = torch.tensor(b)
        mask[row, : len(a) + len(b)] = 1
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(400):
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        if loss.item() < 0.004:
            break
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


def main(dialogue_file: str, folder: str) -> None:
    """Learns the dialogues and saves the model."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dialogues = json.loads(Path(dialogue_file).read_text())
    tokenizer = tokenizer_for([d["prompt"] + d["reply"] for d in dialogues])
    pairs = encoded(tokenizer, dialogues)
    model = learnt(tokenizer, pairs)
    for (prompt, _), dialogue in zip(pairs, dialogues, strict=True):
        generated = model.generate(torch.tensor([prompt]), max_new_tokens=120, do_sample=False)[0, len(prompt) :]
        if tokenizer.decode(generated, skip_special_tokens=True) != dialogue["reply"]:
            sys.exit(f"not learnt: {dialogue['reply']!r}")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
