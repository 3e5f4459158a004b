"""Markdown sections: the vectors, the oracle (markdown-it-py) and the two invariants of every chunk."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from satchel.chunking.markdown import chunk_markdown, find_headings, front_matter_end
from satchel.lines import split_lines
from satchel.types import ChunkKind, Label

VECTORS = Path(__file__).parent.parent / "vectors"
CASES: dict[str, Any] = json.loads((VECTORS / "markdown.json").read_text(encoding="utf-8"))
PARSER = MarkdownIt("commonmark").disable("inline")

_PREFIXES = [
    "",
    "",
    "",
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "> ",
    ">",
    ">\t",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "-\t",
    "-     ",
]
_BODIES = """
|text|# H|## H ##|#|#x|### a #|===|---|-|=|- - -|***|```|````|``` py|~~~|~~~~ x|``` a`b|<div>|</div>|<b>|<b> x
|<!-- c|-->|<pre>|</pre>|<script x>|</SCRIPT> y|<?php|?>|<!DOCTYPE|<![CDATA[|]]>|>|[a]: /u|[a]:|/u|'t'|"t|t"
|[a]: /u 't'|[a]: <x y>|[a]: b(c|[x|]: /u|1.|2.|+|<a href="x" />|\x0c|\u2028|\xa0|# \x0bt|[l](a.md#b)|`c`
""".replace("\n", "").split("|")
_LINES = st.builds(
    lambda prefixes, body, tail, end: "".join(prefixes) + body + tail + end,
    st.lists(st.sampled_from(_PREFIXES), max_size=3),
    st.sampled_from(_BODIES),
    st.sampled_from(["", "", "", " ", "\t"]),
    st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]),
)
DOCUMENTS = st.lists(_LINES, max_size=14).map("".join)


def headings_of(text: str) -> list[list[Any]]:
    return [[found.line, found.level, found.title, list(found.title_path)] for found in find_headings(text)]


def oracle(text: str) -> list[tuple[int, int, int, str]]:
    return [
        (token.map[0] + 1, token.map[1], int(token.tag[1]), inline.content)
        for token, inline in pairwise(PARSER.parse(text))
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def spans(text: str, max_chars: int = 6000) -> list[tuple[int, int]]:
    return [(chunk.start_line, chunk.end_line) for chunk in chunk_markdown(text, max_chars).chunks]


def links(text: str) -> list[tuple[str, int]]:
    return [(reference.name, reference.line) for reference in chunk_markdown(text).references]


@pytest.mark.parametrize("case", CASES["headings"], ids=lambda case: case["name"])
def test_heading_vectors(case: dict[str, Any]) -> None:
    assert headings_of(case["markdown"]) == case["headings"]


@pytest.mark.parametrize("name", sorted(CASES["spec_files"]))
def test_headings_of_whole_documents(name: str) -> None:
    text = (VECTORS / "spec" / name).read_bytes().decode("utf-8")
    count, headings = CASES["spec_files"][name]
    assert headings_of(text) == headings
    assert len(headings) == count


@settings(max_examples=120, deadline=None)
@given(DOCUMENTS)
def test_headings_are_those_of_a_full_parser(text: str) -> None:
    try:
        expected = oracle(text)
    except IndexError:  # the parser's own fault: an unclosed HTML block in a list at the end of a quote
        return
    if not front_matter_end(text):
        assert [
            (found.line, found.end_line, found.level, found.title) for found in find_headings(text)
        ] == expected


@settings(max_examples=120, deadline=None)
@given(DOCUMENTS, st.sampled_from([1, 12, 40, 6000]))
def test_every_visible_line_is_in_exactly_one_exact_chunk(text: str, max_chars: int) -> None:
    lines = split_lines(text)
    chunks = chunk_markdown(text, max_chars).chunks
    covered = [number for chunk in chunks for number in range(chunk.start_line, chunk.end_line + 1)]
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    assert all(chunk.text == "".join(lines[chunk.start_line - 1 : chunk.end_line]) for chunk in chunks)


@settings(max_examples=80, deadline=None)
@given(DOCUMENTS)
def test_a_chunk_ends_visibly_and_its_body_lacks_only_the_heading(text: str) -> None:
    headings = {found.line: found for found in find_headings(text)}
    for chunk in chunk_markdown(text).chunks:
        found = headings.get(chunk.start_line)
        own = split_lines(chunk.text)
        assert own[-1].strip() or found
        assert chunk.body == "".join(own[found.end_line - found.line + 1 :] if found else own)


def test_multi_line_setext_spans_its_whole_paragraph() -> None:
    (found,) = find_headings("one\ntwo\n===\ntext\n")
    assert (found.line, found.end_line, found.title) == (1, 3, "one\ntwo")


def test_inline_markup_stays_in_the_title() -> None:
    assert find_headings("# **bold** `code`\n")[0].title == "**bold** `code`"


@pytest.mark.parametrize("text", ["> # in\n\n# out\n", "- # in\n\n# out\n", "- a\n\n  in\n  ==\n\n# out\n"])
def test_only_headings_outside_containers_start_sections(text: str) -> None:
    assert [found.title for found in find_headings(text)] == ["out"]


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x85", "\u2028"])
def test_a_line_ends_at_line_ends_only(character: str) -> None:
    assert headings_of(f"a{character}# in\n# out\n") == [[2, 1, "out", ["out"]]]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    "matter",
    [
        "---\n# note\ntitle: x\n---\n",
        "---\n\ntitle: x\nb: c\n---\n",
        "---\n# note\n\n# note\ntitle: x\n\ntags:\n- a\n  b: c\n...\n",
        "---\n$schema: x\n---\n",
        "---\n\n$schema: x\n---\n",
        '---\n"a: b" : x\n---\n',
        "---\n'a': x\n---\n",
        '---\n{"title": "x"}\n---\n',
        '---\n{\n  "title": "x"\n}\n---\n',
        "---\n\n{title: x,\n  b: c\n}\n---\n",
        "+++\n# note\ntitle = 'x'\n\n[a]\n+++\n",
    ],
)
def test_front_matter_is_introduction_and_never_a_heading(mark: str, matter: str) -> None:
    parsed = chunk_markdown(f"{mark}{matter}\n# A\n")
    assert [chunk.title_path for chunk in parsed.chunks] == [("INTRO",), ("A",)]
    assert parsed.chunks[0].text == mark + matter


@pytest.mark.parametrize(
    "text",
    [
        "---\n\n# A\n\nNote: x\n\n---\n",
        "---\n\n# A\n\nNote: x\n---\n",
        "---\nkey: x\n# A\n",
        "\n---\nk: x\n# A\n---\n",
        "---\n\nA\n---\n",
        "---\n\nNote: x\n\nA\n---\n",
        "---\n\nNote: x\n\n---\n\n# A\n---\n",
        "---\n{% note: x %}\n\nA\n---\n",
    ],
)
def test_a_thematic_break_at_the_top_is_no_front_matter(text: str) -> None:
    assert front_matter_end(text) == 0
    assert [found.title for found in find_headings(text)][:1] == ["A"]


def test_prose_with_a_colon_between_a_thematic_break_and_its_underline_is_a_heading() -> None:
    assert find_headings("---\n\nNote: x\nand more\n---\n")[0].title == "Note: x\nand more"


def test_a_byte_order_mark_does_not_hide_the_first_heading() -> None:
    assert headings_of("\ufeff# A\n") == [[1, 1, "A", ["A"]]]
    assert chunk_markdown("\ufeff# A\n").symbols[0].signature == "# A"


def test_preamble_and_sections_become_chunks_without_outer_blank_lines() -> None:
    parsed = chunk_markdown("\n\nhello\n\n# A\n\nbody\n\n\n## B\n")
    assert [(chunk.title_path, chunk.level, chunk.start_line, chunk.end_line) for chunk in parsed.chunks] == [
        (("INTRO",), 0, 3, 3),
        (("A",), 1, 5, 7),
        (("A", "B"), 2, 10, 10),
    ]
    assert [chunk.body for chunk in parsed.chunks] == ["hello\n", "\nbody\n", ""]


@pytest.mark.parametrize("text", ["", "\n", " \r\n\t\r"])
def test_an_empty_document_has_no_chunks(text: str) -> None:
    assert chunk_markdown(text).chunks == ()


def test_every_heading_is_a_symbol_over_its_own_section() -> None:
    symbols = chunk_markdown("# A\ntext\n\n## B ##\nx\ny\n").symbols
    assert [(found.name, found.qualified_name, found.start_line, found.end_line) for found in symbols] == [
        ("A", "A", 1, 2),
        ("B", "A > B", 4, 6),
    ]
    assert (symbols[1].kind, symbols[1].signature) == (ChunkKind.SECTION, "## B ##")


def test_a_long_section_is_cut_at_paragraphs() -> None:
    text = "# A\n\n" + "one two\n\n" * 4
    assert spans(text, 22) == [(1, 5), (7, 9)]
    assert [chunk.body_offset for chunk in chunk_markdown(text, 22).chunks] == [4, 0]


def test_a_long_paragraph_is_cut_at_lines() -> None:
    assert spans("a\n\n" + "1234567\n" * 4, 16) == [(1, 1), (3, 4), (5, 6)]


def test_a_fence_that_fits_is_never_cut() -> None:
    fence = "```\naaaa\n\nbbbb\n```\n"
    assert spans(f"text\ntext\n{fence}text\n", len(fence)) == [(1, 2), (3, 7), (8, 8)]


def test_a_fence_in_a_list_that_fits_is_never_cut() -> None:
    fence = "- a\n\n  ```\n  a\n\n  b\n  ```\n"
    assert spans(f"text text text\n\n{fence}", len(fence)) == [(1, 3), (5, 9)]


def test_a_fence_too_long_alone_is_cut_at_lines_and_keeps_its_heading() -> None:
    assert spans("# A\n```\n" + "1234567\n" * 4 + "```\n", 16) == [(1, 3), (4, 5), (6, 7)]


def test_links_to_files_are_references_without_fragment_or_query() -> None:
    text = "[a](docs/a.md#x) and [b](<b c.md> 'title')\n\n- [c](../c.md?raw=1)\n\n[d]: ./d.md\n[e]:\n  e.md\n"
    assert links(text) == [("docs/a.md", 1), ("b c.md", 1), ("../c.md", 3), ("./d.md", 5), ("e.md", 6)]
    assert {reference.label for reference in chunk_markdown(text).references} == {Label.LINKS_TO}


def test_addresses_anchors_images_and_footnotes_are_no_links() -> None:
    assert (
        links("[a](https://x.y/z.md) [b](mailto:a@b.c) [c](#d) ![e](f.png) [g](//h/i)\n\n[^1]: note.md\n")
        == []
    )


def test_a_link_around_an_image_is_a_link() -> None:
    assert links("[![badge](b.svg)](docs/ci.md)\n") == [("docs/ci.md", 1)]


@pytest.mark.parametrize(
    "text", ["```\n[a](b.md)\n```\n", "`[a](b.md)`\n", "``x ` [a](b.md)``\n", "\\[a](b.md)\n"]
)
def test_code_and_escapes_hold_no_links(text: str) -> None:
    assert links(text) == []


def test_a_link_may_span_lines() -> None:
    assert links("see [the\nguide](guide.md) and `C:\\` [x](y.md)\n") == [("guide.md", 2), ("y.md", 2)]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["> ```\na\n", "> ", "- ", "[a]: /u\n", "[", "`a``", "<a b ", " a\n\n"])
def test_hostile_repetition_stays_linear(unit: str) -> None:
    assert chunk_markdown(unit * 40_000 + "\n\n# A\n").symbols[-1].name == "A"


def test_the_links_of_a_long_paragraph_are_found_in_one_pass() -> None:
    started = time.process_time()
    parsed = chunk_markdown("[a](b.md) " * 60_000)
    assert {item.line for item in parsed.references} == {1}
    assert time.process_time() - started < 3  # 6 s while each link counted the lines from the beginning
