"""Dataset files: both forms, and what is said of broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import FileNotFound, InvalidRequest
from satchel.evaluation.cases import Gold, choose, read_dataset

ROW: dict[str, Any] = {"query_id": "1", "query": "q", "gold": [{"path": "a.py"}]}


def dataset(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_a_row_has_all_its_fields(tmp_path: Path) -> None:
    extra = {"set": "s", "repo": "r", "source": "o/r", "commit": "c", "search_root": "src/", "category": "k"}
    gold = [
        {"path": "./a\\b.py", "start_line": 2, "end_line": 3, "tier": "primary", "match": "b.py", "ctx": "x"}
    ]
    (case,) = read_dataset(dataset(tmp_path, {**ROW, **extra, "language": "python", "gold": gold}))
    assert case.key == ("s", "r", "1") and (case.commit, case.search_root) == ("c", "src")
    assert case.gold == (Gold("a/b.py", 2, 3, "b.py", "primary"),)


def test_blank_lines_a_byte_order_mark_and_numbers_as_ids_are_taken(tmp_path: Path) -> None:
    path = dataset(tmp_path, "", {**ROW, "query_id": 7}, "  ")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert [case.id for case in read_dataset(path)] == ["7"]


def test_the_one_object_form_is_read(tmp_path: Path) -> None:
    path = dataset(
        tmp_path, json.dumps({"cases": [{"id": "x", "query": "q", "expected_paths": ["a", "b"]}]}, indent=1)
    )
    (case,) = read_dataset(path)
    assert (case.id, case.gold) == ("x", (Gold("a"), Gold("b")))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["{"], "line 1"),
        ([ROW, "[]"], "line 2"),
        ([{"query": "q"}], "line 1"),
        ([ROW, ROW], "twice"),
        ([{**ROW, "gold": []}], "without gold"),
        ([{**ROW, "gold": [{"path": "a", "start_line": 5, "end_line": 4}]}], "no span"),
        ([{**ROW, "gold": [{"path": "a", "end_line": 4}]}], "no span"),
        ([], "no question"),
        ([{"cases": [{"id": "x"}]}], "cases"),
        ([{"cases": []}], "line 1"),
    ],
)
def test_a_broken_dataset_is_an_error_that_says_where(tmp_path: Path, rows: list[Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as caught:
        read_dataset(dataset(tmp_path, *rows))
    assert "query_id" in caught.value.hint


def test_a_dataset_that_is_not_there_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFound) as caught:
        read_dataset(tmp_path / "none.jsonl")
    assert "--history" in caught.value.hint


def test_rows_are_chosen_by_repository_and_set(tmp_path: Path) -> None:
    rows = [{**ROW, "repo": repo, "set": name} for repo in "ab" for name in "xy"]
    cases = read_dataset(dataset(tmp_path, *rows))
    assert [case.key for case in choose(cases, repo="b", set_name="x")] == [("x", "b", "1")]
    with pytest.raises(InvalidRequest, match="no repo 'c'") as caught:
        choose(cases, repo="c", set_name="")
    assert "a, b" in caught.value.hint
