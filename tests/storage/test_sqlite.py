"""What can happen to an index file, and what then happens to its reader."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from builders import (
    SHOP,
    age,
    make_engine,
    make_tree,
    open_folder,
    packed,
    run_cli,
    run_cli_as_nobody,
)
from msgspec.structs import replace

from satchel.code_facts import FileEdges, FileFacts, Rule, Target, UseColumns
from satchel.errors import IndexBusy, IndexCorrupt, IndexIncompatible, IndexProblem, IndexStale
from satchel.parsed import Parsed
from satchel.storage import records
from satchel.storage.checks import row_check
from satchel.storage.records import Outline
from satchel.storage.sqlite import APPLICATION_ID, SqliteStore
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.storage.sqlite_schema import MIGRATIONS, SCHEMA_VERSION
from satchel.types import Label

Damage = Callable[[Path], None]


def built(root: Path) -> Path:
    """A folder with an index; returns the index file."""
    age(make_tree(root, SHOP))
    with make_engine(root) as engine:
        engine.refresh()
        return Path(engine.store.location)


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database " * 500)


def cut_in_the_middle(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_after_the_first_page(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def no_bytes(path: Path) -> None:
    path.write_bytes(b"")


def pages_overwritten(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


def texts_overwritten(path: Path) -> None:
    """The tables can still be opened; what they hold is broken."""
    data = bytearray(path.read_bytes())
    pages = range(len(data) // 2 // 4096 * 4096, len(data), 4096)
    for start in pages:
        data[start : start + 4096] = b"\xa5" * 4096
    path.write_bytes(data)


def newer_schema(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def foreign_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute("INSERT INTO theirs VALUES (1)")
        connection.commit()


DAMAGES = [
    garbage,
    no_bytes,
    newer_schema,
    foreign_database,
    cut_in_the_middle,
    cut_after_the_first_page,
    pages_overwritten,
    texts_overwritten,
]


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (garbage, IndexCorrupt),
        (no_bytes, IndexCorrupt),
        (newer_schema, IndexIncompatible),
        (foreign_database, IndexCorrupt),
    ],
)
def test_a_file_that_is_no_index_of_ours_is_a_typed_error(
    tmp_path: Path, damage: Damage, error: type[IndexProblem]
) -> None:
    path = built(tmp_path)
    damage(path)
    with pytest.raises(error) as caught:
        SqliteStore(path).snapshot()
    assert caught.value.hint


@pytest.mark.parametrize("damage", DAMAGES)
def test_reading_a_damaged_file_is_answered_or_a_typed_error(tmp_path: Path, damage: Damage) -> None:
    damage(built(tmp_path))
    with make_engine(tmp_path) as engine:
        try:
            hits, _ = engine.search("basket total price")
        except IndexProblem:
            return
        assert [hit.path for hit in hits][:1] == ["src/basket.py"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_set_aside_and_built_anew_with_a_note(tmp_path: Path, damage: Damage) -> None:
    path = built(tmp_path)
    damage(path)
    broken = path.read_bytes()
    make_tree(tmp_path, {"new.md": "# Brand new\n"})
    with make_engine(tmp_path) as engine:
        engine.refresh()
        assert "set aside" in " ".join(engine.notes)
        assert engine.search("brand new")[0][0].path == "new.md"
    aside = [item for item in path.parent.iterdir() if "unusable" in item.name and item.suffix != "-shm"]
    assert broken in [item.read_bytes() for item in aside]


def older_index(path: Path, version: int) -> None:
    """An index as an older Satchel left it: a file, and an id that has ended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("row_check", -1, row_check, deterministic=True)
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(
            "INSERT INTO files (number, path, size, mtime_ns, file_hash, language, encoding, line_count,"
            " redactions, tags, first_chunk, chunk_count, settled)"
            " VALUES (1, 'a.md', 4, 1, ?, 'markdown', 'utf-8', 1, '', '', 1, 1, 1)",
            (bytes(32),),
        )
        connection.execute("INSERT INTO chunks VALUES (1, 1, 'section', 'A', 1, 1, 1, 0, ?)", (b"\xab" * 8,))
        connection.execute(
            "INSERT INTO retired (digest, path, title, file_hash) VALUES (?, 'a.md', 'Use', ?)",
            (bytes.fromhex("0123456789abcdef"), bytes(32)),
        )
        connection.execute("INSERT INTO meta VALUES ('signature', 'an older one'), ('generation', '7')")
        connection.commit()


@pytest.mark.parametrize("version", [3, 4, 6, 7])
def test_an_index_of_an_older_schema_is_indexed_anew_and_its_ended_ids_are_kept(
    tmp_path: Path, version: int
) -> None:
    make_tree(tmp_path, {"a.md": "# B\n"})
    path = tmp_path / "_ctx" / "context.db"
    older_index(path, version)
    with pytest.raises(IndexStale, match="older Satchel"):
        SqliteStore(path).snapshot()
    with make_engine(tmp_path) as engine:
        engine.ensure_fresh()
        snapshot = engine.snapshot()
        assert snapshot.generation == 8 and snapshot.text("a.md") == "# B\n"
        assert {item.digest for item in snapshot.retired("")} == {"0123456789abcdef", "ab" * 8}
    assert not list(path.parent.glob("*unusable*"))


def test_an_older_index_is_stale_for_who_does_not_refresh(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.md": "# A\n"})
    older_index(tmp_path / "_ctx" / "context.db", 4)
    done = run_cli("search", "a", "--no-refresh", "--json", "--segment", tmp_path)
    assert b"index_stale" in done.stdout + done.stderr and b"satchel index" in done.stdout + done.stderr


def test_files_set_aside_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for text in (b"first", b"second"):
        path = built(tmp_path)
        path.write_bytes(text)
        with make_engine(tmp_path) as engine:
            engine.refresh()
    aside = [item for item in path.parent.glob("*unusable*") if not item.name.endswith(("-wal", "-shm"))]
    assert sorted(item.read_bytes() for item in aside) == [b"first", b"second"]


@pytest.mark.parametrize("damage", [garbage, newer_schema])
def test_a_damaged_index_is_reported_by_status_and_left_alone(tmp_path: Path, damage: Damage) -> None:
    path = built(tmp_path)
    damage(path)
    before = path.read_bytes()
    done = run_cli("status", "--segment", tmp_path, "--json")
    assert done.returncode == 0 and b"index_corrupt" in done.stdout
    assert path.read_bytes() == before


def test_a_first_build_leaves_one_database_and_no_partial_file(tmp_path: Path) -> None:
    path = built(tmp_path)
    left = {item.name for item in path.parent.iterdir()}
    assert left <= {
        "context.db",
        "context.db-wal",
        "context.db-shm",
        "context.lock",
        "context.walk",
        ".gitignore",
    }
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_first_build_that_fails_leaves_no_partial_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "context.db")
    with pytest.raises(ValueError, match="stop"), store.write() as writer:
        writer.put_file(*packed("a.md", "# A\n"))
        raise ValueError("stop")
    assert [item.name for item in tmp_path.iterdir() if item.suffix != ".lock"] == []


def test_what_a_killed_first_build_left_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "context.db.new").write_bytes(b"half a database")
    (tmp_path / "context.db-wal").write_bytes(b"a log of a database that is gone")
    store = SqliteStore(tmp_path / "context.db")
    assert not store.exists()
    with store.write() as writer:
        writer.put_file(*packed("a.md", "# A\n"))
    with closing(store.snapshot()) as snapshot:
        assert snapshot.text("a.md") == "# A\n"
    assert not (tmp_path / "context.db.new").exists()


_HOLD = """
import sys, filelock
with filelock.FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def lock_held_by_another_process(path: Path) -> Iterator[None]:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path.with_suffix(".lock"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    try:
        yield
    finally:
        holder.communicate(timeout=20)


def test_a_second_writer_waits_shortly_and_then_says_busy(tmp_path: Path) -> None:
    path = built(tmp_path)
    store = SqliteStore(path, lock_wait_seconds=0.2)
    with lock_held_by_another_process(path):
        started = time.monotonic()
        with pytest.raises(IndexBusy), store.write():
            pass
        assert time.monotonic() - started < 5


def test_readers_are_served_while_another_process_writes(tmp_path: Path) -> None:
    path = built(tmp_path)
    with lock_held_by_another_process(path), make_engine(tmp_path) as engine:
        assert engine.search("basket")[0]


def test_a_lock_whose_holder_died_is_no_lock(tmp_path: Path) -> None:
    path = built(tmp_path)
    with lock_held_by_another_process(path):
        pass
    with SqliteStore(path, lock_wait_seconds=0.2).write() as writer:
        writer.drop_file("README.md")


def test_a_reader_during_a_write_sees_the_last_generation(tmp_path: Path) -> None:
    store = SqliteStore(built(tmp_path))
    with store.write() as writer:
        writer.drop_file("README.md")
        with closing(store.snapshot()) as during:
            assert during.file("README.md") is not None and during.generation == 1
    with closing(store.snapshot()) as after:
        assert after.file("README.md") is None and after.generation == 2


def test_a_reader_that_stays_does_not_hold_up_a_writer(tmp_path: Path) -> None:
    store = SqliteStore(built(tmp_path))
    with closing(store.snapshot()) as reader:
        started = time.monotonic()
        with store.write() as writer:
            writer.drop_file("README.md")
        assert time.monotonic() - started < 1
        assert reader.file("README.md") is not None


def test_what_an_index_of_sqlite_says_is_held_against_the_table_itself(tmp_path: Path) -> None:
    asked: list[str] = []
    with closing(SqliteStore(built(tmp_path)).snapshot()) as snapshot:
        snapshot._connection.set_trace_callback(asked.append)
        snapshot.symbol_names("add", 5)
        snapshot.file("no/such/file")
        snapshot.chunks_by_digest("0" * 16)
        plans = [
            snapshot._connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()[0][3]
            for statement in list(asked)
        ]
    for table in ("symbols", "file", "chunks"):  # files are looked up a second time in `file_blocks`
        ways = [plan for plan in plans if table in plan]
        assert len(ways) == 2 and sum("INDEX" in plan for plan in ways) == 1, ways


def graph_index(folder: Path) -> Path:
    """An index of ten files with facts and edges; returns the index file."""
    store = SqliteStore(folder / "context.db")
    with store.write() as writer:
        for number in range(10):
            path = f"n{number}.py"
            record, file = packed(path, f"X = {number}\n")
            facts = FileFacts(uses=UseColumns.of((f"f{use}", Label.CALLS, (use,)) for use in range(40)))
            packed_facts = records.pack_file("", Parsed((), facts=facts), (), Outline(), 0).facts
            writer.put_file(record, replace(file, facts=packed_facts))
            targets = tuple(Target(f"n{at}.py", f"f{at}") for at in range(number))
            edges = FileEdges(targets, tuple((at, at, Rule.IMPORT) for at in range(number)))
            writer.put_edges(path, edges, [target.path for target in targets])
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.path


def graph_answers(path: Path) -> list[object]:
    """Everything that a snapshot says of the code graph; an error that names damage stands for an answer."""

    def answer(ask: Callable[[], object]) -> object:
        try:
            return ask()
        except IndexProblem:
            return None

    names = [f"n{number}.py" for number in range(10)]
    try:
        snapshot = SqliteStore(path).snapshot()
    except IndexProblem:
        return [None] * 32
    with closing(snapshot):
        asked = [partial(snapshot.facts, name) for name in names]
        asked += [partial(snapshot.edges, [name]) for name in names]
        asked += [partial(snapshot.consulting, [name]) for name in names]
        asked += [partial(snapshot.edges, names), partial(cross_uses, snapshot)]
        return list(map(answer, asked))


def cross_uses(snapshot: SqliteSnapshot) -> list[list[int]]:
    """The columns of all uses of other files."""
    found = snapshot.cross_uses()
    return [found.users.tolist(), found.definers.tolist(), found.names.tolist()]


GRAPH_DAMAGES = {
    "facts lost": "DELETE FROM facts WHERE file = 3",
    "all facts lost": "DELETE FROM facts",
    "facts emptied": "UPDATE facts SET data = x'' WHERE file = 3",
    "facts exchanged": "UPDATE facts SET data = (SELECT data FROM edges WHERE file = 9)",
    "facts that are a text": "UPDATE facts SET data = 'text'",
    "edges lost": "DELETE FROM edges WHERE file = 9",
    "all edges lost": "DELETE FROM edges",
    "edges emptied": "UPDATE edges SET data = x'', data_check = 0 WHERE file = 9",
    "edges exchanged": "UPDATE edges SET (row_check, data_check, consulted, data)"
    " = (SELECT row_check, data_check, consulted, data FROM edges WHERE file = 9) WHERE file = 8",
    "consulted emptied": "UPDATE edges SET consulted = x'' WHERE file = 9",
    "consulted that is a text": "UPDATE edges SET consulted = 'text' WHERE file = 9",
    "a check that is a text": "UPDATE edges SET row_check = 'text' WHERE file = 9",
}


@pytest.mark.parametrize("name", list(GRAPH_DAMAGES))
def test_damage_of_facts_and_edges_is_noticed(tmp_path: Path, name: str) -> None:
    path = graph_index(tmp_path)
    good = graph_answers(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(GRAPH_DAMAGES[name]).rowcount
        connection.commit()
    answers = graph_answers(path)
    assert None in answers
    assert all(found in (None, expected) for found, expected in zip(answers, good, strict=True))


def test_no_flipped_bit_gives_wrong_facts_or_edges(tmp_path: Path) -> None:
    path = graph_index(tmp_path)
    good, data, chance = graph_answers(path), path.read_bytes(), random.Random(5)
    assert None not in good
    noticed = 0
    for _ in range(300):
        flipped = bytearray(data)
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        answers = graph_answers(path)
        assert all(found in (None, expected) for found, expected in zip(answers, good, strict=True))
        noticed += None in answers
    assert noticed


def test_a_snapshot_can_not_write(tmp_path: Path) -> None:
    with (
        closing(SqliteStore(built(tmp_path)).snapshot()) as snapshot,
        pytest.raises(sqlite3.OperationalError),
    ):
        snapshot._connection.execute("DELETE FROM files")


def test_an_engine_notices_an_index_that_another_process_replaced(tmp_path: Path) -> None:
    path = built(tmp_path)
    with make_engine(tmp_path) as engine:
        assert engine.search("zebra crossing") == ([], [])
        for item in path.parent.glob("context.db*"):
            item.unlink()
        make_tree(tmp_path, {"zebra.md": "# Zebra crossing\n"})
        assert run_cli("index", "--segment", tmp_path).returncode == 0
        assert [hit.path for hit in engine.search("zebra crossing")[0]] == ["zebra.md"]


def test_an_index_in_a_read_only_folder_can_be_searched(tmp_path: Path) -> None:
    built(tmp_path)
    with open_folder() as root:
        path = built(root)
        path.parent.chmod(0o555)
        done = run_cli_as_nobody("search", "basket", "--no-refresh", segment=root, warm=tmp_path)
        path.parent.chmod(0o755)
    assert done.returncode == 0 and b"src/basket.py" in done.stdout, done.stderr


@pytest.mark.parametrize("command", ["search", "status", "index", "build"])
def test_a_folder_that_may_not_be_written_is_a_typed_error_not_a_traceback(
    tmp_path: Path, command: str
) -> None:
    built(tmp_path)
    with open_folder() as root:
        make_tree(root, SHOP).chmod(0o555)
        words = ("basket",) if command == "search" else ()
        done = run_cli_as_nobody(command, *words, segment=root, warm=tmp_path)
    assert b"Traceback" not in done.stderr and b"internal" not in done.stderr, done.stderr
    assert (done.returncode == 0) == (command == "status")


def test_an_index_of_another_user_answers_from_its_last_generation(tmp_path: Path) -> None:
    built(tmp_path)
    with open_folder() as root:
        built(root).parent.chmod(0o777)
        make_tree(root, {"new.md": "# New\n"})
        done = run_cli_as_nobody("search", "basket", segment=root, warm=tmp_path)
    assert done.returncode != 70, done.stderr
    assert done.returncode != 0 or (b"src/basket.py" in done.stdout and b"note" in done.stderr)


def test_a_snapshot_is_kept_until_the_file_has_a_commit(tmp_path: Path) -> None:
    path = built(tmp_path)
    store = SqliteStore(path)
    with closing(store.snapshot()) as first:
        store.snapshot(first).close()  # the first look confirms that there is no newer generation
        assert store.snapshot(first) is first
        (tmp_path / "late.py").write_text("def late():\n    return 1\n")
        assert run_cli("index", cwd=tmp_path).returncode == 0
        with closing(store.snapshot(first)) as second:
            assert second is not first and "late.py" in [record.path for record in second.files()]
            assert "late.py" not in [record.path for record in first.files()]


def test_a_file_in_the_place_of_another_is_opened(tmp_path: Path) -> None:
    path, other = built(tmp_path / "one"), built(tmp_path / "other")
    store = SqliteStore(path)
    first = store.snapshot()
    store.snapshot(first).close()
    assert store.snapshot(first) is first
    version = first.version
    if sys.platform == "win32":  # an open file has its place to itself
        first.close()
    other.replace(path)
    with closing(store.snapshot(first)) as second:
        assert second is not first and second.version != version
    first.close()
