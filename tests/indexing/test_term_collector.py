"""Counting a whole batch at once gives what counting each unit by itself would give."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.indexing import term_collector
from satchel.indexing.term_collector import TermCollector
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM
from satchel.terms import terms
from satchel.types import Chunk, ChunkKind, Symbol

_LINES = st.lists(
    st.sampled_from(["RouterGroup models\n", "model\n", "straße “quoted” 日本語\n", "\n", "x_y x_y\n"]),
    min_size=1,
    max_size=80,
)


def one_unit(text: str, comments: tuple[tuple[int, int], ...] = ()) -> Parsed:
    """A file of a single chunk, too short to be scored in parts, that defines one name."""
    last = len(split_lines(text))
    symbol = Symbol("RouterGroup", "RouterGroup", ChunkKind.CLASS, 1, last)
    return Parsed((Chunk(ChunkKind.CLASS, ("RouterGroup",), 1, last, text),), (symbol,), comments=comments)


def counted_one_by_one(body: str, comment: str) -> dict[str, int]:
    packed: Counter[str] = Counter()
    for term, count in Counter(terms(body)).items():
        packed[term] += min(count, BODY.limit)
    for term, count in Counter(terms(comment)).items():
        packed[term] += min(count, COMMENT.limit) << COMMENT.shift
    for text, field in (("RouterGroup", NAME), ("a", STEM), ("src", FOLDER)):
        for term in set(terms(text)):
            packed[term] += 1 << field.shift
    return dict(packed)


@given(files=st.lists(_LINES, min_size=1, max_size=4))
def test_a_batch_counts_as_its_units_would_by_themselves(files: list[list[str]]) -> None:
    collector = TermCollector()
    for lines in files:
        text = "".join(lines)
        collector.add("src/a.py", one_unit(text[:1500], ((1, 1),)), split_lines(text[:1500]))
    batch = collector.batch()
    found = zip(np.frombuffer(batch.term_ids, np.uint32), np.frombuffer(batch.packed, np.uint16), strict=True)
    for size, lines in zip(batch.sizes, files, strict=True):
        unit = {batch.vocabulary[term]: int(packed) for term, packed in islice(found, size)}
        own = split_lines("".join(lines)[:1500])
        assert unit == counted_one_by_one("".join(own[1:]), own[0])


def test_nothing_collected_is_an_empty_batch() -> None:
    batch = TermCollector().batch()
    assert (batch.vocabulary, batch.sizes, batch.packed, batch.lengths) == ([], [], b"", b"")


def test_what_a_process_remembers_does_not_change_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    def pairs() -> set[tuple[str, int]]:
        collector = TermCollector()
        collector.add("src/a.py", one_unit("model router\n"), ["model router\n"])
        batch = collector.batch()
        numbers = np.frombuffer(batch.term_ids, np.uint32).tolist()
        return set(zip([batch.vocabulary[number] for number in numbers], batch.packed[::2], strict=True))

    before = pairs()
    monkeypatch.setattr(term_collector, "_MEMO_LIMIT", -1)  # every collector starts anew
    assert pairs() == before
