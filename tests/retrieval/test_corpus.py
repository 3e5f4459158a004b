"""What a corpus keeps at hand is what it would read again, and never more than a bounded part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from builders import SHOP, make_tree, memory_engine
from hypothesis import given
from hypothesis import strategies as st

from satchel.retrieval import corpus as module
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.file_cache import DefinedNames
from satchel.storage.records import FileRecord
from satchel.terms import terms

NAMES = st.lists(st.text("aBÄ_1é", min_size=1, max_size=6), max_size=8)
WORDS = [f"word{letter}" for letter in "abcdefghijklmnopqrst"]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    tree = {f"{word}.md": f"{word} basket\n" for word in WORDS}
    return memory_engine(make_tree(tmp_path, tree)).corpus()


def test_cached_postings_are_those_of_the_index(corpus: Corpus) -> None:
    for term in ("basket", *(next(terms(word)) for word in WORDS), "qqqq", "basket"):
        again = Corpus(corpus.snapshot).postings(term)
        assert [part.tolist() for part in corpus.postings(term)] == [part.tolist() for part in again]


def test_cached_postings_are_bounded(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_POSTINGS_KEPT", 2)
    monkeypatch.setattr(module, "_LEAST_POSTINGS_KEPT", 0)
    corpus = Corpus(corpus.snapshot)
    most = 2 * corpus.unit_count
    for number in range(3 * most):  # a term that stands nowhere is remembered, too
        corpus.postings(f"qq{number}")
        corpus.postings("basket")
        assert sum(len(positions) + 1 for positions, _ in corpus._postings.values()) <= most


def test_a_small_index_keeps_the_postings_of_common_words(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.postings("basket")
    for number in range(4 * corpus.unit_count):
        corpus.postings(f"qq{number}")
    monkeypatch.delattr(type(corpus.snapshot), "postings_many")
    assert len(corpus.postings("basket")[0]) == corpus.unit_count


def test_numbers_of_a_file_are_worked_out_once(corpus: Corpus) -> None:
    asked: list[str] = []

    def row(record: FileRecord) -> tuple[float, ...]:
        asked.append(record.path)
        return float(len(record.path)), 1.0

    files = corpus.unit_offsets.argsort()[:3]
    assert corpus.numbers(files, 2, row).tolist() == corpus.numbers(files, 2, row).tolist()
    assert sorted(asked) == sorted(corpus.files[at].path for at in files.tolist())


@given(types=NAMES, others=NAMES, part=st.text("ab_1é", min_size=1, max_size=2))
def test_names_are_found_by_any_part_apart_from_case(types: list[str], others: list[str], part: str) -> None:
    encoded = part.encode()
    found = DefinedNames(types, others).holding([encoded, b""])
    for names, those in zip((types, others), found, strict=True):
        assert list(those) == [
            name.encode() for name in dict.fromkeys(names) if encoded in name.encode().lower()
        ]


def test_norms_of_many_units_are_those_of_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = memory_engine(make_tree(tmp_path, SHOP)).corpus()
    positions = np.flatnonzero(ready.alive)[::-1]
    expected = [ready.norms(positions, mean).tolist() for mean in (ready.mean_length, 7.0)]
    assert len(set(expected[0])) > 1
    monkeypatch.setattr(module, "_READY_NORMS", 0)
    assert [ready.norms(positions, mean).tolist() for mean in (ready.mean_length, 7.0)] == expected
