"""What can happen to an index in PostgreSQL, and what then happens to its reader. All on real servers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import psycopg
import pytest
from builders import SHOP, clean_environment, make_tree, packed, run_cli
from msgspec.structs import replace
from postgres_server import PostgresServer, shared_server

from satchel import Engine, extras
from satchel.code_facts import FileEdges, Rule, ScipUses, Target
from satchel.errors import (
    ConfigError,
    IndexBusy,
    IndexProblem,
    IndexStale,
    Unsupported,
)
from satchel.storage import open_store
from satchel.storage.postgres import PostgresStore
from satchel.storage.postgres_connection import CONTENT_LOCK
from satchel.storage.postgres_contents import sweep
from satchel.storage.postgres_schema import MIGRATIONS, SCHEMA_VERSION
from satchel.storage.protocol import Snapshot, Store
from satchel.storage.records import PostingRun, RetiredChunk, SkippedRecord
from satchel.types import Skipped, SkipReason

CODE = "import os\n\n\nclass Basket:\n    def total(self):\n        return os.sep\n"


@pytest.fixture
def server() -> PostgresServer:
    return shared_server()


@pytest.fixture
def store(server: PostgresServer, tmp_path: Path) -> Store:
    return open_store(server.place(tmp_path), lock_wait_seconds=0.3)


def put(store: Store, files: dict[str, str]) -> None:
    with store.write() as writer:
        for path, text in files.items():
            writer.put_file(*packed(path, text))


def paths(store: Store) -> list[str]:
    with closing(store.snapshot()) as snapshot:
        return [record.path for record in snapshot.files()]


# --- URLs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "PostgreSQL"])
def test_a_url_names_a_database_and_a_segment(scheme: str) -> None:
    store = open_store(f"{scheme}://me:hidden@host:5433/base/team/shop/?sslmode=require&password=hidden2")
    assert store.location == "postgresql://me@host:5433/base/team/shop"
    assert isinstance(store, PostgresStore) and "hidden" not in store.location + str(store.scratch)


@pytest.mark.parametrize(
    "place", ["postgresql:", "postgresql:base", "postgresql://host", "postgresql://host/base"]
)
def test_a_url_without_database_or_segment_is_refused(place: str) -> None:
    with pytest.raises(ConfigError, match="names no") as raised:
        open_store(place)
    assert "postgresql://user@host" in raised.value.hint


@pytest.mark.parametrize(
    "options",
    ["connect_timeout=2", "sslmode=hidden", "hidden=1", "password=hidden&port=none", "%zz=hidden"],
)
def test_no_error_shows_a_password(tmp_path: Path, options: str) -> None:
    place = f"postgresql://me:hidden@127.0.0.1:1/base/shop?{options}"
    root = make_tree(tmp_path / "shop", SHOP)
    with pytest.raises(ConfigError) as raised:
        open_store(place).snapshot()
    assert "hidden" not in str(raised.value.as_dict()) and raised.value.hint
    assert raised.value.__cause__ is None and raised.value.__suppress_context__
    for words in (("search", "basket"), ("status",), ("doctor",)):
        done = run_cli(*words, "--segment", root, "--json", environment={"SATCHEL_HOME": place})
        assert b"hidden" not in done.stdout + done.stderr, words


def test_the_password_is_in_no_answer(server: PostgresServer, tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    home = server.url.replace("satchel@", "satchel:hidden@")  # this server believes everybody
    for words in (("search", "basket"), ("status",), ("build",), ("doctor",)):
        done = run_cli(*words, "--segment", root, "--json", environment={"SATCHEL_HOME": home})
        assert b"hidden" not in done.stdout + done.stderr
    assert (
        b"src/basket.py"
        in run_cli("get", "src/basket.py", cwd=root, environment={"SATCHEL_HOME": home}).stdout
    )


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(Unsupported) as raised:
        open_store("postgresql://host/base/shop")
    assert "[library]" in raised.value.hint


@pytest.mark.parametrize("by", ["flag", "environment"])
def test_two_roots_in_one_database_do_not_mix(server: PostgresServer, tmp_path: Path, by: str) -> None:
    before = int(server.ask("SELECT count(*) FROM satchel.segments") or 0) if has_tables(server) else 0
    for name in ("one", "two"):
        root = make_tree(tmp_path / name / "shop", {f"{name}.md": f"# Only in {name}\n"})
        words = ("search", "only", "--segment", root, "--json")
        if by == "flag":
            done = run_cli(*words, "--index-dir", server.url)
        else:
            done = run_cli(*words, environment={"SATCHEL_HOME": server.url})
        assert [hit["path"] for hit in json.loads(done.stdout)["hits"]] == [f"{name}.md"], done.stderr
        assert not (root / "_ctx").exists()
    assert server.ask("SELECT count(*) FROM satchel.segments") == before + 2


def has_tables(server: PostgresServer) -> bool:
    return bool(server.ask("SELECT to_regclass('satchel.segments') IS NOT NULL"))


# --- what a row can hold, and how often it is kept --------------------------------------------------------


def test_nul_and_other_odd_characters_survive(store: Store) -> None:
    text = "def a():\n    return '\0 \x01 \x7f \ufffd 𝄞'\n"
    record, file = packed("odd \x01 name.py", text)
    symbols = [("a\0b", "A\0.a\0b", "function", 1, 2, "def a\0b()", "\0")]
    run = PostingRun(7, b"\0" * 8, b"\0" * 4, b"\0" * 8)
    with store.write() as writer:
        writer.put_file(record, replace(file, symbols=symbols))
        writer.put_run(run, [("\0", b"123456"), ("a\0b", b"abcdef")])
        writer.put_skipped([SkippedRecord(Skipped("x", SkipReason.BINARY, "detail \0"), 1, 2)])
        writer.set_meta({"key": "value \0"})
        writer.retire([RetiredChunk("0123456789abcdef", "p", ("title \0",), "ab" * 32)])
    with closing(store.snapshot()) as snapshot:
        assert snapshot.text("odd \x01 name.py") == text
        assert [item.symbol.qualified_name for item in snapshot.symbols_named("A\0B")] == ["A\0.a\0b"]
        assert snapshot.symbol_names("a", 5) == ["a\0b"] and snapshot.meta()["key"] == "value \0"
        assert dict(snapshot.postings_many(["a\0b", "\0"])) == {
            "a\0b": [(7, b"abcdef")],
            "\0": [(7, b"123456")],
        }
        assert snapshot.skipped()[0].skipped.detail == "detail \0"
        assert snapshot.retired("01")[0].title_path == ("title \0",)


def shared_contents(server: PostgresServer, *texts: str) -> int:
    """Count the contents whose text is one of these."""
    known = {packed("a.py", text)[1].text for text in texts}
    with psycopg.connect(server.url) as connection:
        rows = connection.execute(b"SELECT text FROM satchel.contents").fetchall()
    return sum(bytes(text) in known for (text,) in rows)


def test_a_content_of_many_segments_is_kept_once_and_goes_with_the_last(
    server: PostgresServer, tmp_path: Path
) -> None:
    text = f"def only_in_{tmp_path.name.replace('-', '_')}():\n    pass\n"
    one, two = (open_store(server.place(tmp_path / name)) for name in ("one", "two"))
    put(one, {"a.py": text, "vendored/b.py": text})
    put(two, {"fork/a.py": text})
    assert shared_contents(server, text) == 1
    with one.write() as writer:
        writer.drop_file("a.py")
        writer.drop_file("vendored/b.py")
    assert shared_contents(server, text) == 1
    with closing(two.snapshot()) as snapshot:
        assert snapshot.text("fork/a.py") == text and snapshot.chunks("fork/a.py")[0].path == "fork/a.py"
    put(two, {"fork/a.py": "x = 1\n"})
    assert shared_contents(server, text) == 0


def test_what_a_killed_writer_left_is_swept_but_not_while_somebody_writes(
    server: PostgresServer, store: Store, tmp_path: Path
) -> None:
    text = f"def orphan_of_{tmp_path.name.replace('-', '_')}():\n    pass\n"
    put(store, {"a.py": CODE})
    with suppress(ValueError), store.write() as writer:
        writer.put_file(*packed("b.py", text))
        assert writer.snapshot.text("b.py") == text
        list(writer.snapshot.all_symbols())  # everything is written before it is read
        raise ValueError("stop")
    assert shared_contents(server, text) == 1 and paths(store) == ["a.py"]
    database = store._database  # type: ignore[attr-defined]
    with store.write():
        assert sweep(database) == 0
    sweep(database)
    assert shared_contents(server, text) == 0 and paths(store) == ["a.py"]


def test_two_writers_of_the_same_contents_neither_wait_nor_fail(
    server: PostgresServer, tmp_path: Path
) -> None:
    files = {f"n{number}.py": f"def f{number}():\n    return {number}\n" for number in range(60)}
    stores = [open_store(server.place(tmp_path / name)) for name in ("one", "two")]
    with stores[0].write() as first:
        for path, text in files.items():
            first.put_file(*packed(path, text))
        list(first.snapshot.all_symbols())
        thread = threading.Thread(target=put, args=(stores[1], dict(reversed(files.items()))))
        thread.start()
        thread.join(timeout=20)
        assert not thread.is_alive() and len(paths(stores[1])) == 60
    assert len(paths(stores[0])) == 60


# --- generations, locks and round trips -------------------------------------------------------------------


def connections(server: PostgresServer) -> int:
    return int(server.ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'satchel'"))


def test_snapshots_of_many_segments_share_a_connection(server: PostgresServer, tmp_path: Path) -> None:
    stores = [open_store(server.place(tmp_path / str(number))) for number in range(30)]
    for number, store in enumerate(stores):
        put(store, {f"n{number}.md": f"# {number}\n"})
    held = [store.snapshot() for store in stores]
    assert connections(server) <= 4
    put(stores[3], {"new.md": "# New\n"})
    newer = [store.snapshot() for store in stores]
    assert [record.path for record in held[3].files()] == ["n3.md"]
    assert [record.path for record in newer[3].files()] == ["n3.md", "new.md"]
    for number, snapshot in enumerate(held):
        assert snapshot.text(f"n{number}.md") == f"# {number}\n"  # all but one have moved to the newer view
    assert connections(server) <= 5
    for snapshot in (*held, *newer):
        snapshot.close()
    open_transactions = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
    assert server.ask(open_transactions) == 0


def test_warm_reads_take_one_trip_each(store: Store) -> None:
    put(store, {"a.py": CODE, "b.py": "x = 1\n"})
    for number in (1, 2, 3):
        with store.write() as writer:
            run = PostingRun(number, b"\0" * 8, b"\0" * 4, b"\0" * 8)
            writer.put_run(run, [(term, b"123456") for term in ("alpha", "beta")])
    with closing(store.snapshot()) as snapshot:
        snapshot.files()
        snapshot.posting_runs()
        snapshot.postings_many(["alpha"])
        trips: list[str] = []
        tables = snapshot._tables  # type: ignore[attr-defined]
        rows = tables.rows
        tables.rows = lambda statement, *values, **named: (
            trips.append(statement) or rows(statement, *values, **named)
        )
        snapshot.postings_many(["alpha", "beta", "gamma"])
        snapshot.outlines(["a.py", "b.py"])
        snapshot.edges(["a.py", "b.py"])
        assert len(trips) == 3


def test_an_index_that_is_read_or_written_is_not_removed(store: Store) -> None:
    siblings = store.siblings()
    other = siblings.open("one")
    put(other, {"a.py": CODE})
    with closing(other.snapshot()):
        siblings.remove("one")
        assert siblings.names() == ["one"]
    with other.write():
        siblings.remove("one")
    assert siblings.names() == ["one"]
    siblings.remove("one")
    assert siblings.names() == [] and not other.exists()


def test_a_writer_goes_on_while_readers_stay(store: Store) -> None:
    put(store, {"a.py": CODE})
    with closing(store.snapshot()) as reader:
        for number in range(3):
            put(store, {"a.py": f"x = {number}\n"})
        assert reader.text("a.py") == CODE and reader.generation == 1


_HALF = """
import sys
from builders import packed
from satchel.storage import open_store
with open_store(sys.argv[1]).write() as writer:
    for number in range(50):
        writer.put_file(*packed(f"n{number}.py", f"def half_{number}(): pass\\n"))
    writer.drop_file("a.py")
    list(writer.snapshot.all_symbols())
    print("half", flush=True)
    sys.stdin.read()
"""


def killed_writer(place: str) -> subprocess.Popen[bytes]:
    """A process that has written half of a generation."""
    writer = subprocess.Popen(
        [sys.executable, "-c", _HALF, place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment({"PYTHONPATH": str(Path(__file__).parent.parent)}),
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"half\n"
    return writer


def test_a_killed_client_leaves_the_last_generation_and_no_lock(
    server: PostgresServer, tmp_path: Path
) -> None:
    place = server.place(tmp_path)
    store = open_store(place, lock_wait_seconds=10)
    put(store, {"a.py": CODE})
    writer = killed_writer(place)
    assert store.is_locked() and paths(store) == ["a.py"]
    with pytest.raises(IndexBusy), open_store(place, lock_wait_seconds=0).write():
        pass
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    put(store, {"b.py": "x = 1\n"})
    assert paths(store) == ["a.py", "b.py"]
    with closing(store.snapshot()) as snapshot:
        assert snapshot.symbol_names("half", 5) == [] and snapshot.generation == 2


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may kill."""
    made = shared_server().another()
    yield made
    made.stop()


def test_a_killed_server_loses_nothing_that_was_complete(own_server: PostgresServer, tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    place = own_server.place("shop")
    with Engine.open(root, index_dir=place) as engine:
        engine.refresh()
        before = engine.search("basket total")[0]
        held = engine.snapshot()
        make_tree(root, {"new.py": "def sell_unicorns():\n    pass\n"})
        with pytest.raises(ConfigError) as raised, engine.store.write() as writer:
            writer.put_file(*packed("half.py", CODE))
            list(writer.snapshot.all_symbols())
            own_server.kill()
            writer.drop_file("README.md")
        assert "cannot be used" in raised.value.message
        with pytest.raises(ConfigError):
            engine.search("basket total")
        for _ in range(2):  # also a reader that has found out goes on later
            with pytest.raises(ConfigError):
                held.text("src/basket.py")
        own_server.start()
        assert engine.search("basket total")[0] == before  # nothing changed, so the reader goes on
        assert held.text("src/basket.py") == SHOP["src/basket.py"] and held.file("half.py") is None
        engine.refresh()
        assert engine.search("sell unicorns")[0][0].path == "new.py"
        assert "half.py" not in [record.path for record in engine.snapshot().files()]


def test_connections_that_waited_while_the_server_was_restarted_are_not_used(
    own_server: PostgresServer,
) -> None:
    one, two = (open_store(own_server.place(name)) for name in ("one", "two"))
    put(one, {"a.py": CODE})
    put(two, {"b.py": CODE})
    own_server.kill()
    own_server.start()
    assert paths(one) == ["a.py"] and two.exists()
    held = one.snapshot()  # of a view in which the other store was not read
    own_server.kill()
    own_server.start()
    assert paths(two) == ["b.py"] and held.file("a.py") is not None
    own_server.kill()
    own_server.start()
    put(two, {"c.py": CODE})
    assert paths(two) == ["b.py", "c.py"]


# --- damage -----------------------------------------------------------------------------------------------


def full_store(store: Store) -> None:
    with store.write() as writer:
        for number in range(6):
            path = f"n{number}.py"
            writer.put_file(
                *packed(
                    path, f"import os\n\n\nclass Name{number}:\n    def total(self):\n        return os.sep\n"
                )
            )
            targets = tuple(Target(f"n{at}.py", f"f{at}") for at in range(number))
            edges = FileEdges(targets, tuple((at, at, Rule.IMPORT) for at in range(number)))
            writer.put_edges(path, edges, [target.path for target in targets])
        run = PostingRun(writer.next_run(), b"\1\0\0\0\1\0\0\0", b"abcd", b"lines...")
        writer.put_run(run, [(f"term{number:02}", bytes([number] * 6)) for number in range(20)])
        writer.put_skipped([SkippedRecord(Skipped(f"s{at}", SkipReason.BINARY), 1, 2) for at in range(3)])
        writer.retire([RetiredChunk(f"{number:016x}", "old.md", ("A",), "ab" * 32) for number in range(5)])
        writer.put_scip("n1.py", "ab" * 32, ScipUses("shown", ("total",), (Target("b.py"),), ((3, 0, 0, 1),)))
        writer.put_history(b"history")


def answers(store: Store) -> list[object]:
    """Everything that a snapshot says; an error that names damage stands for an answer."""

    def answer(ask: Callable[[], object]) -> object:
        try:
            return ask()
        except IndexProblem:
            return None

    try:
        snapshot: Snapshot = store.snapshot()
    except IndexProblem:
        return []
    names = [f"n{number}.py" for number in range(6)]
    with closing(snapshot):
        digest = "0" * 15 + "3"
        by_file = (
            snapshot.file,
            snapshot.text,
            snapshot.chunks,
            snapshot.symbols,
            snapshot.facts,
            snapshot.references,
            snapshot.parsed,
            snapshot.edges_mark,
            lambda name: snapshot.outlines([name]),
            lambda name: snapshot.edges([name]),
            lambda name: snapshot.consulting([name]),
        )
        asked: list[Callable[[], object]] = [partial(ask, name) for ask in by_file for name in names]
        asked += [partial(snapshot.symbols_named, f"name{number}") for number in range(6)]
        asked += [snapshot.files, snapshot.posting_runs, snapshot.skipped, snapshot.history, snapshot.extent]
        asked += [partial(snapshot.retired, digest), partial(snapshot.retired, "0"), snapshot.scip_documents]
        asked += [partial(snapshot.scip_uses, "n1.py"), lambda: list(snapshot.all_symbols())]
        asked += [lambda: dict(snapshot.postings_many([f"term{number:02}" for number in range(20)]))]
        return [answer(ask) for ask in asked]


DAMAGES = {
    "state": "UPDATE satchel.segments SET state = state || '\\x00' WHERE number = {segment}",
    "state of another": "UPDATE satchel.segments SET row_check = row_check + 1 WHERE number = {segment}",
    "a file lost": "DELETE FROM satchel.files WHERE segment = {segment} AND number = 3",
    "all files lost": "DELETE FROM satchel.files WHERE segment = {segment}",
    "a file record": "UPDATE satchel.files SET data = overlay(data placing '\\x07' from 9 for 1)"
    " WHERE segment = {segment} AND number = 2",
    "digests": "UPDATE satchel.files SET digests = overlay(digests placing '\\x07' from 3 for 1)"
    " WHERE segment = {segment}",
    "another content": "UPDATE satchel.files SET content = (SELECT content FROM satchel.files"
    " WHERE segment = {segment} AND number = 1) WHERE segment = {segment} AND number = 2",
    "a content lost": "DELETE FROM satchel.contents WHERE key IN"
    " (SELECT content FROM satchel.files WHERE segment = {segment} AND number = 4)",
    **{
        f"{column} emptied": f"UPDATE satchel.contents SET {column} = '' WHERE key IN"
        " (SELECT content FROM satchel.files WHERE segment = {segment})"
        for column in ("text", "extras", "outline", "facts", "chunks", "symbols")
    },
    "a name lost": "DELETE FROM satchel.names WHERE segment = {segment} AND folded = 'name4'",
    "counts lost": "DELETE FROM satchel.name_counts WHERE segment = {segment}",
    "names exchanged": "UPDATE satchel.names SET folded = 'total2', file = 2"
    " WHERE segment = {segment} AND folded = 'name4'",
    "edges lost": "DELETE FROM satchel.edges WHERE segment = {segment} AND file = 5",
    "edges emptied": "UPDATE satchel.edges SET data = '' WHERE segment = {segment} AND file = 5",
    "consulted emptied": "UPDATE satchel.edges SET consulted = '' WHERE segment = {segment} AND file = 5",
    "a run lost": "DELETE FROM satchel.runs WHERE segment = {segment}",
    "a run": "UPDATE satchel.runs SET lengths = 'abce' WHERE segment = {segment}",
    "a directory": "UPDATE satchel.runs SET directory = directory || '\\x00' WHERE segment = {segment}",
    "a block lost": "DELETE FROM satchel.blocks WHERE segment = {segment}",
    "a block": "UPDATE satchel.blocks SET data = overlay(data placing '\\x07' from 30 for 1)"
    " WHERE segment = {segment}",
    "a skipped row": "DELETE FROM satchel.skipped WHERE segment = {segment} AND path = 's1'",
    "an ended id": "DELETE FROM satchel.retired WHERE segment = {segment} AND number = 4",
    "a SCIP document": "UPDATE satchel.scip SET data = '\\x00' WHERE segment = {segment}",
    "the history": "UPDATE satchel.histories SET data = 'histery' WHERE segment = {segment}",
}


@pytest.mark.parametrize("name", list(DAMAGES))
def test_damage_is_noticed_and_mended_by_building_anew(
    server: PostgresServer, store: Store, name: str
) -> None:
    full_store(store)
    good = answers(store)
    assert None not in good
    segment = store._number()[0]  # type: ignore[attr-defined]
    with psycopg.connect(server.url) as connection:
        assert connection.execute(DAMAGES[name].format(segment=segment).encode()).rowcount
    found = answers(store)
    assert not found or None in found
    assert all(answer in (None, expected) for answer, expected in zip(found, good, strict=False))
    assert "!" in store.set_aside()
    full_store(store)
    assert answers(store) == good


def test_a_damaged_index_is_set_aside_and_built_anew_with_a_note(
    server: PostgresServer, tmp_path: Path
) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    with Engine.open(root, index_dir=server.place(tmp_path)) as engine:
        engine.refresh()
        segment = engine.store._number()[0]  # type: ignore[attr-defined]
        server.ask(f"DELETE FROM satchel.files WHERE segment = {segment} RETURNING 1")
        make_tree(root, {"new.md": "# Brand new\n"})
        engine.refresh()
        assert "set aside" in " ".join(engine.notes)
        assert engine.search("brand new")[0][0].path == "new.md"


def test_tables_of_a_newer_version_are_not_touched(own_server: PostgresServer) -> None:
    store = open_store(own_server.place("shop"))
    put(store, {"a.py": CODE})
    own_server.ask(f"UPDATE satchel.versions SET version = {SCHEMA_VERSION + 1} RETURNING 1")
    code = (
        "import sys; from satchel.storage import open_store; from satchel.errors import IndexIncompatible\n"
        "store = open_store(sys.argv[1])\n"
        "for ask in (store.snapshot, lambda: store.write().__enter__()):\n"
        "    try: ask()\n"
        "    except IndexIncompatible as error: print(error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, own_server.place("shop")], capture_output=True, env=clean_environment()
    )
    assert done.stdout.count(b"update Satchel") == 2, done.stderr


def test_tables_of_an_older_version_are_migrated_by_the_next_writer(own_server: PostgresServer) -> None:
    with psycopg.connect(own_server.url) as connection:
        for statement in ("CREATE SCHEMA satchel", *MIGRATIONS[0], "UPDATE satchel.versions SET version = 1"):
            connection.execute(statement.encode())
    store = open_store(own_server.place("shop"))
    with pytest.raises(IndexStale, match="older Satchel"):
        store.snapshot()
    put(store, {"a.py": CODE})
    assert paths(store) == ["a.py"]
    assert own_server.ask("SELECT version FROM satchel.versions") == SCHEMA_VERSION > 1
    assert own_server.ask("SELECT count(*) FROM satchel.queue") == 0


def test_a_database_that_may_not_be_written_is_a_typed_error(server: PostgresServer, tmp_path: Path) -> None:
    store = open_store(server.place(tmp_path) + "&options=-c%20default_transaction_read_only%3Don")
    with pytest.raises(ConfigError, match="read-only"), store.write():
        pass


def test_a_sweep_and_a_writer_hold_each_other_up_only_shortly(server: PostgresServer, store: Store) -> None:
    put(store, {"a.py": CODE})
    with psycopg.connect(server.url, autocommit=True) as sweeper:
        sweeper.execute(f"SELECT pg_advisory_lock({CONTENT_LOCK}, 0)".encode())
        thread = threading.Thread(target=put, args=(store, {"b.py": CODE}))
        thread.start()
        thread.join(timeout=0.5)
        assert thread.is_alive()
    thread.join(timeout=20)
    assert paths(store) == ["a.py", "b.py"]
