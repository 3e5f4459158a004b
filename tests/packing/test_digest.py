"""The digest: which chunks stand for a document. The published vectors first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.packing.layers import (
    DIGEST_CHARS,
    DIGEST_CHUNKS,
    DigestCandidate,
    choose_digest,
    digest_summary,
    preview,
    score_chunk,
)

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "trifecta.json").read_text(encoding="utf-8")
)


def scored(title: str, text: str = "x" * 100, level: int = 2, number: int = 0) -> DigestCandidate:
    return DigestCandidate(f"doc:{number}", (title,) if title else (), level, text)


@pytest.mark.parametrize("vector", VECTORS["preview"], ids=lambda vector: vector["text"][:20])
def test_previews_are_the_published_ones(vector: dict[str, Any]) -> None:
    assert preview(vector["text"], vector["max_chars"]) == vector["out"]


@pytest.mark.parametrize(
    "vector", VECTORS["score_chunk"], ids=lambda vector: f"{vector['title']}-{vector['level']}"
)
def test_scores_are_the_published_ones(vector: dict[str, Any]) -> None:
    assert score_chunk(vector["title"], vector["level"], vector["text"]) == vector["score"]


def test_the_two_best_chunks_are_chosen_best_first() -> None:
    chunks = [scored("Other"), scored("Usage"), scored("Deep", level=4), scored("Core rules")]
    assert [chunk.title_path[0] for chunk in choose_digest(chunks)] == ["Usage", "Core rules"]


def test_a_title_over_several_lines_is_one_line_of_the_summary() -> None:
    chosen = [DigestCandidate("doc:1", ("Multi line\nsetext  title", "B"), 2, "")]
    assert digest_summary(chosen) == "Multi line setext title → B"


def test_equal_scores_keep_the_order_of_the_document() -> None:
    assert [chunk.id for chunk in choose_digest([scored("B", number=1), scored("A", number=2)])] == [
        "doc:1",
        "doc:2",
    ]


def test_a_chunk_that_does_not_fit_is_passed_over() -> None:
    chunks = [scored("Usage", "x" * 1000), scored("Setup", "x" * 1000), scored("Other", "x" * 200)]
    assert [chunk.title_path[0] for chunk in choose_digest(chunks)] == ["Usage", "Other"]


def test_a_document_of_one_long_chunk_is_still_represented() -> None:
    chunks = [scored("Usage", "x" * 5000), scored("Core", "x" * 5000)]
    assert [chunk.title_path[0] for chunk in choose_digest(chunks)] == ["Usage"]


@given(
    st.lists(st.tuples(st.sampled_from(["Usage", "Other", ""]), st.integers(1, 1500)), min_size=1, max_size=6)
)
def test_never_nothing_never_too_much(parts: list[tuple[str, int]]) -> None:
    chosen = choose_digest(
        [scored(title, "x" * size, number=place) for place, (title, size) in enumerate(parts)]
    )
    assert 1 <= len(chosen) <= DIGEST_CHUNKS
    assert len(chosen) == 1 or sum(len(chunk.text) for chunk in chosen) <= DIGEST_CHARS


def test_a_summary_joins_title_paths() -> None:
    chunks = [
        DigestCandidate("1", ("A", "B"), 2, ""),
        DigestCandidate("2", ("A", "C"), 2, ""),
        DigestCandidate("3", (), 0, ""),
    ]
    assert digest_summary(chunks) == "A → B | A → C | Introduction"


def test_no_chunks_give_no_digest() -> None:
    assert choose_digest([]) == [] and digest_summary([]) == ""
