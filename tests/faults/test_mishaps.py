"""What happens to a folder under a running server, or between two commands: the next answer is of the disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import (
    clean_environment,
    git_repo,
    make_tree,
    open_folder,
    remove_folder,
    run_cli,
    run_cli_as_nobody,
)

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent / "benchmarks"), str(TESTS / "serving")]

from faulting.truth import untrue  # noqa: E402
from surfaces import SERVED, serving  # noqa: E402

_MOST_ASKED = 30
YEAR_SECONDS = 365 * 24 * 3600


def project(root: Path) -> Path:
    return git_repo(
        root,
        {f"src/part{number}.py": f"def basket_{number}():\n    return {number}\n" for number in range(12)},
    )


def edit(root: Path, word: str, path: str = "src/part3.py") -> None:
    make_tree(root, {path: f"# {word} came\n\n\ndef {word}():\n    return '{word}'\n"})


@pytest.fixture(params=["--workers=2", "--workers=1", "--no-watch"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, Any]]:
    root = project(tmp_path / "shop")
    with serving("http", root, *request.param.split("=")) as server:
        surface = SERVED["http"](server)
        answer_of(surface, "search", {"query": "basket"})
        yield root, surface


def answer_of(surface: Any, action: str, payload: dict[str, Any]) -> Any:
    envelope = surface.ask(action, payload)
    assert envelope["status"] == "ok", envelope["error"]
    assert not envelope["meta"]["index_state"]["stale"], envelope["meta"]
    return envelope["data"]


def answer_when_fresh(surface: Any, root: Path, query: str) -> Any:
    """Ask until an answer says that it is fresh; all that do are compared with the disk, and one does soon."""
    for _ in range(_MOST_ASKED):
        envelope = surface.ask("search", {"query": query})
        if envelope["status"] == "ok" and not envelope["meta"]["index_state"]["stale"]:
            assert untrue("search", envelope["data"], root) == []
            return envelope["data"]
        time.sleep(0.2)
    raise AssertionError(envelope)


def assert_found(surface: Any, root: Path, word: str) -> None:
    data = answer_of(surface, "search", {"query": word})
    assert untrue("search", data, root) == []
    assert any(word in hit["snippet"] for hit in data["hits"])
    pack = answer_of(surface, "context_pack", {"query": word})
    assert untrue("context_pack", pack, root) == [] and word in pack["items"][0]["content"]


def test_the_index_folder_is_removed_under_a_server(served: tuple[Path, Any]) -> None:
    root, surface = served
    remove_folder(root / "_ctx")
    assert_found(surface, root, "basket_7")
    edit(root, "giraffe")
    assert_found(surface, root, "giraffe")


def test_the_log_of_the_index_is_removed_under_a_server(served: tuple[Path, Any]) -> None:
    root, surface = served
    edit(root, "giraffe")
    assert_found(surface, root, "giraffe")
    for suffix in ("-wal", "-shm"):
        Path(f"{root}/_ctx/context.db{suffix}").unlink(missing_ok=True)
    found = answer_when_fresh(surface, root, "giraffe")
    assert any("giraffe" in hit["snippet"] for hit in found["hits"])
    edit(root, "okapi", "src/part5.py")
    found = answer_when_fresh(surface, root, "okapi")
    assert any("okapi" in hit["snippet"] for hit in found["hits"])


def test_another_index_is_put_in_place_under_a_server(served: tuple[Path, Any], tmp_path: Path) -> None:
    root, surface = served
    other = project(tmp_path / "other")
    edit(other, "zebra", "src/only_there.py")
    run_cli("index", "--segment", other)
    os.replace(other / "_ctx/context.db", root / "_ctx/context.db")
    edit(root, "giraffe")
    assert_found(surface, root, "giraffe")
    data = answer_of(surface, "search", {"query": "zebra"})
    assert not any("zebra" in hit["snippet"] for hit in data["hits"])


def test_the_log_of_the_index_is_removed_between_two_commands(tmp_path: Path) -> None:
    root = project(tmp_path / "shop")
    run_cli("index", "--segment", root)
    edit(root, "giraffe")
    run_cli("index", "--segment", root)
    for suffix in ("-wal", "-shm"):
        Path(f"{root}/_ctx/context.db{suffix}").unlink(missing_ok=True)
    hits = json.loads(run_cli("search", "giraffe", "--segment", root, "--json").stdout)
    assert untrue("search", hits, root) == [] and "giraffe" in hits["hits"][0]["snippet"]


@pytest.mark.parametrize("seconds", [0, 1, -10 * YEAR_SECONDS, 4_000_000_000], ids=str)
def test_times_of_another_clock_hide_no_change(seconds: int, tmp_path: Path) -> None:
    root = project(tmp_path / "shop")
    for path in (root / "src").iterdir():
        os.utime(path, (seconds, seconds))
    for word in ("giraffe", "gazelle", "gorilla"):
        run_cli("index", "--segment", root)
        edit(root, word)
        os.utime(root / "src/part3.py", (seconds, seconds))
        hits = json.loads(run_cli("search", word, "--segment", root, "--json").stdout)
        assert untrue("search", hits, root) == [] and word in hits["hits"][0]["snippet"]


def test_access_that_is_lost_midway_is_said_and_the_last_index_answers(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.py": "def a():\n    pass\n"})
    with open_folder() as root:
        make_tree(root, {"src/part3.py": "def basket():\n    return 1\n"})
        (root / "_ctx").mkdir()
        (root / "_ctx").chmod(0o777)
        ask = ("search", "basket", "--json")
        first = run_cli_as_nobody(*ask, segment=root, warm=tmp_path)
        assert json.loads(first.stdout)["hits"], first.stderr
        (root / "_ctx").chmod(0o555)
        for path in (root / "_ctx").iterdir():
            path.chmod(0o444)
        edit(root, "giraffe")
        second = run_cli_as_nobody(*ask, segment=root, warm=tmp_path)
        old = run_cli_as_nobody(*ask, "--no-refresh", segment=root, warm=tmp_path)
        (root / "_ctx").chmod(0o777)
        for path in (root / "_ctx").iterdir():
            path.chmod(0o666)
        third = run_cli_as_nobody("search", "giraffe", "--json", segment=root, warm=tmp_path)
    error = json.loads(second.stdout)["error"]
    assert error["code"] == "config_error" and "_ctx" in error["message"] + error["hint"], error
    assert old.stdout, old.stderr
    assert json.loads(old.stdout)["hits"]
    assert "giraffe" in json.loads(third.stdout)["hits"][0]["snippet"]


def test_a_folder_that_becomes_a_link_while_it_is_walked_is_never_followed(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", {f"d{number}/a.py": "inside = 1\n" for number in range(60)})
    outside = make_tree(tmp_path / "outside", {"a.py": "outsidesecret = 1\n"})
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for number in range(60):
                folder, aside = root / f"d{number}", tmp_path / f"aside{number}"
                folder.rename(aside)
                folder.symlink_to(outside)
                folder.unlink()
                aside.rename(folder)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(6):
            words = ["-m", "satchel", "index", "--force", "--segment", str(root)]
            subprocess.run([sys.executable, *words], env=clean_environment(), capture_output=True, check=True)
            found = run_cli("search", "outsidesecret", "--no-refresh", "--segment", root, "--json")
            assert b"outsidesecret = 1" not in found.stdout
    finally:
        done.set()
        swapping.join()


def test_two_versions_share_a_folder(tmp_path: Path) -> None:
    """The other version is this one with another number of its index: each builds what it needs, and both
    answer from the disk."""
    root = project(tmp_path / "shop")
    other = tmp_path / "other"
    shutil.copytree(TESTS.parent / "src", other)
    plan = other / "satchel/indexing/plan.py"
    text = plan.read_text()
    plan.write_text(text.replace("INDEX_VERSION = ", "INDEX_VERSION = 1000 + "))
    assert plan.read_text() != text
    with serving("http", root) as server:
        surface = SERVED["http"](server)
        for round_number, word in enumerate(("giraffe", "gazelle", "gorilla", "gnu")):
            edit(root, word, f"src/part{round_number}.py")
            path = {"PYTHONPATH": str(other)}
            hits = json.loads(run_cli("search", word, "--segment", root, "--json", environment=path).stdout)
            assert untrue("search", hits, root) == [] and word in hits["hits"][0]["snippet"]
            assert_found(surface, root, word)
