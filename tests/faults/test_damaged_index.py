"""A damaged index gives the answers of the good one, or an error that names the damage."""

from __future__ import annotations

import importlib.util
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from builders import SHOP, age, make_engine, make_tree, run_cli, session_of

from satchel.commands.freshness import StalePolicy
from satchel.commands.session import CallOptions
from satchel.errors import IndexCorrupt

_TRIAL = Path(__file__).parents[2] / "benchmarks" / "faulting" / "flips.py"


@pytest.fixture(scope="module")
def flips() -> ModuleType:
    spec = importlib.util.spec_from_file_location("flips", _TRIAL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["flips"] = module
    spec.loader.exec_module(module)
    return module


def test_no_damage_gives_a_wrong_answer_or_an_internal_error(flips: ModuleType) -> None:
    figures = flips.run(40, seed=3, small=True, command_line=False)
    assert figures.wrong == [] and figures.internal == []
    assert figures.refused["index_corrupt"] and figures.rebuilt  # some damages were met


def damaged(root: Path, statement: str) -> Path:
    """A folder with an index in which SQLite finds nothing wrong."""
    age(make_tree(root, SHOP))
    with make_engine(root) as engine:
        engine.refresh()
        path = Path(engine.store.location)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(statement).rowcount
        connection.commit()
    return path


DAMAGES = {
    "another record": (
        "UPDATE file_blocks SET data = CAST(replace(data, 'money', 'honey') AS BLOB)",
        "search",
    ),
    "other records": ("UPDATE file_blocks SET data = zeroblob(length(data))", "search"),
    "another line": ("UPDATE chunks SET start_line = -32631 WHERE title LIKE '%add_money%'", "get"),
    "a chunk lost": ("DELETE FROM chunks WHERE title LIKE '%add_money%'", "get"),
    "files lost": ("DELETE FROM file_blocks", "search"),
    "a text lost": (
        "DELETE FROM contents WHERE file = (SELECT number FROM files WHERE path = 'src/money.py')",
        "get",
    ),
    "texts exchanged": ("UPDATE contents SET text = (SELECT text FROM contents WHERE file = 1)", "get"),
    "a symbol lost": ("DELETE FROM symbols WHERE name = 'add_money'", "symbols"),
    "a symbol elsewhere": ("UPDATE symbols SET start_line = 9 WHERE name = 'add_money'", "symbols"),
    "a block lost": ("DELETE FROM blocks", "search"),
    "a block's bit": ("UPDATE blocks SET data = CAST(data || 'x' AS BLOB)", "search"),
    "a segment lost": ("DELETE FROM segments", "search"),
    "an outline lost": (
        "DELETE FROM outlines WHERE file = (SELECT number FROM files WHERE path = 'src/money.py')",
        "search",
    ),
    "something skipped lost": ("DELETE FROM skipped", "status"),
    "another generation": ("UPDATE meta SET value = '9' WHERE key = 'generation'", "stats"),
    "another count": ("UPDATE meta SET value = replace(value, 'function', 'junction')", "stats"),
}
PAYLOADS = {
    "get": {"ids": ["src/money.py:4:6"]},
    "search": {"query": "rounding at the till"},
    "symbols": {"name": "add_money"},
    "status": {},
    "stats": {},
}


@pytest.mark.parametrize("name", list(DAMAGES))
def test_what_sqlite_does_not_notice_is_an_error_and_then_mended(tmp_path: Path, name: str) -> None:
    statement, action = DAMAGES[name]
    make_tree(tmp_path, {"secret.pem": "x\n"})
    damaged(tmp_path, statement)
    payload = PAYLOADS[action]
    with make_engine(tmp_path) as engine:
        session = session_of(engine, CallOptions(stale_policy=StalePolicy.WARN))
        if action == "status":
            assert session.call(action, dict(payload)).stale_reasons == ("index_corrupt",)
            return
        with pytest.raises(IndexCorrupt, match="damaged"):
            session.call(action, dict(payload))
    with make_engine(tmp_path) as engine:
        mended = session_of(engine).call(action, dict(payload))
        engine.refresh(force=True)
        assert _plain(mended) == _plain(session_of(engine).call(action, dict(payload)))
    assert list(tmp_path.glob("_ctx/*unusable*"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE files SET file_hash = zeroblob(32) WHERE path = 'src/money.py'",
        "UPDATE files SET path = 'src/honey.py' WHERE path = 'src/money.py'",
        "DELETE FROM files WHERE path = 'docs/guide.md'",
    ],
)
@pytest.mark.parametrize("action", ["get", "search"])
def test_damage_of_what_readers_have_twice_changes_no_answer_and_is_mended_by_the_next_refresh(
    tmp_path: Path, action: str, statement: str
) -> None:
    payload = PAYLOADS[action]
    age(make_tree(tmp_path / "whole", SHOP))
    damaged(tmp_path / "damaged", statement)
    with make_engine(tmp_path / "whole") as whole, make_engine(tmp_path / "damaged") as engine:
        for change in ({}, {"new.py": "NEW = 1\n"}):
            for root, one in ((tmp_path / "whole", whole), (tmp_path / "damaged", engine)):
                make_tree(root, change)
                one.refresh()
            expected = session_of(whole).call(action, dict(payload))
            assert _plain(session_of(engine).call(action, dict(payload))) == _plain(expected)


def _plain(answer: object) -> str:
    return str(answer).replace("generation=1", "").replace("generation=2", "").split("index_bytes")[0]


@pytest.mark.parametrize("command", [("search", "rounding"), ("get", "src/money.py"), ("status",)])
def test_a_folder_in_the_place_of_an_index_is_told_or_set_aside(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    age(make_tree(tmp_path, SHOP))
    (tmp_path / "_ctx" / "context.db").mkdir(parents=True)
    done = run_cli(*command, "--json", "--segment", tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"money.py" in done.stdout or b"index_corrupt" in done.stdout
