"""A builder of a real `tokenizer.json` that asks for all that must not shorten or lengthen a count."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

WORDS = ["the basket holds one item and another item", "the till is open, the basket is paid for"]
LIMIT = 8  # tokens that the file itself would cut a text to


def write_tokenizer(folder: Path) -> Path:
    """Byte-level pairs learnt from two sentences, with truncation, padding, special tokens and a frame around all."""
    encoder = Tokenizer(models.BPE())
    encoder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    encoder.train_from_iterator(
        WORDS,
        trainers.BpeTrainer(
            vocab_size=300,
            initial_alphabet=alphabet,
            special_tokens=["<|endoftext|>", "<s>"],
            show_progress=False,
        ),
    )
    encoder.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    encoder.enable_truncation(LIMIT)
    encoder.enable_padding(length=LIMIT)
    path = folder / "tokenizer.json"
    encoder.save(str(path))
    return path
