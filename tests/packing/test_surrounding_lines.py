"""Widening: neighbours of a chunk, and the definition that holds lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel.packing.surrounding_lines import FetchedLines, around, definitions, enclosing, overlapping
from satchel.storage.open_files import OpenFile, OpenFiles

SMALL = """\
import os


class Small:
    '''A type that is one chunk.'''

    # why first is cached
    @cache
    @route(
        "/first",
    )
    def first(self):
        return 1

    limit = 3
    def second(self):
        return 2


@main
def run():
    if True:
        os.exit(0)
"""
BIG = "# big\nclass Big:\n" + "".join(f"\n    def m{n}(self):\n        {'x = 1; ' * 30}\n" for n in range(9))
CLOSE = """\
LOW = 1
HIGH = 2


@route(
    1,

    2,
)
def spaced():
    return 1


class Tight:
    @cache
    def first(self): return 1
    def second(self): return 2
"""
GO = "package a\n\n// Open opens.\n// It may fail.\nfunc Open() {\n\tif true {\n\t\treturn\n\t}\n}\n"
LONG_FUNCTION = "def long():\n" + "".join(
    f"    value_{n} = call({n})\n" + "\n" * (n % 40 == 0) for n in range(400)
)


@pytest.fixture
def files(tmp_path: Path) -> OpenFiles:
    tree = {**SHOP, "small.py": SMALL, "big.py": BIG, "close.py": CLOSE, "a.go": GO, "long.py": LONG_FUNCTION}
    return OpenFiles(memory_engine(make_tree(tmp_path, tree)).snapshot())


def opened(files: OpenFiles, path: str) -> OpenFile:
    file = files.get(path)
    assert file is not None
    return file


def holder(files: OpenFiles, path: str, first: int, last: int = 0) -> tuple[str, int, int]:
    file = opened(files, path)
    span = enclosing(file, definitions(file), FetchedLines(path, first, last or first))
    return span.symbol.qualified_name if span.symbol else "", span.first, span.last


def test_neighbours_are_whole_chunks_before_and_after(files: OpenFiles) -> None:
    file = opened(files, "big.py")
    third = file.chunks[3]
    span = around(file, FetchedLines("big.py", third.start_line, third.end_line), 2)
    assert (span.first, span.last) == (file.chunks[1].start_line, file.chunks[5].end_line)


@pytest.mark.parametrize("count", [9, 1000])
def test_neighbours_end_with_the_file(files: OpenFiles, count: int) -> None:
    file = opened(files, "big.py")
    span = around(file, FetchedLines("big.py", 1, 2), count)
    assert (span.first, span.last) == (file.chunks[0].start_line, file.chunks[-1].end_line)


def test_lines_inside_a_chunk_are_given_with_all_of_it(files: OpenFiles) -> None:
    file = opened(files, "small.py")
    span = around(file, FetchedLines("small.py", 6, 6), 1)
    assert (span.first, span.last) == (1, 23)


def test_blank_lines_between_chunks_have_neighbours_too(files: OpenFiles) -> None:
    file = opened(files, "small.py")
    assert file.chunks[0].end_line < 2 < file.chunks[1].start_line
    span = around(file, FetchedLines("small.py", 2, 2), 1)
    assert (span.first, span.last) == (file.chunks[0].start_line, file.chunks[1].end_line)


def test_no_neighbours_change_nothing(files: OpenFiles) -> None:
    assert around(opened(files, "small.py"), FetchedLines("small.py", 5, 6), 0) == FetchedLines(
        "small.py", 5, 6
    )


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("small.py", 13, ("Small.first", 7, 13)),
        ("small.py", 7, ("Small.first", 7, 13)),
        ("small.py", 10, ("Small.first", 7, 13)),
        ("small.py", 16, ("Small.second", 16, 17)),
        ("small.py", 14, ("Small", 4, 17)),
        ("small.py", 20, ("run", 20, 23)),
        ("small.py", 23, ("run", 20, 23)),
        ("close.py", 1, ("LOW", 1, 1)),
        ("close.py", 2, ("HIGH", 2, 2)),
        ("close.py", 6, ("spaced", 5, 11)),
        ("close.py", 17, ("Tight.second", 17, 17)),
        ("a.go", 7, ("Open", 3, 9)),
        ("a.go", 3, ("Open", 3, 9)),
        ("README.md", 7, ("Shop > Setup", 5, 7)),
    ],
)
def test_the_innermost_definition_is_given_with_its_decorators_and_comments(
    files: OpenFiles, path: str, line: int, expected: tuple[str, int, int]
) -> None:
    assert holder(files, path, line) == expected


def test_lines_of_two_members_are_in_their_type(files: OpenFiles) -> None:
    assert holder(files, "small.py", 13, 16) == ("Small", 4, 17)
    lines = len(BIG.splitlines())
    assert holder(files, "big.py", 5, 9) == ("Big", 1, lines)


def test_the_head_of_a_long_type_is_in_all_of_it(files: OpenFiles) -> None:
    assert opened(files, "big.py").chunks[0].end_line == 2
    assert holder(files, "big.py", 1, 2) == ("Big", 1, len(BIG.splitlines()))


def test_a_function_of_several_chunks_is_given_whole(files: OpenFiles) -> None:
    assert len(opened(files, "long.py").chunks) > 1
    assert holder(files, "long.py", 300) == ("long", 1, len(LONG_FUNCTION.rstrip().splitlines()))


def test_outside_of_any_definition_the_chunk_is_given(files: OpenFiles) -> None:
    file = opened(files, "src/basket.py")
    assert holder(files, "src/basket.py", 3) == ("", file.chunks[0].start_line, file.chunks[0].end_line)
    assert holder(files, "small.py", 1, 20) == ("", 1, 23)
    assert holder(files, "small.py", 3) == ("", 3, 3)


def test_overlapping_lines_of_one_file_are_grouped_and_others_are_not() -> None:
    spans = [
        FetchedLines("b", 5, 9),
        FetchedLines("a", 5, 9),
        FetchedLines("b", 1, 5),
        FetchedLines("b", 10, 12),
        FetchedLines("b", 2, 3),
    ]
    assert overlapping(spans) == [[0, 2, 4], [1], [3]]
