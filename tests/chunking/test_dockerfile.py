"""Build stages."""

from __future__ import annotations

from exactness import assert_exact
from hypothesis import given
from hypothesis import strategies as st

from satchel.chunking import parse_source
from satchel.types import Label

LINES = st.sampled_from(
    [
        "FROM a",
        "FROM a AS b",
        "from c as d",
        "# remark",
        "",
        "RUN x \\",
        "RUN <<EOF",
        "EOF",
        "COPY --from=b / /",
        "ARG x",
    ]
)


@given(lines=st.lists(LINES, max_size=14), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_whatever_the_text_every_line_is_in_one_exact_chunk(lines: list[str], end: str) -> None:
    text = end.join(lines)
    assert_exact(text, parse_source(text, "dockerfile").chunks)


def test_a_stage_runs_to_the_comments_of_the_next() -> None:
    text = f"ARG a\nFROM x AS one\nRUN {'y' * 1600}\n\n# About two.\nFROM one AS two\nRUN z\n"
    parsed = parse_source(text, "dockerfile")
    assert [(chunk.name, chunk.start_line, chunk.end_line) for chunk in parsed.chunks] == [
        ("", 1, 1),
        ("one", 2, 3),
        ("two", 5, 7),
    ]
    assert [(symbol.name, symbol.start_line, symbol.end_line) for symbol in parsed.symbols] == [
        ("one", 2, 3),
        ("two", 6, 7),
    ]


def test_an_earlier_stage_is_extended_and_any_other_name_is_an_image() -> None:
    text = "FROM x:1 AS one\nFROM one\nCOPY --from=one --chown=a / /\nFROM y\n"
    assert [tuple(use) for use in parse_source(text, "dockerfile").references] == [
        ("x:1", Label.IMPORTS, 1),
        ("one", Label.EXTENDS, 2),
        ("one", Label.USES, 3),
        ("y", Label.IMPORTS, 4),
    ]
