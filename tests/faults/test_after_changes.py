"""Right after a change every surface, started as people start it, answers from the files of now."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from faulting.after_changes import run_surface
from faulting.truth import Citation, Versions

ALL_KINDS = 13  # of changes in a git work tree; a plain folder has ten
SERVED = ("http, 2 workers", "http, 1 worker", "http, no watch", "grpc", "mcp stdio", "mcp http")


@pytest.mark.parametrize("name", SERVED)
def test_a_server_in_a_git_work_tree_answers_from_the_files_of_now(name: str, tmp_path: Path) -> None:
    assert run_surface(name, ALL_KINDS, 1, tmp_path, places=["git"]) == []


@pytest.mark.parametrize("name", ["http, 2 workers", "mcp stdio, no watch"])
def test_a_server_in_a_plain_folder_answers_from_the_files_of_now(name: str, tmp_path: Path) -> None:
    assert run_surface(name, 10, 2, tmp_path, places=["plain"]) == []


@pytest.mark.parametrize("place", ["git", "plain"])
def test_python_answers_from_the_files_of_now(place: str, tmp_path: Path) -> None:
    assert run_surface("python", ALL_KINDS, 3, tmp_path, places=[place]) == []


def test_the_command_line_answers_from_the_files_of_now(tmp_path: Path) -> None:
    assert run_surface("cli", 5, 4, tmp_path) == []


def test_a_citation_is_compared_line_by_line_and_by_its_hash() -> None:
    good = Citation("a.py", 2, 3, "b\r\nc\r")
    assert good.holds_in("a\nb\r\nc\rd")
    assert not good.holds_in("a\nb\nc\rd") and not good.holds_in(None)
    assert not Citation("a.py", 1, 1, "a\n", content_hash="0" * 64).holds_in("a\n")
    assert Citation("a.py", 1, 1, "name", is_exact=False).holds_in("a name\n")


def test_a_version_counts_from_when_it_is_begun_until_the_next_one_is_in_place() -> None:
    versions = Versions()
    versions.begin("a.py", "old\n")
    versions.end("a.py")
    versions.begin("a.py", "new\n")
    old, new = Citation("a.py", 1, 1, "old\n"), Citation("a.py", 1, 1, "new\n")
    begun = versions._known["a.py"][1][0]
    assert versions.bear_out(old, begun, begun) and versions.bear_out(new, begun, begun)
    versions.end("a.py")
    ended = versions._known["a.py"][0][1]
    assert not versions.bear_out(old, ended + 1, ended + 2) and versions.bear_out(new, ended + 1, ended + 2)
