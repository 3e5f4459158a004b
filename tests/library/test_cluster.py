"""A library that a cluster brings up to date is the one that a single process makes, whoever is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from builders import dump_tables, git, git_repo
from postgres_server import shared_server

from satchel import storage
from satchel.errors import ConfigError, InvalidRequest
from satchel.library.cluster import Cluster
from satchel.library.library import Library

FILES = {
    f"src/part{number % 7}/module{number}.py": f"import os\n\n\nclass Thing{number}:\n"
    + "".join(f"    def act_{number}_{at}(self):\n        return os.sep * {at}\n\n" for at in range(12))
    for number in range(120)
}


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("repositories")
    small = {f"docs/{name}.md": f"# {name}\n\nAll about {name}.\n" for name in ("till", "basket")}
    return [git_repo(folder / "large", FILES), *(git_repo(folder / f"small{at}", small) for at in range(3))]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster("local:2", spread_bytes=20_000) as opened:
        yield opened


def made(folder: Path, repositories: list[Path], store: str = "") -> Library:
    library = Library.open(str(folder))
    library.catalogue.create(store)
    for repository in repositories:
        library.add(str(repository), refs=["main"])
    return library


def contents(library: Library) -> list[object]:
    """Everything that the indexes of a library hold, but for what is said of the moment."""
    found: list[object] = []
    for repository in library.repositories():
        with closing(storage.open_store(library._place(repository, "main")).snapshot()) as snapshot:
            found.append(dump_tables(snapshot))
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, repositories: list[Path]) -> list[object]:
    library = made(tmp_path_factory.mktemp("one"), repositories)
    assert [result.problem for result in library.sync()] == [""] * 4
    return contents(library)


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_a_cluster_makes_the_index_that_one_process_makes(
    tmp_path: Path, cluster: Cluster, repositories: list[Path], expected: list[object], kind: str
) -> None:
    store = shared_server().place(tmp_path) if kind == "postgres" else ""
    library = made(tmp_path / "library", repositories, store)
    heard: list[tuple[int, int]] = []
    results = list(cluster.sync(library, progress=lambda *done: heard.append(done)))
    assert {result.name: result.problem for result in results} == {
        repository.name: "" for repository in repositories
    }
    assert sum(result.parsed for result in results) == len(FILES) + 6 and heard[-1] == (4, 4)
    assert contents(library) == expected
    assert {repository.state.value for repository in library.repositories()} == {"ready"}
    again = list(cluster.sync(library, ["small*"]))
    assert [result.parsed for result in again] == [0, 0, 0] and len(again) == 3


def test_a_killed_worker_costs_only_its_tasks(
    tmp_path: Path, repositories: list[Path], expected: list[object]
) -> None:
    library = made(tmp_path / "library", repositories, shared_server().place(tmp_path))
    with Cluster("local:2", spread_bytes=20_000) as cluster:
        workers = list(cluster._client.run(os.getpid).values())
        killer = threading.Timer(0.7, os.kill, (workers[0], signal.SIGKILL))
        killer.start()
        results = list(cluster.sync(library))
        killer.join()
    assert [result.problem for result in results] == [""] * 4
    assert contents(library) == expected


def test_one_that_fails_is_noted_and_the_others_go_on(
    tmp_path: Path, cluster: Cluster, repositories: list[Path]
) -> None:
    broken = git_repo(tmp_path / "broken", {"a.md": "# A\n"})
    library = made(tmp_path / "library", [broken, repositories[1]])
    git(broken, "branch", "-m", "other")
    results = {result.name: result for result in cluster.sync(library)}
    assert results["broken"].problem and not results["small0"].problem
    states = {repository.name: repository.state.value for repository in library.repositories()}
    assert states == {"broken": "failed", "small0": "ready"}


@pytest.mark.parametrize("place", ["", "host:8786", "local:0", "local:x", "http://host"])
def test_a_place_that_is_no_cluster_is_refused(place: str) -> None:
    with pytest.raises(InvalidRequest, match="names no cluster"):
        Cluster(place)


def test_a_cluster_that_is_not_there_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("satchel.library.cluster._CONNECT_SECONDS", 1)
    started = time.monotonic()
    with pytest.raises(ConfigError, match="cannot be used"), Cluster("tcp://127.0.0.1:1"):
        pass
    assert time.monotonic() - started < 20
