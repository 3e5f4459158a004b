"""What every tokenizer promises, whichever it is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_files import write_tokenizer

from satchel import plugins, tokenizers
from satchel.tokenizers import Tokenizer

SECONDS = 5  # ten times what it takes here, a thousandth of what a square would take
MANY = 200_000
TOO_MANY = 1_000_100  # more blanks than the pattern engine of tiktoken takes
RUNS = {
    "letters": "a", "capitals": "A", "blanks": " ", "tabs": "\t", "line ends": "\n", "windows line ends": "\r\n", "rules": "=",
    "slashes": "/", "quotes": "'", "emoji": "🙂", "ideographs": "中", "accents": "\u0301", "digits": "7", "zeros": "\0", "words": "till ",
}  # fmt: skip


@pytest.fixture(scope="module", params=[*plugins.names("tokenizer"), "file"])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    if request.param == "file":
        return tokenizers.get(str(write_tokenizer(tmp_path_factory.mktemp("own"))))
    return tokenizers.get(request.param)


def test_no_text_is_no_token(tokenizer: Tokenizer) -> None:
    assert tokenizer.count("") == 0


@given(text=st.text(st.characters(), max_size=200))
@settings(deadline=None, max_examples=40)
def test_any_text_has_a_count_and_always_the_same(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.count(text) == tokenizer.count(text) >= 0


@given(text=st.text(max_size=200))
@settings(deadline=None, max_examples=40)
def test_more_text_is_not_fewer_tokens(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.count(text) <= tokenizer.count(text + " word") <= tokenizer.count(text) + 10


def test_many_texts_are_counted_as_each_is(tokenizer: Tokenizer) -> None:
    texts = ["one basket", "", "zwei Körbe", "\udc80", "三个篮子"]
    assert tokenizer.count_all(texts) == [tokenizer.count(text) for text in texts]


def test_surrogates_are_counted(tokenizer: Tokenizer) -> None:
    assert tokenizer.count("caf\udce9 \ud800\ud800 \ud83d\ude42 and more") > 0


def test_the_name_of_a_special_token_is_text(tokenizer: Tokenizer) -> None:
    assert tokenizer.count("<|endoftext|>") > 1


@pytest.mark.parametrize("unit", RUNS.values(), ids=RUNS.keys())
def test_the_same_over_and_over_is_counted_in_time(tokenizer: Tokenizer, unit: str) -> None:
    started = time.process_time()
    assert tokenizer.count(unit * (TOO_MANY if unit in " \t" else MANY) + "x") > 1_000
    assert time.process_time() - started < SECONDS


def test_only_an_estimate_leaves_room(tokenizer: Tokenizer) -> None:
    assert 0 <= tokenizer.headroom < 0.5 and (tokenizer.headroom == 0 or not tokenizer.exact)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(tokenizers.plugins.Unsupported) as error:
        tokenizers.get("o300k")
    assert error.value.hint == "known: chars4, cl100k, claude, o200k"


def test_the_defaults_are_there() -> None:
    assert not tokenizers.get().exact and tokenizers.get(tokenizers.DEFAULT_BUDGET).exact


def test_claude_is_a_quarter_more_than_o200k_rounded_up() -> None:
    text = Path(__file__).read_text()
    exact = tokenizers.get("o200k").count(text)
    assert tokenizers.get("claude").count(text) == -(-exact * 5 // 4)


def test_four_characters_are_a_token_of_chars4() -> None:
    assert [tokenizers.get("chars4").count("é" * length) for length in (3, 4, 7, 8)] == [0, 1, 1, 2]
