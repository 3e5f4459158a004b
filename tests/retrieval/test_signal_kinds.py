"""The signals of kinds: what sort of file it is, unless the query asks for that sort."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine, signals

PATHS = (
    "src/till.py",
    "tests/test_till.py",
    "examples/till.py",
    "src/compat/till.py",
    "src/interfaces/till.py",
    "src/till.pyi",
    "src/till.d.cts",
    "docs/till.md",
    "docs/conf.py",
    "config/till.toml",
    "Makefile",
)


def kinds(tmp_path: Path, query: str) -> dict[str, dict[str, float]]:
    tree = dict.fromkeys(PATHS, "# till drawer\ntill = 'drawer'\n")
    return signals(memory_engine(make_tree(tmp_path, tree)), query, "kinds")


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("test", {"tests/test_till.py"}),
        ("aside", {"examples/till.py", "src/compat/till.py", "src/till.pyi", "src/till.d.cts"}),
        ("contract", {"src/interfaces/till.py"}),
        ("document", {"docs/till.md"}),
        ("docs", {"docs/conf.py"}),
        ("data", {"config/till.toml", "Makefile"}),
        ("build", {"Makefile"}),
    ],
)
def test_each_kind_marks_its_files_and_no_other(tmp_path: Path, name: str, paths: set[str]) -> None:
    found = kinds(tmp_path, "till drawer")[name]
    assert {path for path, value in found.items() if value} == paths
    assert all(found[path] == (0.5 if name == "document" else 1.0) for path in paths)


@pytest.mark.parametrize(
    ("query", "name", "path"),
    [
        ("tests for the till drawer", "test", "tests/test_till.py"),
        ("documentation of the till drawer", "document", "docs/till.md"),
        ("config file of the till drawer", "data", "config/till.toml"),
    ],
)
def test_a_query_that_asks_for_a_kind_does_not_hold_it_against_a_file(
    tmp_path: Path, query: str, name: str, path: str
) -> None:
    assert kinds(tmp_path, query)[name][path] == 0.0


def test_deeper_files_are_deeper(tmp_path: Path) -> None:
    found = kinds(tmp_path, "till drawer")["depth"]
    assert found["Makefile"] == 0.0 < found["src/till.py"] < found["src/compat/till.py"]


def test_longer_files_are_larger(tmp_path: Path) -> None:
    tree = {"a.py": "till = 1\n", "b.py": "till = 1\n" * 50}
    found = signals(memory_engine(make_tree(tmp_path, tree)), "till", "kinds")["size"]
    assert 0 < found["a.py"] < found["b.py"]


def test_a_report_is_rather_about_code_than_about_documents(tmp_path: Path) -> None:
    report = "The till jams\n\nThe drawer of the till does not open.\n"
    assert kinds(tmp_path, report)["document"]["docs/till.md"] == 1.0


def test_the_depth_counts_once_more_when_a_mechanism_is_asked_for(tmp_path: Path) -> None:
    how = kinds(tmp_path / "how", "how the till drawer works")
    assert how["depth_how"] == how["depth"] and any(how["depth"].values())


@pytest.mark.parametrize("query", ["till drawer", "till drawer\n\nI wonder how the till opens its drawer."])
def test_a_phrase_and_a_report_ask_for_no_mechanism(tmp_path: Path, query: str) -> None:
    assert not any(kinds(tmp_path, query)["depth_how"].values())
