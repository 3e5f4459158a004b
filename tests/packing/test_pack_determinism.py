"""The same tree and the same request give the same pack, byte for byte, whoever makes it and whatever the index
has been through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from builders import age, clean_environment, make_engine, make_tree, session_of
from pack_cases import ask, draw, flat_request
from random_repositories import make_repository

from satchel.commands import context_pack
from satchel.engine import Engine
from satchel.errors import InvalidBudget
from satchel.storage.memory import MemoryStore

CASES = 60
_PRINT = """
import sys
sys.path[:0] = sys.argv[1:3]
from test_pack_determinism import all_packs, opened
from satchel.indexing import workers
workers._POOL_BYTES = 0  # small trees go through a pool of processes as well
workers._BATCH_FILES = 8
with opened(*sys.argv[3:]) as engine:
    engine.refresh()
    sys.stdout.buffer.write(all_packs(engine))
"""


def opened(root: str, index: str, kind: str, count: str) -> Engine:
    store = MemoryStore() if kind == "memory" else None
    return make_engine(Path(root), store, index_dir=Path(index), workers=int(count))


def all_packs(engine: Engine) -> bytes:
    """The packs of all cases, and the errors of those whose budget is too small."""
    return b"\n".join(_one(engine, number) for number in range(CASES))


def _one(engine: Engine, number: int) -> bytes:
    case = draw(7, number)
    try:
        if case.action != "context_pack":
            return ask(engine, case).document.encode()
        answer = msgspec.to_builtins(context_pack.run(session_of(engine), flat_request(case)))
        if answer["meta"]["index_state"]:  # a small answer has none
            answer["meta"]["index_state"]["project_watermark"].pop("computed_at_unix_ms")
        return json.dumps(answer).encode()
    except InvalidBudget as error:
        return repr(error.as_dict()).encode()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = make_repository(0) | make_repository(4) | make_repository(21)
    return age(make_tree(tmp_path_factory.mktemp("determinism") / "tree", files))


def packs(root: Path, index: Path, *, kind: str = "sqlite", workers: int = 1, seed: int = 0) -> bytes:
    """All packs, by a process of its own."""
    folders = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    return subprocess.run(
        [sys.executable, "-c", _PRINT, *folders, str(root), str(index), kind, str(workers)],
        env=clean_environment({"PYTHONHASHSEED": str(seed)}),
        check=True,
        capture_output=True,
    ).stdout


@pytest.fixture(scope="module")
def expected(root: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    found = packs(root, tmp_path_factory.mktemp("index"))
    assert len(found) > 50_000 and found.count(b"huge.py") > 3
    return found


@pytest.mark.parametrize(
    "how",
    [{"seed": 4242, "workers": 2}, {"kind": "memory"}, {"kind": "memory", "seed": 1, "workers": 2}],
    ids=lambda how: "-".join(how),
)
def test_a_pack_does_not_depend_on_how_it_was_made(
    root: Path, expected: bytes, tmp_path: Path, how: dict[str, int]
) -> None:
    assert packs(root, tmp_path, **how) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
def test_a_pack_of_an_index_with_a_past_is_that_of_a_fresh_one(
    root: Path, expected: bytes, tmp_path: Path, kind: str
) -> None:
    with opened(str(root), str(tmp_path), kind, "1") as engine:
        engine.refresh()
        for path in sorted(root.rglob("*.py"))[:12]:
            before, times = path.read_bytes(), path.stat()
            for content in (before + b"\n\ndef basket_total():\n    return price\n", before):
                path.write_bytes(content)
                engine.refresh()
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        engine.refresh()
        assert engine.snapshot().generation > 10 and all_packs(engine) == expected
