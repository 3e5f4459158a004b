"""Notebooks: a chunk per cell, symbols at the lines of the file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from exactness import assert_exact
from hypothesis import given
from hypothesis import strategies as st

from satchel.chunking import parse_source
from satchel.chunking.notebooks import render_cell, render_cells
from satchel.lines import split_lines
from satchel.types import ChunkKind

SOURCES = st.text(st.characters(codec="utf-8"), max_size=40).map(lambda text: text.splitlines(keepends=True))
CELLS = st.builds(
    lambda kind, source: {"cell_type": kind, "metadata": {}, "source": source},
    st.sampled_from(["code", "markdown", "raw"]),
    SOURCES,
)


def write(*cells: dict[str, Any], indent: int | None = 1, **metadata: Any) -> str:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}, indent=indent)


def cell(kind: str, *source: str) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": list(source)}


@given(cells=st.lists(CELLS, max_size=5), indent=st.sampled_from([None, 0, 1]), cut=st.integers(0, 60))
def test_whatever_the_cells_every_line_is_in_one_exact_chunk(
    cells: Any, indent: int | None, cut: int
) -> None:
    text = write(*cells, indent=indent)
    assert_exact(text, parse_source(text, "notebook").chunks)
    assert_exact(text[:-cut], parse_source(text[:-cut], "notebook").chunks)


@given(cells=st.lists(CELLS, min_size=1, max_size=5))
def test_rendering_a_chunk_gives_the_source_of_its_cell(cells: Any) -> None:
    chunks = parse_source(write(*cells), "notebook").chunks
    rendered = [render_cell(chunk.text) for chunk in chunks if chunk.kind is not ChunkKind.CONFIG]
    assert rendered == ["".join(written["source"]) for written in cells]


def test_a_markdown_cell_is_named_by_the_headings_it_stands_under() -> None:
    text = write(
        cell("markdown", "# A\n", "text"),
        cell("code", "x"),
        cell("markdown", "### B ###"),
        cell("markdown", "words"),
    )
    chunks = parse_source(text, "notebook").chunks[1:-1]
    assert [(chunk.kind, chunk.title_path, chunk.level) for chunk in chunks] == [
        (ChunkKind.SECTION, ("A",), 1),
        (ChunkKind.MODULE, ("cell 2",), 0),
        (ChunkKind.SECTION, ("A", "B"), 3),
        (ChunkKind.SECTION, ("cell 4",), 0),
    ]


def test_symbols_and_references_point_at_the_lines_of_the_file() -> None:
    text = write(cell("markdown", "def no(): ..."), cell("code", "%time x\n", "def yes():\n", "    call()"))
    parsed = parse_source(text, "notebook")
    lines = split_lines(text)
    assert [lines[symbol.start_line - 1].strip() for symbol in parsed.symbols] == ['"def yes():\\n",']
    assert [lines[use.line - 1].strip() for use in parsed.references] == ['"    call()"']


def test_links_of_markdown_cells_point_at_the_lines_of_the_file() -> None:
    text = write(cell("markdown", "words\n", "[link](other.ipynb)"))
    (link,) = parse_source(text, "notebook").references
    assert link.name == "other.ipynb" and "link" in split_lines(text)[link.line - 1]


@pytest.mark.parametrize(
    "source", [["%%bash\n", "def no(): ..."], "def no():\n  pass", ["x\ndef no(): ...", "\n"]]
)
def test_a_cell_whose_lines_cannot_be_mapped_has_no_symbols(source: Any) -> None:
    text = write({"cell_type": "code", "source": source})
    assert parse_source(text, "notebook").symbols == ()


def test_the_language_is_the_one_the_notebook_states() -> None:
    text = write(cell("code", "def no(): ..."), language_info={"name": "brainfuck"})
    assert parse_source(text, "notebook").symbols == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"cells": [1, null]}', "[" * 100_000])
def test_what_is_no_notebook_loses_no_text(text: str) -> None:
    assert "".join(chunk.text for chunk in parse_source(text, "notebook").chunks) == text


def test_a_long_output_is_cut_and_the_last_part_still_shows_the_source() -> None:
    output = {"output_type": "stream", "text": ["0123456789\n"] * 2000}
    text = write({"cell_type": "code", "outputs": [output], "source": ["a\n", "b"]})
    parts = [chunk for chunk in parse_source(text, "notebook").chunks if chunk.title_path == ("cell 1",)]
    assert len(parts) > 1
    assert render_cell(parts[-1].text) == "a\nb"
    assert render_cell(parts[1].text) == parts[1].text


def test_several_cells_and_a_whole_notebook_show_the_source_of_each() -> None:
    text = write(cell("markdown", "# Plot\n", "words"), cell("code", "x = 1\n", "y = 2"))
    chunks = [chunk.text for chunk in parse_source(text, "notebook").chunks if '"source"' in chunk.text]
    both = "# Plot\nwords\n\nx = 1\ny = 2"
    assert render_cells(text) == render_cells("".join(chunks)) == both
    assert [render_cells(part) for part in chunks] == both.split("\n\n")


def test_cut_cells_are_shown_as_the_lines_they_are() -> None:
    text = write(cell("code", "x = 1"), cell("code", "y = 2"))
    assert render_cells(text[:-20]) == text[:-20]
