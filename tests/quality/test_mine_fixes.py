"""Fixes of a history become questions and pairs; what is no report of a fault does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from builders import git, git_repo, make_tree

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "quality"))

from few_commits import earlier_gold, regrouped
from fix_history import spread_numbers
from fix_messages import read_report
from mine_fixes import forbidden_names

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TILL = "import os\n\n\ndef open_till():\n    drawer = 1\n    return drawer\n\n\ndef close_till():\n    return 2\n"
FIRST = {"src/till.py": TILL, "src/stamp.py": "def stamp():\n    a = 1\n    return a\n", "notes.md": "# A\n"}
MESSAGE = """fix(drawer): money is lost when the day ends (#12)

The drawer returned the coins of yesterday, so that the sum was wrong.

Fixes #11, #12
Signed-off-by: A Person <a@example.com>
"""


def commit(root: Path, message: str, files: dict[str, str]) -> None:
    make_tree(root, files)
    git(root, "add", "-A", ".")
    git(root, "commit", "-q", "-m", message)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    root = git_repo(tmp_path / "mirror" / "owner+shop" / "repo", FIRST)
    commit(root, MESSAGE, {"src/till.py": TILL.replace("return 2", "return 3"), "notes.md": "# B\n"})
    commit(root, "Fix a typo in the word for stamps", {"src/stamp.py": "def stamp():\n    return 2\n"})
    commit(root, "Fix the wrong sum that a trial expects", {"Shop.Tests/sum.py": "SUM = 1\n"})
    commit(root, "Fix the wrong sum that trials expect", {"Shop.Tests/sum.py": "SUM = 2\n"})
    commit(root, "Fix the failing tests of the till", {"src/stamp.py": "def stamp():\n    return 3\n"})
    return tmp_path / "mirror"


def mine(mirror: Path, name: str = "owner/shop", *options: str) -> subprocess.CompletedProcess[str]:
    names = mirror.parent / "names.txt"
    names.write_text(f"{name}\tpython\n")
    folders = ["--questions", str(mirror.parent / "fixes"), "--pairs", str(mirror.parent / "pairs")]
    script = str(BENCHMARKS / "quality" / "mine_fixes.py")
    asked = [sys.executable, script, "--mirror", str(mirror), "--names", str(names), *folders, *options]
    return subprocess.run(asked, capture_output=True, text=True, check=False)


def test_a_fix_asks_its_parent_for_the_lines_and_definitions_it_changed(mirror: Path) -> None:
    assert mine(mirror).stdout == "owner/shop: 1 questions, 1 pairs\n"
    (question,) = map(json.loads, (mirror.parent / "fixes" / "owner__shop.jsonl").read_text().splitlines())
    lines = [
        "drawer: money is lost when the day ends",
        "",
        "The drawer returned the coins of yesterday, so that the sum was wrong.",
    ]
    assert question["query"] == "\n".join(lines)
    assert question["gold"] == [{"path": "src/till.py", "start_line": 10, "end_line": 10}]
    assert question["definitions"] == [
        {"path": "src/till.py", "name": "close_till", "start_line": 9, "end_line": 10}
    ]
    root = mirror / "owner+shop" / "repo"
    assert question["commit"] == git(root, "rev-parse", "HEAD~5").strip()
    assert (question["set"], question["language"], question["names_gold"]) == ("fixes", "python", False)


def test_a_pair_has_the_code_of_the_parent_and_definitions_nearby(mirror: Path) -> None:
    mine(mirror)
    (pair,) = map(json.loads, (mirror.parent / "pairs" / "owner__shop.jsonl").read_text().splitlines())
    assert pair["code"] == "def close_till():\n    return 2\n"
    assert pair["title"] == "drawer: money is lost when the day ends"
    assert [code["name"] for code in pair["negatives"]] == ["open_till", "stamp"]


def test_no_more_questions_are_made_than_asked_for(mirror: Path) -> None:
    assert mine(mirror, "owner/shop", "--most", "0").stdout == "owner/shop: 0 questions, 1 pairs\n"


def test_what_is_there_is_not_made_again(mirror: Path) -> None:
    mine(mirror)
    before = (mirror.parent / "fixes" / "owner__shop.jsonl").read_bytes()
    assert mine(mirror).stdout == ""
    (mirror.parent / "fixes" / "owner__shop.jsonl").unlink()
    assert mine(mirror).stdout != ""
    assert (mirror.parent / "fixes" / "owner__shop.jsonl").read_bytes() == before


def test_nothing_is_mined_from_a_repository_of_the_forbidden_list(mirror: Path) -> None:
    (mirror / "owner+shop").rename(mirror / "Django+django")
    answer = mine(mirror, "Django/django")
    assert answer.returncode == 1
    assert "nothing is learned from it" in answer.stderr
    assert not (mirror.parent / "fixes").exists()


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("Fixed #123 -- Crash when the list of names is empty", "Crash when the list of names is empty"),
        ("[CORE-77] Wrong sum after the second refund", "Wrong sum after the second refund"),
        ("The last name is cut off\n\nCloses #4", "The last name is cut off"),
        ("patch 9.0.1: memory leak when the drawer is closed", "memory leak when the drawer is closed"),
    ],
)
def test_numbers_and_tags_are_cut_from_titles(message: str, title: str) -> None:
    report = read_report(message)
    assert report is not None
    assert report.text == title


@pytest.mark.parametrize(
    "message",
    [
        'Revert "Fix a crash when the list is empty"',
        "Fix #123",
        "Fix formatting of the whole module again",
        "Rename the drawer to avoid wrong names",
        "Bump the stamps to fix a crash",
        "Provide a second drawer for the coins\n\nCloses #4",
        "Say what the till is for",
    ],
)
def test_messages_that_report_no_fault_are_left_out(message: str) -> None:
    assert read_report(message) is None


def test_squashed_chores_and_trailers_are_cut_from_bodies() -> None:
    body = "* fix: Wrong sum after the second refund\n* Fix lint\n\n* A refund of zero was counted as a sale of one\n\n---------\n\nCo-authored-by: B <b@c>"
    report = read_report(f"Wrong sum after the second refund\n\n{body}")
    assert report is not None
    assert report.text == (
        "Wrong sum after the second refund\n\n* A refund of zero was counted as a sale of one"
    )


def test_every_beginning_is_spread() -> None:
    assert spread_numbers(8) == [0, 4, 2, 6, 1, 5, 3, 7]
    assert sorted(spread_numbers(13)) == list(range(13))
    assert spread_numbers(0) == []


def test_no_repository_to_learn_from_is_in_the_forbidden_list() -> None:
    listed = (BENCHMARKS / "quality" / "repositories.txt").read_text().split()
    names = [name.lower() for name in listed]
    assert len(set(names)) == len(names) >= 250
    assert all(name.count("/") == 1 for name in names)
    assert len(forbidden_names()) >= 160
    assert forbidden_names().isdisjoint(names)


def test_questions_are_asked_at_few_commits_if_their_files_were_there(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "owner+shop" / "repo", FIRST)
    first = git(root, "rev-parse", "HEAD").strip()
    commit(root, "Add a lamp", {"src/lamp.py": "def lamp():\n    return 1\n"})
    paths = ["src/till.py"] * 3 + ["src/stamp.py", "src/lamp.py", "src/till.py"]
    questions = [
        {"query": "a", "query_id": str(at), "time": at, "commit": first, "gold": [gold(path, 3, 3)]}
        for at, path in enumerate(paths)
    ]
    asked = list(regrouped(root, questions))
    assert [question["query_id"] for question in asked] == ["2", "3", "5"]  # the lamp was not there yet
    assert asked[1] == questions[3]
    of_one_commit = list(regrouped(root, questions, parts=2, of_a_part=1))
    assert [question["query_id"] for question in of_one_commit] == ["3"]


def test_an_earlier_commit_is_asked_for_the_lines_that_it_had(tmp_path: Path) -> None:
    lines = [f"line {number}\n" for number in range(1, 9)]
    root = git_repo(tmp_path / "repo", {"a.py": "".join(lines)})
    earlier = git(root, "rev-parse", "HEAD").strip()
    changed = ["new\n", *lines[:2], *lines[3:5], "other\n", *lines[5:]]  # line 3 is gone, two are new
    commit(root, "Change it", {"a.py": "".join(changed)})
    later = git(root, "rev-parse", "HEAD").strip()

    def answer(first: int, last: int) -> list[dict[str, object]]:
        return earlier_gold(root, {"commit": later, "gold": [gold("a.py", first, last)]}, earlier)

    for first, last in ((2, 3), (4, 5), (7, 9)):
        ((_, start, end),) = [tuple(one.values()) for one in answer(first, last)]
        assert changed[first - 1 : last] == lines[start - 1 : end]
    assert answer(6, 6) == answer(1, 2) == [{"path": "a.py"}]


def gold(path: str, first: int, last: int) -> dict[str, object]:
    return {"path": path, "start_line": first, "end_line": last}
