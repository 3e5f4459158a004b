"""Which repository a question is about: by its name, its language, its words. One repository has no such
signals."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import SHOP, age, make_tree, memory_engine, signals

from satchel.library.library_engine import LibraryEngine
from satchel.library.members import Member

FILES = {
    "falcon": {
        "README.md": "# Peregrine Server\n\nServes requests.\n",
        "server.py": "class Server:\n    def handle(self, request):\n        return request.path\n",
        "route.py": "def route(request):\n    return request.handler\n",
    },
    "queue": {
        "worker.go": "package queue\n\n// Worker takes jobs from a queue and handles each request.\nfunc Worker() {}\n",
        "queue.go": "package queue\n\ntype Queue struct{}\n\nfunc (q *Queue) Push(request string) {}\n",
    },
    "kiosk": {
        "kiosk.rb": "class Kiosk\n  def queue(request)\n    request\n  end\nend\n",
        "till.rb": "class Till\n  def open\n  end\nend\n",
    },
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LibraryEngine:
    base = tmp_path_factory.mktemp("repositories")
    roots = {name: age(make_tree(base / name, files)) for name, files in FILES.items()}
    return LibraryEngine.of_members(
        base, [Member(name, root, memory_engine(root)) for name, root in roots.items()]
    )


def strengths(library: LibraryEngine, query: str, signal: str) -> dict[str, float]:
    """What a signal says of each repository that has candidates; it must say the same of all its files."""
    found: dict[str, set[float]] = {}
    for path, value in signals(library, query, "repositories")[signal].items():
        found.setdefault(path.partition("/")[0], set()).add(value)
    assert all(len(values) == 1 for values in found.values())
    return {name: values.pop() for name, values in found.items()}


def test_a_name_points_to_its_repository(library: LibraryEngine) -> None:
    assert strengths(library, "how does falcon handle a request", "repository_named") == {
        "falcon": 1.0,
        "queue": 0.0,
        "kiosk": 0.0,
    }
    # The title of the file that introduces it is a further name, and so is its first word.
    for query in ("peregrine request handler", "request in peregrine server"):
        assert strengths(library, query, "repository_named")["falcon"] == 1.0


def test_a_name_that_others_use_as_a_word_points_less(library: LibraryEngine) -> None:
    assert strengths(library, "push a request to the queue", "repository_named")["queue"] == 0.5


def test_a_language_points_to_repositories_in_it(library: LibraryEngine) -> None:
    found = strengths(library, "request handling in golang", "repository_language")
    assert (found["queue"], found["falcon"], found["kiosk"]) == (1.0, 0.0, 0.0)
    assert strengths(library, "where does a request go", "repository_language")["queue"] == 0.0


def test_words_point_to_the_repository_that_is_full_of_them(library: LibraryEngine) -> None:
    found = strengths(library, "request handler", "repository_words")
    assert found["falcon"] > found["queue"] and found["falcon"] > found["kiosk"]
    assert library.search("till", k=1)[0][0].path == "kiosk/till.rb"


def test_a_question_how_points_to_the_repository_with_several_files_about_it(library: LibraryEngine) -> None:
    found = strengths(library, "how is a request handled", "repository_explains")
    assert found["falcon"] == max(found.values()) == 1.0 and found["kiosk"] < 1.0
    assert set(strengths(library, "request handler", "repository_explains").values()) == {0.0}


def test_one_repository_has_no_such_signals(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, SHOP))
    assert signals(engine, "basket total", "repositories") == {}
    hits, _ = engine.search("basket total", explain=True)
    assert not [reason for hit in hits for reason in hit.reasons if reason.signal.startswith("repository")]
