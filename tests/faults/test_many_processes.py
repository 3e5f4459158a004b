"""Many processes on one index: nobody sees a lock, a half-made answer, or the work of another undone."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from builders import SHOP, age, clean_environment, git_repo, make_engine, make_tree, memory_engine

from satchel.engine import Engine
from satchel.storage import sqlite_connection
from satchel.storage.protocol import Store
from satchel.types import Walk
from satchel.walking.work_tree import WorkTree

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "many_processes.py"
FILES = {
    f"d{number % 7}/f{number}.py": f"def total_{number}(items):\n    return sum(items) + {number}\n"
    for number in range(120)
}


@pytest.mark.skipif(not BENCHMARK.exists(), reason="the benchmarks are not part of this copy")
@pytest.mark.parametrize("make", [git_repo, make_tree], ids=["git", "plain"])
def test_readers_indexers_and_watchers_on_one_folder_never_see_an_error(
    make: Callable[[Path, dict[str, str]], Path], tmp_path: Path
) -> None:
    root = make(tmp_path / "shop", FILES)
    out = tmp_path / "out.txt"
    options = ["--seconds", "5", "--readers", "8", "--watches", "2", "--out", out]
    command = [sys.executable, BENCHMARK, root, *options]
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), timeout=120)
    figures = json.loads(out.read_text().partition("\n")[2])
    assert (figures["errors"], figures["died"]) == ({}, 0), done.stderr
    assert figures["read_rounds"] >= 4
    assert figures["index_rounds"] >= 1
    with make_engine(root) as engine, closing(memory_engine(root)) as fresh:
        engine.refresh()
        assert all_chunks(engine) == all_chunks(fresh)


def all_chunks(engine: Engine) -> list[str]:
    snapshot = engine.snapshot()
    return [chunk.digest for record in snapshot.files() for chunk in snapshot.chunks(record.path)]


def overtaken_by(other: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """After the next walk, and before what it found is written, another process does something."""
    real = WorkTree.entries
    left = [other]

    def walk(tree: WorkTree) -> Walk:
        found = real(tree)
        if left:
            left.pop()()
        return found

    monkeypatch.setattr(WorkTree, "entries", walk)


def test_a_walk_that_is_older_than_the_index_drops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = age(make_tree(tmp_path, SHOP))
    with make_engine(root) as engine, make_engine(root) as other:
        engine.refresh()
        make_tree(root, {"src/money.py": "zebra = 1\n"})

        def create_and_index() -> None:
            make_tree(root, {"src/new.py": "brand_new = 1\n"})
            other.refresh(paths=["src/new.py"])

        overtaken_by(create_and_index, monkeypatch)
        engine.refresh()
        assert engine.snapshot().file("src/new.py") is not None
        assert engine.symbols("zebra")


def test_a_change_that_another_process_indexed_meanwhile_is_not_indexed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = age(make_tree(tmp_path, SHOP))
    with make_engine(root) as engine, make_engine(root) as other:
        engine.refresh()
        make_tree(root, {"src/money.py": "zebra = 1\n"})
        age(root)
        overtaken_by(other.refresh, monkeypatch)
        assert engine.refresh().generation == 2
        assert engine.snapshot().generation == 2


def test_an_answer_is_of_one_generation(tmp_path: Path) -> None:
    root = age(make_tree(tmp_path, SHOP))
    with make_engine(root) as engine, make_engine(root) as other:
        engine.refresh()
        with engine.pinned():
            hit = engine.search("add_money", 1)[0][0]
            make_tree(root, {hit.path: "# moved down\n" * 9 + (root / hit.path).read_text()})
            other.refresh()
            assert engine.get(hit.chunk_id).text.startswith(engine.get(hit.id).text[:10])
            assert engine.get(f"{hit.path}:{hit.start_line}:{hit.end_line}").text == engine.get(hit.id).text
        assert engine.snapshot().generation == 2


def test_who_still_reads_an_old_generation_goes_on_reading_it(tmp_path: Path) -> None:
    root = age(make_tree(tmp_path, SHOP))
    with make_engine(root) as engine, make_engine(root) as other:
        engine.refresh()
        old = engine.corpus()
        make_tree(root, {"src/money.py": "zebra = 1\n"})
        other.refresh()
        assert engine.corpus() is not old
        assert "add_money" in old.snapshot.text("src/money.py")


def test_the_log_stays_short_although_somebody_always_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "_LOG_BYTES", 10_000)
    monkeypatch.setattr(sqlite_connection, "_LONG_LOG_BYTES", 100_000)
    root = make_tree(tmp_path, {"f.py": "def f():\n    pass\n" * 200})
    done = threading.Event()
    with make_engine(root) as engine, ThreadPoolExecutor(3) as readers:
        engine.refresh()
        running = [readers.submit(read_until, done, engine.store) for _ in range(3)]
        for number in range(20):
            make_tree(root, {"f.py": f"def g{number}():\n    pass\n" * 200})
            engine.refresh(paths=["f.py"])
        size = (root / "_ctx/context.db-wal").stat().st_size
        done.set()
        assert all(reader.result() for reader in running)
    assert size < 1_000_000


def read_until(done: threading.Event, store: Store) -> int:
    """One snapshot after the other, each held for a while; how many they were."""
    count = 0
    while not done.is_set():
        with closing(store.snapshot()):
            time.sleep(0.03)
        count += 1
    return count
