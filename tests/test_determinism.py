"""The same tree gives the same answer, byte for byte: whatever the hash seed, the workers, the threads, the
store, and whatever happened to the index before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from builders import age, clean_environment, make_engine

from satchel.commands import search
from satchel.engine import Engine
from satchel.storage.memory import MemoryStore

PROJECT = Path(__file__).parent.parent
QUESTIONS = (
    "basket",
    "Basket.total",
    "how are secrets kept out",
    "charge a card again when the bank is busy",
    "where is the index stored",
    "with_tax",
    "tests for the basket",
    "walker.py",
    "documentation of payments",
    "delete the folder of an index",
    "zzzz qqqq",
    "Wrong total\n\nThe `Basket` of shop/basket.py adds the tax twice:\n\n```python\nBasket().total()\n```\n",
    'It fails\n\nTraceback (most recent call last):\n  File "/app/satchel/engine.py", line 9, in search\n'
    '  File "/app/satchel/retrieval/search.py", line 7, in search\nIndexCorrupt: a text cannot be read\n',
)
# These stages have everything that the questions ask for; indexing them is most of these tests.
KEPT = ("retrieval", "storage", "walking")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "_ctx", "*.bin", "weights")
_ANSWER = """
import json, sys
from pathlib import Path
import msgspec
from satchel.commands import search
from satchel.engine import Engine
from satchel.indexing import workers
from satchel.storage.memory import MemoryStore
root, index, kind, count = sys.argv[1:]
workers._POOL_BYTES = 0  # small trees go through a pool of processes as well
workers._BATCH_FILES = 8
store = MemoryStore() if kind == "memory" else None
with Engine.open(root, index_dir=index, store=store, workers=int(count)) as engine:
    engine.refresh()
    for question in json.load(sys.stdin):
        for k in (5, 40):
            request = search.SearchRequest(query=question, k=k, explain=True)
            print(msgspec.json.encode(search.run(engine, request)).decode())
"""


def answers(
    root: Path, index: Path, *, kind: str = "sqlite", workers: int = 1, seed: int = 0, threads: int = 1
) -> bytes:
    """All answers, by a process of its own."""
    environment = {
        "PYTHONHASHSEED": str(seed),
        "OPENBLAS_NUM_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
    }
    return subprocess.run(
        [sys.executable, "-c", _ANSWER, str(root), str(index), kind, str(workers)],
        input=json.dumps(QUESTIONS).encode(),
        env=clean_environment(environment),
        check=True,
        capture_output=True,
    ).stdout


def left_out(folder: str, names: list[str]) -> set[str]:
    """The names in a folder that are not copied: most folders of the source."""
    others = set(names) - set(KEPT) if Path(folder) == PROJECT / "src" / "satchel" else set()
    return LEFT_OUT(folder, names) | {name for name in others if (Path(folder) / name).is_dir()}


@pytest.fixture(scope="module", params=["examples", "src"])
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that nobody edits while it is asked."""
    root = tmp_path_factory.mktemp("determinism") / request.param
    shutil.copytree(PROJECT / request.param, root, ignore=left_out)
    return age(root)


@pytest.fixture(scope="module")
def expected(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return answers(tree, tmp_path_factory.mktemp("index"))


def test_the_answers_say_something(expected: bytes) -> None:
    found = [json.loads(line) for line in expected.splitlines()]
    assert len(found) == 2 * len(QUESTIONS)
    assert sum(bool(answer["hits"]) for answer in found) >= 12
    assert all(hit["reasons"] for answer in found for hit in answer["hits"])


@pytest.mark.parametrize(
    "how",
    [{"seed": 1, "workers": 2, "threads": 2}, {"seed": 4242, "kind": "memory"}],
    ids=lambda how: "-".join(how),
)
def test_the_answer_does_not_depend_on_how_it_was_made(
    tree: Path, expected: bytes, tmp_path: Path, how: dict[str, int]
) -> None:
    assert answers(tree, tmp_path, **how) == expected  # type: ignore[arg-type]


def code_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.py") if path.stat().st_size)


def some_files(root: Path) -> list[Path]:
    """Up to five files over the whole tree."""
    files = code_files(root)
    return files[:: len(files) // 5 + 1]


def edit_and_revert(root: Path, refresh: Callable[[], object]) -> None:
    for path in some_files(root):
        before = path.read_bytes()
        path.write_bytes(before + b"\n\ndef basket_of_the_folder():\n    return with_tax\n")
        refresh()
        path.write_bytes(before)
        refresh()


def rename_and_back(root: Path, refresh: Callable[[], object]) -> None:
    for path in some_files(root):
        moved = path.with_name(f"moved_{path.name}")
        for source, target in ((path, moved), (moved, path)):
            source.rename(target)
            refresh()


def move_a_folder_and_back(root: Path, refresh: Callable[[], object]) -> None:
    folder = code_files(root)[0].parent
    aside = folder.with_name("aside")
    for source, target in ((folder, aside), (aside, folder)):
        source.rename(target)
        refresh()


def delete_and_restore(root: Path, refresh: Callable[[], object]) -> None:
    contents = {path: path.read_bytes() for path in code_files(root)[1::2]}
    for path in contents:
        path.unlink()
    refresh()
    for path, content in contents.items():
        path.write_bytes(content)
    refresh()


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
@pytest.mark.parametrize(
    "change", [edit_and_revert, rename_and_back, move_a_folder_and_back, delete_and_restore]
)
def test_an_index_with_a_past_gives_the_answer_of_a_fresh_one(
    tree: Path, expected: bytes, tmp_path: Path, change: Callable[..., None], kind: str
) -> None:
    root = tmp_path / tree.name
    shutil.copytree(tree, root)
    store = MemoryStore() if kind == "memory" else None
    with make_engine(root, store, index_dir=tmp_path / "index") as engine:
        engine.refresh()
        change(root, engine.refresh)
        assert engine.snapshot().generation > 2 and answers_here(engine) == expected


def answers_here(engine: Engine) -> bytes:
    """The same answers by this process."""
    requests = [search.SearchRequest(query=text, k=k, explain=True) for text in QUESTIONS for k in (5, 40)]
    return b"".join(msgspec.json.encode(search.run(engine, request)) + b"\n" for request in requests)


def test_an_older_time_alone_changes_no_answer(tree: Path, expected: bytes, tmp_path: Path) -> None:
    root = tmp_path / tree.name
    shutil.copytree(tree, root)
    for path in root.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert answers(root, tmp_path / "index") == expected
