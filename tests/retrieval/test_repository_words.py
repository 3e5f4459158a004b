"""Spellings of a title that the files of a repository have."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine

from satchel.engine import Engine
from satchel.retrieval import repository_words
from satchel.retrieval.query import parse_query
from satchel.retrieval.query_postings import look_up
from satchel.retrieval.query_terms import weigh_terms

FILES = {
    "src/rounding.py": "def round_numbers(up, down):\n    # Round down, away from zero, or half up.\n    return up\n",
    "src/money.py": "def add(amount):\n    return amount\n",
    "plot/axes3d.py": "class Axes3D:\n    def scatter3d(self):\n        pass\n",
    "components/prism-vbnet.js": "Prism.languages.vbnet = {};\n",
    "components/prism-basic.js": "Prism.languages.basic = {};\n",
    "docs/log.md": "# Log\n\nChanges go to a write-ahead log (WAL) first, see the manual.\n",
    "docs/errors.md": "# Errors\n\nThe FES (Friendly Error System) explains what went wrong.\n",
    "src/journal.c": "/* wal */ int wal_append(void) { return 0; }\n",
    "src/friendly.js": "// The friendly error system.\nfunction explain() {}\n",
    "src/other.py": "# SEE below: socket, error, exception.\nsocket = error = exception = see = 0\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("words"), FILES))


def added(engine: Engine, text: str) -> str:
    query = parse_query(text)
    found = repository_words.in_its_words(look_up(engine.corpus(), weigh_terms(query)), query).title
    assert found.startswith(query.title)
    return found[len(query.title) :].strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ROUNDDOWN gives one too many", "round down"),
        ("rounddown gives one too many", "round down"),
        ("VB.NET is not highlighted", "vbnet"),
        ("Vb-Net is not highlighted", "vbnet"),
        ("3d scatter has no legend", "scatter3d"),
        ("no legend in axes of 3D", "axes3d"),
        ("write-ahead log is cut off", "wal"),
        ("WAL is cut off", "write ahead log"),
        ("FES is misleading", "friendly error system"),
        ("Friendly Error System is misleading", "fes"),
    ],
)
def test_a_spelling_that_files_have_is_added(engine: Engine, text: str, words: str) -> None:
    assert added(engine, text) == words


@pytest.mark.parametrize(
    "text",
    [
        "round numbers down",
        "friendly errors",
        "roundabout",  # no file holds it, nor two words of it in one place
        "money.add",
        "e.g. amount",
        "socket-error exception",  # `see` stands beside all three, and no file says that it is short for them
        "HTTP amount",
        "3d",
        "a - b",
        "x" * 100 + "-" + "y" * 100,
        "x" * 400 + " VB.NET",
    ],
)
def test_nothing_is_added_that_no_file_holds(engine: Engine, text: str) -> None:
    assert added(engine, text) == ""


def test_only_the_title_of_a_report_is_read(engine: Engine) -> None:
    assert added(engine, "Wrong amount\n\nThe WAL is cut off with VB.NET.\n") == ""


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("ROUNDDOWN gives one too many", "src/rounding.py"),
        ("VB.NET is not highlighted", "components/prism-vbnet.js"),
        ("3d scatter has no legend", "plot/axes3d.py"),
        ("FES shows a wrong line", "src/friendly.js"),
    ],
)
def test_the_file_that_spells_it_so_is_found(engine: Engine, text: str, path: str) -> None:
    hits, _ = engine.search(text)
    assert path in [hit.path for hit in hits if not hit.path.endswith(".md")][:1]


def test_the_same_file_is_not_found_without(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("satchel.retrieval.search.in_its_words", lambda postings, query: query)
    hits, _ = engine.search("VB.NET is not highlighted")
    assert "components/prism-vbnet.js" not in [hit.path for hit in hits]


def test_a_long_run_of_blanks_takes_no_time(tmp_path: Path) -> None:
    text = "# Log\n\n" + "write ahead " + "log " + " " * 200_000 + "\nWAL\n"
    engine = memory_engine(make_tree(tmp_path, {"docs/log.md": text}))
    assert added(engine, "WAL is cut off") == ""


def test_the_order_in_which_files_were_indexed_does_not_matter(tmp_path: Path) -> None:
    late = {"docs/a.md": "A wide area link (WAL) is slow.\n"}
    early = {"docs/b.md": "A write ahead log (WAL) is kept.\n"}
    grown = memory_engine(make_tree(tmp_path / "grown", early))
    make_tree(tmp_path / "grown", late)
    grown.refresh()
    anew = memory_engine(make_tree(tmp_path / "anew", {**early, **late}))
    assert added(grown, "WAL is cut off") == added(anew, "WAL is cut off") == "wide area link"


def test_an_acronym_that_many_files_hold_is_a_word_of_its_own(tmp_path: Path) -> None:
    many = {f"src/api{number}.py": "# Part of the API.\n" for number in range(8)}
    stated = {"docs/api.md": "The application programming interface (API) is small.\n"}
    assert added(memory_engine(make_tree(tmp_path / "many", {**many, **stated})), "API is slow") == ""
    assert added(memory_engine(make_tree(tmp_path / "one", stated)), "API is slow").startswith("application")
