"""Which commits are fixes, and which lines and definitions of the parent they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Repository, git, make_engine

from satchel.evaluation.cases import Gold, LeftOutReason
from satchel.evaluation.fixes import FixCommits, Task, is_source, screen_message

TILL = """\
import os


class Till:
    def open(self):
        self.lamp = 1

        return self.lamp

    def close(self):
        self.lamp = 0
        return self.lamp


def count(till):
    return till.lamp


LIMIT = 3
"""


@pytest.mark.parametrize(
    "message",
    [
        "Fix crash when the till is empty",
        "fix(till): count twice only once",
        "till: do not count closed tills",
        "Fixed #31 -- The till no longer leaks handles",
        "Prevent a deadlock between two tills",
        "Receipts are printed in the wrong order",
        "Fix\n\nThe till was counted twice after midnight.",
    ],
)
def test_a_message_that_tells_a_symptom_or_a_repair_is_a_fix(message: str) -> None:
    assert screen_message(message) is None


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Add a second till to the shop", LeftOutReason.NO_FIX),
        ("Count the tills every night", LeftOutReason.NO_FIX),
        ("feat: fix prices for a whole week", LeftOutReason.NO_FIX),
        ("docs(till): wrong order of steps", LeftOutReason.NO_FIX),
        ("Revert the fix of the till", LeftOutReason.NO_FIX),
        ("Fix typo in the message of the till", LeftOutReason.NO_FIX),
        ("Fix the failing tests of the till", LeftOutReason.NO_FIX),
        ("Fixed some clippy warnings in the till", LeftOutReason.NO_FIX),
        ("tools: bump ruff and fix issues", LeftOutReason.NO_FIX),
        ("Rename the till\n\nThis fixes nothing.", LeftOutReason.NO_FIX),
        ("Fix issue 31", LeftOutReason.FEW_WORDS),
        ("fixes bug #4", LeftOutReason.FEW_WORDS),
    ],
)
def test_other_messages_are_left_out(message: str, reason: LeftOutReason) -> None:
    assert screen_message(message) is reason


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("src/till.py", True),
        ("internal/config/till.go", True),
        ("tests/test_till.py", False),
        ("src/till_test.go", False),
        ("docs/conf.py", False),
        ("README.md", False),
        ("package.json", False),
        ("style.css", False),
        ("notes", False),
    ],
)
def test_sources_are_code_of_the_product(path: str, source: bool) -> None:
    assert is_source(path) is source


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "work")
    made.commit("The first commit of all", {"till.py": TILL, "notes.md": "# Notes\n"})
    return made


def task_of(repository: Repository, text: str, message: str = "Fix the lamp of the till") -> Task:
    """Commit another till.py as a fix and return its task, asked of the parent."""
    repository.commit(message, {"till.py": text, "tests/test_till.py": f"# {message}\n"})
    fixes = FixCommits(repository.root, 1)
    fix = next(fixes.candidates())
    with make_engine(repository.root).at(fix.parent) as parent:
        task = fixes.task(fix, parent.snapshot())
    assert isinstance(task, Task), task
    return task


def changed(task: Task) -> dict[str, list[int]]:
    return {item.name: sorted(line for _, line in item.lines) for item in task.definitions}


def seen(task: Task) -> list[int]:
    assert {path for path, _ in task.lines} == {"till.py"}  # never the test that came with the fix
    return sorted(line for _, line in task.lines)


def test_replaced_lines_are_asked_for_where_they_were(repository: Repository) -> None:
    task = task_of(repository, TILL.replace("self.lamp = 1", "self.lamp = 2").replace("= 0", "= -1"))
    assert seen(task) == [6, 11] and changed(task) == {"Till.open": [6], "Till.close": [11]}
    assert task.case.gold == (Gold("till.py", 6, 6), Gold("till.py", 11, 11))
    assert (task.case.query, task.case.language) == ("Fix the lamp of the till", "python")


def test_an_insertion_asks_for_its_neighbours_with_text(repository: Repository) -> None:
    task = task_of(repository, TILL.replace("= 1\n\n", "= 1\n        self.bell()\n\n"))
    assert seen(task) == [6, 8] and changed(task) == {"Till.open": [6, 8]}


def test_a_new_method_changes_its_class_and_a_new_function_no_definition(repository: Repository) -> None:
    task = task_of(
        repository,
        TILL.replace("    def close", "    def ring(self):\n        pass\n\n    def close").replace(
            "lamp\n\n\nLIMIT", "lamp + 1\n\n\ndef bell():\n    pass\n\n\nLIMIT"
        ),
    )
    assert seen(task) == [8, 10, 16] and changed(task) == {"Till": [8, 10], "count": [16]}


def test_imports_and_blank_lines_are_not_asked_for(repository: Repository) -> None:
    text = TILL.replace("import os\n", "import os\nimport sys\n\n").replace("return till", "return 2 * till")
    assert seen(task_of(repository, text)) == [16]


def test_the_end_of_a_file_has_one_neighbour(repository: Repository) -> None:
    task = task_of(repository, TILL.replace("= 0", "= 9") + "MORE = 4\n")
    assert seen(task) == [11, 19] and changed(task) == {"Till.close": [11]}


def test_what_is_no_task_is_left_out_with_its_reason(repository: Repository) -> None:
    expected = {}
    fix = "Fix the lamp of the till"
    expected[repository.commit(fix, {"notes.md": "# New\n"})] = "no_source"
    expected[repository.commit(fix, {"tests/test_till.py": "assert 1\n"})] = "nothing_indexed"
    long = TILL + "".join(f"LIMIT_{number} = 1\n" for number in range(81))
    expected[repository.commit(fix, {"till.py": long})] = "too_many_lines"
    expected[repository.commit(fix, {"till.py": "import sys\n" + long})] = "no_definition"
    many = {f"many_{number}.py": "A = 1\n" for number in range(6)}
    expected[repository.commit("Add six files of code", many)] = "no_fix"
    expected[repository.commit(fix, dict.fromkeys(many, "A = 2\n"))] = "too_many_files"
    expected[repository.commit("Fix issue 31", {"till.py": TILL})] = "few_words"
    expected[git(repository.root, "rev-list", "--max-parents=0", "HEAD").strip()[:12]] = "root_commit"
    fixes = FixCommits(repository.root, 5)
    for found in fixes.candidates():
        with make_engine(repository.root).at(found.parent) as parent:
            task = fixes.task(found, parent.snapshot())
            assert isinstance(task, LeftOutReason)
            fixes.history.leave_out(found.commit, task)
    assert {item.id: item.reason.value for item in fixes.history.left_out} == expected
