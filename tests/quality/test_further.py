"""Further questions to learn from: later commits ask for lines as they were, names for their definitions."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from builders import git, git_repo, make_tree

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "quality"))

import further
from further import Asked

from satchel.storage.records import SymbolRecord
from satchel.types import ChunkKind, Symbol

TILL = "def open_till():\n    return 1\n\n\ndef close_till():\n    return 2\n"
FIRST = {
    "src/till.py": TILL,
    "src/stamp.py": "STAMP = 1\n",
    "tests/test_till.py": "assert 1\n",
    "notes.md": "# A\n",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(further, "LEAST", 1)
    root = git_repo(tmp_path / "shop", FIRST)
    commit(root, "The state that is asked", {"notes.md": "# B\n"})
    return root


def commit(root: Path, message: str, files: dict[str, str]) -> None:
    make_tree(root, files)
    git(root, "add", "-A", ".")
    git(root, "commit", "-q", "-m", message)


def asked(root: Path) -> list[Asked]:
    snapshot = further.snapshot_of(root)
    assert snapshot is not None
    return list(further.commit_questions("owner/shop", snapshot))


def test_a_later_message_asks_for_the_lines_that_it_changed(repository: Path) -> None:
    commit(repository, "Close the till with three", {"src/till.py": TILL.replace("return 2", "return 3")})
    (question,) = asked(repository)
    assert question.query == "Close the till with three"
    assert question.gold == [{"path": "src/till.py", "start_line": 6, "end_line": 6}]
    assert question.commit == git(repository, "rev-parse", "HEAD~1").strip()


def test_lines_that_have_changed_since_are_not_asked_for(repository: Path) -> None:
    commit(repository, "Close the till with three", {"src/till.py": TILL.replace("return 2", "return 3")})
    commit(repository, "Close the till with four", {"src/till.py": TILL.replace("return 2", "return 4")})
    assert [question.query for question in asked(repository)] == ["Close the till with three"]


@pytest.mark.parametrize(
    ("message", "files"),
    [
        ("Bump the stamp to the newest", {"src/stamp.py": "STAMP = 2\n"}),
        ("More stamps", {"src/stamp.py": "STAMP = 2\n"}),
        ("Test how the till opens", {"tests/test_till.py": "assert 2\n"}),
        ("Say what the till is for", {"notes.md": "# C\n"}),
        ("A second kind of till", {"src/second.py": "TILL = 2\n"}),
        ("One file in every folder", {f"src/{number}/a.py": "A = 1\n" for number in range(30)}),
    ],
)
def test_what_names_no_place_in_the_code_is_not_asked(
    repository: Path, message: str, files: dict[str, str]
) -> None:
    commit(repository, message, files)
    assert asked(repository) == []


def test_a_young_repository_is_left_out(tmp_path: Path) -> None:
    assert further.snapshot_of(git_repo(tmp_path / "young", FIRST)) is None


def test_names_are_asked_that_hardly_anything_else_has() -> None:
    def defined(name: str, lines: int = 9) -> SymbolRecord:
        return SymbolRecord("a.py", Symbol(name, name, ChunkKind.FUNCTION, 1, lines))

    common = [defined("open_till")] * 3
    found = [
        *common,
        defined("short"),
        defined("one_liner", 1),
        defined("close_till"),
        defined("count_stamps"),
    ]
    names = {record.symbol.name for record in further.chosen(found, random.Random(1))}
    assert names == {"close_till", "count_stamps"}
