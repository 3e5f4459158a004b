"""Identity: the published vectors, and what the rules promise beyond them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel import ids
from satchel.types import Chunk, ChunkKind

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "vectors" / "trifecta.json").read_text(encoding="utf-8")
)
NAMES = st.text(st.sampled_from("abc.MD md-_ é"), min_size=1, max_size=8).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@pytest.mark.parametrize("vector", VECTORS["normalize_markdown"], ids=lambda vector: repr(vector["in"]))
def test_text_is_normalised_as_published(vector: dict[str, Any]) -> None:
    assert ids.normalize_markdown(vector["in"]) == vector["out"]


@pytest.mark.parametrize("vector", VECTORS["normalize_title_path"], ids=lambda vector: repr(vector["in"]))
def test_title_paths_are_normalised_as_published(vector: dict[str, Any]) -> None:
    assert ids.normalize_title_path(vector["in"]) == vector["out"]


@pytest.mark.parametrize("vector", VECTORS["chunk_id"], ids=lambda vector: vector["id"])
def test_ids_are_the_published_ones(vector: dict[str, Any]) -> None:
    digest = ids.chunk_digest(vector["doc"], vector["title_path"], vector["text"])
    assert ids.canonical_id(vector["doc"], digest) == vector["id"]
    assert ids.long_id(digest) == vector["chunk_id"]


@given(PATHS, PATHS)
def test_two_paths_never_share_a_doc(first: str, second: str) -> None:
    assert (ids.doc_of(first) == ids.doc_of(second)) == (first == second)


@given(PATHS)
def test_a_doc_leads_back_to_its_path(path: str) -> None:
    assert ids.path_of(ids.doc_of(path)) == path


@pytest.mark.parametrize(
    ("path", "doc"),
    [
        ("skill.md", "skill"),
        ("docs/setup.md", "docs/setup"),
        ("docs/setup", "./docs/setup"),
        ("app.py.md", "app.py.md"),
        ("app.py", "app.py"),
        (".md", ".md"),
        ("v1.2/notes.md", "v1.2/notes"),
    ],
)
def test_the_doc_of_a_path(path: str, doc: str) -> None:
    assert ids.doc_of(path) == doc


def test_copies_in_one_doc_have_ids_of_their_own() -> None:
    digests = ids.digests("doc", [(("A",), "h"), (("A",), "h"), (("a ",), "h"), (("B",), "h")])
    assert len(set(digests)) == 4 and digests[0] == ids.seeded_digest("doc", "a", "h")
    assert digests[1] == ids.seeded_digest("doc", "a", "h", 2)


def test_many_copies_take_linear_time() -> None:
    started = time.monotonic()
    digests = ids.digests("doc", [((), "h")] * 1_500)
    assert len(set(digests)) == 1_500 and time.monotonic() - started < 2  # a hundredth on an idle machine


def test_case_and_spacing_of_a_heading_do_not_change_an_id() -> None:
    def digest(heading: str) -> str:
        text = f"# {heading}\n\nbody\n"
        chunk = Chunk(ChunkKind.SECTION, (heading,), 1, 3, text, 1, len(f"# {heading}\n"))
        return ids.digests("doc", [(chunk.title_path, ids.body_hash(chunk))])[0]

    assert digest("Core Rules") == digest("core   RULES") != digest("Core Rule")


def test_a_lone_surrogate_can_be_hashed() -> None:
    assert len(ids.hash_text("\ud800")) == 64


def test_a_root_is_named_without_its_path() -> None:
    first, second = ids.root_fingerprint(Path("/a/b")), ids.root_fingerprint(Path("/a/c"))
    assert first == ids.root_fingerprint(Path("/a/b")) != second and len(first) == 16
