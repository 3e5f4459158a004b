"""Patterns of callers: the same answers as ever, in linear time, inside limits that are said."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel import globs
from satchel.errors import InvalidRequest
from satchel.retrieval.filters import Filters, under
from satchel.storage.records import FileRecord

LONG_NAME = "a" * 200 + "/" + "a" * 200 + ".py"
ENDLESS = ["*?" * 100 + "z", "**?" * 100 + "z", "*a" * 100 + "*z", "?" * 50 + "**/*" * 50 + "z"]


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_that_matches_in_exponentially_many_ways_takes_no_time(pattern: str) -> None:
    started = time.process_time()
    for field in ({"file_pattern": pattern}, {"include_paths": (pattern,)}, {"exclude_paths": (pattern,)}):
        filters = Filters(**field)  # type: ignore[arg-type]
        record = FileRecord(LONG_NAME, 1, 1, "00" * 32, "python", "utf-8", 1, (), ())
        assert filters.accepts_file(record) is ("exclude_paths" in field)
    assert time.process_time() - started < 2


NAMES = st.text(st.sampled_from("ab.é\n+[\\"), min_size=1, max_size=5)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(st.sampled_from([*"ab.é\n+[", "*", "?", "/", "**", "**/", "\ud800"]), max_size=6)


def by_python(pattern: str, path: str) -> bool:
    """The same pattern as an expression of Python's, which is quick as long as the pattern is short."""
    if "/" not in pattern:
        pattern = "**/" + pattern
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    expression = "".join(meaning.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(expression, path, re.DOTALL) is not None


@settings(max_examples=150)
@given(pattern=PATTERNS.map("".join), path=PATHS)
def test_short_patterns_match_what_an_expression_of_python_matches(pattern: str, path: str) -> None:
    assert globs.glob(pattern)(path) is by_python(pattern, path)


@settings(max_examples=100)
@given(patterns=st.lists(PATTERNS.map("".join), max_size=5), path=PATHS)
def test_several_globs_hold_where_one_does(patterns: list[str], path: str) -> None:
    assert globs.any_glob(patterns)(path) is any(by_python(pattern, path) for pattern in patterns)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"file_pattern": "a" * 1001}, "file_pattern: a pattern of 1001 characters, at most 1000"),
        ({"path_prefix": "*" * 1001}, "path_prefix: a pattern of 1001 characters, at most 1000"),
        ({"include_paths": ("src",) * 1001}, "include_paths: 1001 patterns, at most 1000"),
        (
            {"include_paths": ("*" * 900,) * 8, "exclude_paths": ("?" * 900,) * 4},
            "include_paths and exclude_paths: globs of 10800 characters together, at most 10000",
        ),
    ],
)
def test_what_is_too_long_or_too_many_is_an_error_that_names_the_limit(
    fields: dict[str, str], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=re.escape(said)) as caught:
        Filters(**fields)  # type: ignore[arg-type]
    assert caught.value.details and caught.value.hint


def test_many_names_without_wildcards_are_no_globs() -> None:
    filters = Filters(include_paths=tuple(f"src/{'long' * 20}_{number}.py" for number in range(1000)))
    assert len(filters.include_paths) == globs.MOST_PATTERNS


def test_expressions_that_cannot_be_compiled_match_nothing_and_the_others_go_on() -> None:
    several = globs.PatternSet([b"a+", b"(", b"b", b"[z-a]"])
    assert several.unusable == [1, 3] and [several.last(text) for text in (b"aa", b"b", b"c")] == [0, 2, -1]


def test_more_than_one_automaton_takes_are_shared_by_several() -> None:
    names = [f"{'folder' * 20}/{number}" for number in range(3000)]
    many = globs.PatternSet([name.encode() for name in names])
    assert not many.unusable and [many.last(names[at].encode()) for at in (0, 1499, 2999)] == [0, 1499, 2999]


def test_a_name_that_is_no_text_is_matched_by_no_glob() -> None:
    assert not under("a/\ud800", "a/\ud800*") and under("a/\ud800", "a")
