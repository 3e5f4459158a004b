"""reStructuredText sections: docutils is the oracle for what a heading is."""

from __future__ import annotations

import io
from typing import Any

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document
from exactness import assert_exact
from hypothesis import given
from hypothesis import strategies as st

from satchel.chunking import parse_source
from satchel.chunking.rst import find_headings
from satchel.lines import split_lines

MARKS = ["==", "====", "=====", "-----", "~~~~~"]
LINES = [
    *("Title", "A", "longer title here", "  indented", "- item", "1. One", ".. note:: x", "   body", ">>> x"),
    *(
        "::",
        "Text::",
        "=== ===",
        "a   b",
        "+---+",
        "| a |",
        ":field: x",
        "..",
        ".. _lab:",
        "....",
        "--opt  x",
    ),
    "中文",
]
DOCUMENTS = st.lists(st.sampled_from(["", "", *MARKS, *LINES]), max_size=10).map("\n".join)


def oracle(text: str) -> list[tuple[str, ...]]:
    """The title paths that docutils finds."""
    settings: Any = get_default_settings(Parser)  # type: ignore[arg-type]
    settings.report_level = settings.halt_level = 5
    settings.warning_stream = io.StringIO()
    document = new_document("x", settings)
    Parser().parse(text, document)
    return list(_paths(document, ()))


def _paths(node: Any, above: tuple[str, ...]) -> Any:
    for child in node.children:
        if isinstance(child, nodes.section):
            path = (*above, child[0].rawsource)
            yield path
            yield from _paths(child, path)


def paths(text: str) -> list[tuple[str, ...]]:
    return [heading.title_path for heading in find_headings(split_lines(text))]


@pytest.mark.parametrize(
    "text",
    [
        "A\n=\n\nB\n-\n\nC\n=\n",
        "===\n A\n===\n\nA\n===\n",
        "para\nTitle\n=====\n",
        "Title\n==\n",
        "ab\n==\n",
        "中文\n===\n",
        "A\n====\nB\n----\n",
        "text::\n\n   A\n   ===\n\nB\n===\n",
        ".. note::\n\n   A\n   ===\n\nB\n===\n",
        ".. _x:\nA\n====\n",
        "==== ====\na    b\n==== ====\nA    c\n---------\n==== ====\n\nB\n====\n",
        "1. A\n====\n",
        "- A\n====\n\nB\n====\n",
        ":a: b\n=====\n\nB\n=====\n",
        ">>> x\nA\n====\n\nB\n====\n",
        "====\nA\n---\n\nB\n----\n",
        "--x  y\n======\n\nB\n======\n",
        "::\n-----\n",
        "::\n\n>>> x\nA\n====\n",
        "Text::\n\n> A\n> ====\n\nB\n====\n",
        "Text::\n\n\n== A\n========\nB\n====\n",
        "\ufeffA\n====\n",
        "A\tb\n========\n",
    ],
)
def test_headings_are_those_of_docutils(text: str) -> None:
    assert paths(text) == oracle(text.removeprefix("\ufeff"))


@given(text=DOCUMENTS)
def test_no_heading_of_docutils_is_missed(text: str) -> None:
    found = [path[-1] for path in paths(text)]
    numbered_lists = any(line.startswith("1.") for line in text.split("\n"))
    assert numbered_lists or {path[-1] for path in oracle(text)} <= set(found)


@given(text=DOCUMENTS, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_whatever_the_text_every_line_is_in_one_exact_chunk(text: str, end: str) -> None:
    text = text.replace("\n", end)
    assert_exact(text, parse_source(text, "rst").chunks)


def test_a_style_that_skips_a_level_still_starts_a_section() -> None:
    assert paths("A\n===\n\nB\n---\n\nC\n~~~\n\nD\n===\n\nE\n~~~\n") == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("D",),
        ("D", "E"),
    ]


def test_what_stands_before_the_first_heading_is_the_intro() -> None:
    chunks = parse_source("words\n\nTitle\n=====\n\nbody\n", "rst").chunks
    assert [(chunk.title_path, chunk.level, chunk.body) for chunk in chunks] == [
        (("INTRO",), 0, "words\n"),
        (("Title",), 1, "\nbody\n"),
    ]


def test_targets_above_a_heading_belong_to_its_section() -> None:
    parsed = parse_source("words\n\n.. _a:\n\n.. _b:\n\nTitle\n=====\nbody\n", "rst")
    assert [(chunk.start_line, chunk.body) for chunk in parsed.chunks] == [(1, "words\n"), (3, "body\n")]
    assert [symbol.start_line for symbol in parsed.symbols] == [7]


def test_a_long_section_is_cut_at_paragraphs_and_only_its_first_part_has_the_heading() -> None:
    paragraphs = "\n\n".join("word " * 100 for _ in range(30))
    chunks = parse_source(f"Title\n=====\n\n{paragraphs}\n", "rst").chunks
    assert len(chunks) > 1 and all(len(chunk.text) <= 6000 for chunk in chunks)
    assert {chunk.title_path for chunk in chunks} == {("Title",)}
    assert [chunk.body_offset for chunk in chunks] == [12, *[0] * (len(chunks) - 1)]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        (":doc:`a` and :ref:`words <b>`", ["a", "b"]),
        (".. include:: c.rst", ["c.rst"]),
        (".. literalinclude:: d.py\n   :lines: 1", ["d.py"]),
        (".. toctree::\n   :maxdepth: 1\n\n   e\n   F <f>\n   self\n\n:doc:`g`", ["e", "f", "g"]),
        ("`words <h.rst>`_ `site <https://x>`_ `alias <i_>`_", ["h.rst"]),
        ("sample::\n\n   :doc:`no`\n\n:doc:`j`", ["j"]),
        (".. code-block:: rst\n\n   :doc:`no`\n", []),
        (".. note::\n\n   :doc:`k`\n", ["k"]),
    ],
)
def test_links_are_found_outside_samples(text: str, targets: list[str]) -> None:
    assert [use.name for use in parse_source(text, "rst").references] == targets


def test_a_link_to_blanks_is_none() -> None:
    text = "See :ref:` `the rules <RULES.rst>`_ and :doc:`guide`.\n"
    assert [item.name for item in parse_source(text, "rst").references] == ["guide"]
