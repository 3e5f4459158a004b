"""Filters: which files may answer."""

from __future__ import annotations

import pytest

from satchel.retrieval.filters import Filters, clean, glob, under
from satchel.storage.records import FileRecord


def file(path: str, language: str = "python", tags: tuple[str, ...] = ()) -> FileRecord:
    return FileRecord(path, 1, 1, "00" * 32, language, "utf-8", 1, (), tags)


@pytest.mark.parametrize(
    ("entry", "cleaned"),
    [("./src/", "src"), ("src\\lib\\", "src/lib"), ("/src", "src"), (".", ""), ("", ""), ("././a", "a")],
)
def test_a_path_filter_has_one_normal_form(entry: str, cleaned: str) -> None:
    assert clean(entry) == cleaned


@pytest.mark.parametrize(
    ("path", "entry", "inside"),
    [
        ("src/lib.rs", "src", True),
        ("src2/lib.rs", "src", False),
        ("src/lib.rs", "src/lib.rs", True),
        ("src/lib.rs.bak", "src/lib.rs", False),
        ("src/lib.rs", "sr", False),
        ("src/lib.rs", "SRC", False),
        ("src/lib.rs", "", True),
        ("src/lib.rs", ".", True),
        ("src/lib.rs", "./src\\", True),
        ("a/src/lib.rs", "src", False),
        ("src/lib.rs", "src/*.rs", True),
        ("src/deep/lib.rs", "src/*.rs", False),
        ("src/deep/lib.rs", "src/**", True),
        ("src/deep/lib.rs", "src/**/*.rs", True),
        ("src/lib.rs", "src/**/*.rs", True),
        ("src/deep/lib.rs", "*.rs", True),
        ("src/lib.rs", "src/lib.r?", True),
        ("src/lib.rs", "src?lib.rs", False),
    ],
)
def test_a_prefix_ends_at_a_path_boundary_and_globs_cover_whole_paths(
    path: str, entry: str, inside: bool
) -> None:
    assert under(path, entry) is inside


def test_what_is_no_wildcard_in_a_glob_is_taken_literally() -> None:
    assert glob("a.b+(c)[d]*")("a.b+(c)[d]x") and not glob("a.b*")("axb")
    assert glob("odd\nname*")("odd\nname.py")


@pytest.mark.parametrize(
    ("filters", "accepted"),
    [
        (Filters(), True),
        (Filters(path_prefix="src"), True),
        (Filters(path_prefix="sr"), False),
        (Filters(file_type=".py"), True),
        (Filters(file_type="py"), True),
        (Filters(file_type="PY"), True),
        (Filters(file_type=".y"), False),
        (Filters(file_type=".md"), False),
        (Filters(language="Python"), True),
        (Filters(language="go"), False),
        (Filters(tags=("test",)), True),
        (Filters(tags=("test", "Python")), True),
        (Filters(tags=("test", "docs")), False),
        (Filters(include_paths=("docs", "src")), True),
        (Filters(include_paths=("docs",)), False),
        (Filters(include_paths=("*.py",)), True),
        (Filters(exclude_paths=("src/app",)), True),
        (Filters(exclude_paths=("src",)), False),
        (Filters(exclude_paths=("*.py",)), False),
        (Filters(exclude_paths=("", ".")), True),
        (Filters(include_paths=("src",), exclude_paths=("src",)), False),
        (Filters(file_pattern="app"), True),
        (Filters(file_pattern="src/*.py"), True),
        (Filters(file_pattern="s?c/app.py"), True),
        (Filters(file_pattern="application"), False),
    ],
)
def test_all_filters_must_hold_and_exclude_wins(filters: Filters, accepted: bool) -> None:
    assert filters.accepts_file(file("src/app.py", tags=("test",))) is accepted


def test_the_filters_that_are_set_can_be_named() -> None:
    assert Filters(path_prefix="a", tags=("b",)).active() == ["path_prefix", "tags"]
    assert Filters().active() == []


def test_an_empty_include_entry_means_no_filter() -> None:
    assert Filters(include_paths=("",)).accepts_file(file("src/app.py"))


def test_a_tag_is_one_of_the_file_its_language_a_folder_or_the_kind_of_a_chunk() -> None:
    record = FileRecord("Lib/tool/registry.py", 0, 0, "", "python", "", 0, tags=("test",))
    for tag in ("test", "python", "tool", "lib", "Tool"):
        filters = Filters(tags=(tag,))
        assert filters.accepts_file(record) and filters.accepts_chunk(record, "class") and not filters.by_kind
    kind = Filters(tags=("python", "class"))
    assert kind.by_kind and kind.accepts_file(record)
    assert kind.accepts_chunk(record, "class") and not kind.accepts_chunk(record, "function")
    assert not Filters(tags=("registry.py",)).accepts_file(record)


def test_the_kind_file_is_that_of_files_with_one_chunk() -> None:
    one, two = (FileRecord("a.toml", 0, 0, "", "toml", "", 0, chunk_count=count) for count in (1, 2))
    filters = Filters(chunk_type="file")
    assert filters.accepts_file(one) and not filters.accepts_file(two)
    assert filters.accepts_chunk(one, "config") and not filters.by_kind
