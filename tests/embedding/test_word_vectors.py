"""The table of word vectors: its file, and what the shipped one knows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from satchel.embedding import DATA, word_vectors
from satchel.embedding.pooling import query_vector, similarities
from satchel.embedding.word_vectors import UNKNOWN_ROW, WordVectors, load, read, write
from satchel.terms import stem

ROWS = np.arange(-6, 6, dtype=np.int8).reshape(3, 4)


@pytest.fixture
def shipped() -> WordVectors:
    words = load()
    assert words is not None
    return words


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "w.bin", "tiny-1", ["añb", "font", "pars"], ROWS)
    words = read(tmp_path / "w.bin")
    assert words is not None
    assert (words.model_id, words.dimensions, words.row("pars")) == ("tiny-1", 4, 2)
    assert np.array_equal(words.table, ROWS)


def test_unknown_terms_have_no_row(tmp_path: Path) -> None:
    write(tmp_path / "w.bin", "tiny-1", ["a", "b", "c"], ROWS)
    words = read(tmp_path / "w.bin")
    assert words is not None
    assert words.rows(["b", "=a", "zz", "a"]).tolist() == [1, UNKNOWN_ROW, UNKNOWN_ROW, 0]
    assert [words.row(term) for term in ("", "b", "=a", "zz", "a\nb", "\udc80")] == [-1, 1, -1, -1, -1, -1]


def test_one_term_and_many_have_the_same_rows(shipped: WordVectors) -> None:
    asked = [*shipped.terms[::97], shipped.terms[-1], "no-such-term", "", "ä", "\U0001f600"]
    assert [shipped.row(term) for term in asked] == shipped.rows(asked).tolist()


def test_a_table_must_fit_its_terms() -> None:
    with pytest.raises(ValueError, match="3 rows for 2 terms"):
        WordVectors("tiny-1", ROWS, b"a\nb")


def test_a_missing_file_is_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "DATA", tmp_path / "absent.bin")
    load.cache_clear()
    assert load() is None
    load.cache_clear()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + b"\0" * 80, b"satwords\x63\0\0\0" + b"\0" * 80])
def test_another_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.bin").write_bytes(content)
    with pytest.raises(ValueError, match=r"w\.bin"):
        read(tmp_path / "w.bin")


@pytest.mark.parametrize("vocabulary", [["b", "a", "c"], ["a", "a", "b"], ["a", "b"]])
def test_a_vocabulary_that_does_not_fit_is_refused(tmp_path: Path, vocabulary: list[str]) -> None:
    with pytest.raises(ValueError, match="sorted"):
        write(tmp_path / "w.bin", "tiny-1", vocabulary, ROWS)


def test_the_shipped_table_is_small_and_wide_enough(shipped: WordVectors) -> None:
    assert DATA.stat().st_size <= 8_000_000
    assert shipped.dimensions == 128
    assert shipped.table.dtype == np.int8 and len(shipped.table) == len(shipped.terms) >= 15_000


def test_the_shipped_words_are_terms(shipped: WordVectors) -> None:
    words = shipped.terms
    assert words == sorted(words)
    assert not [word for word in words if not word or word[0] == "=" or "\n" in word]
    assert all(shipped.row(stem(word)) >= 0 for word in ("delete", "parser", "directories", "thread", "http"))


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [
        ("delete", "remove", "font"),
        ("directory", "folder", "encrypt"),
        ("thread", "mutex", "color"),
        ("password", "auth", "matrix"),
        ("image", "pixel", "socket"),
        ("parser", "token", "audio"),
    ],
)
def test_related_words_are_closer(shipped: WordVectors, word: str, near: str, far: str) -> None:
    vectors = [query_vector(shipped, {stem(text): 1.0}) for text in (word, near, far)]
    assert vectors[0] is not None and vectors[1] is not None and vectors[2] is not None
    closer, farther = similarities(np.stack(vectors[1:]), vectors[0])  # type: ignore[arg-type]
    assert closer > farther + 0.1
