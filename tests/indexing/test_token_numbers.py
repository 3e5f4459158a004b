"""Tokens numbered all at once have the numbers, and so the terms, that a dictionary would give them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.indexing import token_numbers
from satchel.indexing.token_numbers import TokenNumbers, find_tokens
from satchel.terms import terms_of_token

# Lengths around every border between the tables, and tokens that only differ after a whole word.
TOKENS = st.lists(
    st.text("aB_é9", min_size=1, max_size=40).map(str.encode)
    | st.sampled_from([b"a" * length for length in (7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 200)]),
    max_size=60,
)


def numbers_of(known: TokenNumbers, tokens: list[bytes]) -> list[int]:
    text, starts, lengths = find_tokens(b" " + b" ".join(tokens) + b" ")
    return known.numbers(text, starts, lengths).tolist()


def terms_by_number(known: TokenNumbers, number: int) -> tuple[str, ...]:
    own = known.terms[known.starts[number] : known.starts[number + 1]]
    return tuple(known.vocabulary.names[term] for term in own)


@given(st.lists(TOKENS, min_size=1, max_size=3))
def test_equal_tokens_share_a_number_and_others_do_not(texts: list[list[bytes]]) -> None:
    known = TokenNumbers()
    number_of: dict[bytes, int] = {}
    for tokens in texts:
        for token, number in zip(tokens, numbers_of(known, tokens), strict=True):
            assert number_of.setdefault(token, number) == number
            assert terms_by_number(known, number) == terms_of_token(token)
    assert sorted(number_of.values()) == list(range(len(known)))


def test_tokens_keep_their_numbers_when_a_table_grows() -> None:
    known = TokenNumbers()
    first = [b"name%d" % number for number in range(20_000)]
    before = numbers_of(known, first)
    numbers_of(known, [b"other%d" % number for number in range(100_000)])
    assert numbers_of(known, first) == before
    assert len(known) == 120_000


def test_tokens_that_begin_in_one_slot_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_numbers, "_FACTORS", np.zeros(4, np.uint64))
    tokens = [b"name%d" % number for number in range(300)] * 2
    found = numbers_of(TokenNumbers(), tokens)
    assert found[:300] == found[300:]
    assert len(set(found)) == 300


def test_a_text_without_tokens_has_no_numbers() -> None:
    assert numbers_of(TokenNumbers(), []) == []
