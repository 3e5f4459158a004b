"""An exported index serves another copy of the tree, by content; whatever else a file may be is refused."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import SHOP, make_tree, run_cli

from satchel import Engine
from satchel.errors import (
    FileNotFound,
    IndexCorrupt,
    IndexIncompatible,
    InvalidRequest,
    SatchelError,
    TooLarge,
    Unsupported,
)
from satchel.serving.cli import main
from satchel.storage import index_archive


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    with Engine.open(make_tree(tmp_path / "built", SHOP)) as engine:
        engine.refresh()
        assert engine.export_index(tmp_path / "index.satchel") == (tmp_path / "index.satchel").stat().st_size
    return tmp_path / "index.satchel"


def copy(tmp_path: Path) -> Engine:
    root = make_tree(tmp_path / "other", SHOP)
    for path in root.rglob("*.*"):
        os.utime(path, (1, 1))
    return Engine.open(root)


def answers(engine: Engine) -> object:
    hits, _ = engine.search("basket total price", k=5)
    return hits, engine.references("add_money"), engine.pack("basket total price").items


def test_an_imported_index_needs_no_parser_and_answers_as_one_that_was_built(
    archive: Path, tmp_path: Path
) -> None:
    with copy(tmp_path) as engine, Engine.open(tmp_path / "built") as built:
        report = engine.import_index(archive)
        assert (report.parsed, report.touched) == (0, len(SHOP))
        assert answers(engine) == answers(built)
        assert engine.refresh().changed is False
        assert sorted(path.name for path in (engine.root / "_ctx" / "refs").glob("**/*")) == []


def test_files_of_other_times_and_the_same_content_are_called_kept(archive: Path, tmp_path: Path) -> None:
    with copy(tmp_path) as engine:
        (engine.root / "README.md").unlink()
        done = run_cli("index", "import", archive, "-s", engine.root)
    assert f"0 parsed, 0 moved, 1 dropped, {len(SHOP) - 1} kept" in done.stdout.decode(), done


def test_only_what_differs_is_parsed(archive: Path, tmp_path: Path) -> None:
    with copy(tmp_path) as engine:
        (engine.root / "src" / "money.py").write_text("def add_money():\n    return 1\n")
        (engine.root / "README.md").unlink()
        report = engine.import_index(archive)
        assert (report.parsed, report.dropped) == (1, 1)
        fresh = Engine.open(make_tree(tmp_path / "third", {}))
        for path in engine.root.rglob("*.*"):
            if "_ctx" not in path.parts and path.is_file():
                make_tree(fresh.root, {path.relative_to(engine.root).as_posix(): path.read_bytes()})
        fresh.refresh()
        assert answers(engine) == answers(fresh)


def test_an_index_that_is_there_takes_what_it_lacks(archive: Path, tmp_path: Path) -> None:
    with Engine.open(make_tree(tmp_path / "other", {"README.md": SHOP["README.md"]})) as engine:
        engine.refresh()
        make_tree(engine.root, SHOP)
        report = engine.import_index(archive)
        assert report.parsed == 0
        assert report.moved == len(SHOP) - 1


def test_by_the_command_line(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(make_tree(tmp_path / "other", SHOP))
    assert main(["index", "import", str(archive), "-s", root]) == 0
    assert "already up to date" in capsys.readouterr().out
    assert main(["index", "export", str(tmp_path / "again.satchel"), "-s", root]) == 0
    assert "Exported:" in capsys.readouterr().out
    assert main(["index", "export", "-s", root]) == 2
    assert main(["index", "import", str(tmp_path / "absent"), "-s", root]) == 3
    assert main(["index", "import", str(archive), "--force", "-s", root]) == 2


def rewritten(
    archive: Path, edit: Callable[[dict[str, object]], object] | None = None, body: bytes = b""
) -> Path:
    head, _, packed = archive.read_bytes().partition(b"\n")
    said = json.loads(head)
    if edit is not None:
        edit(said)
    archive.write_bytes(json.dumps(said).encode() + b"\n" + (body or packed))
    return archive


def with_database(archive: Path, change: Callable[[sqlite3.Connection], object]) -> Path:
    """The archive with another database whose size and hash its first line states."""
    packed = archive.read_bytes().partition(b"\n")[2]
    path = archive.with_suffix(".db")
    path.write_bytes(zlib.decompress(packed))
    connection = sqlite3.connect(path)
    change(connection)
    connection.commit()
    connection.close()
    data = path.read_bytes()
    return rewritten(
        archive,
        lambda said: said.update(size=len(data), sha256=hashlib.sha256(data).hexdigest()),
        zlib.compress(data),
    )


def lie(connection: sqlite3.Connection) -> None:
    """Put another text into the index."""
    connection.execute("UPDATE contents SET text = ?", (zlib.compress(b"lies\n"),))


BOMB = zlib.compress(b"\0" * 50_000_000, 9)
HOSTILE: dict[str, tuple[Callable[[Path], object], type[SatchelError]]] = {
    "another version": (lambda path: rewritten(path, lambda said: said.update(schema=99)), IndexIncompatible),
    "other settings": (
        lambda path: rewritten(path, lambda said: said.update(signature="x")),
        IndexIncompatible,
    ),
    "a bomb": (lambda path: rewritten(path, None, BOMB), IndexCorrupt),
    "a stated bomb": (lambda path: rewritten(path, lambda said: said.update(size=1 << 50)), TooLarge),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-100]), IndexCorrupt),
    "another hash": (lambda path: rewritten(path, lambda said: said.update(sha256="0" * 64)), IndexCorrupt),
    "no archive": (lambda path: path.write_bytes(os.urandom(5_000)), IndexCorrupt),
    "empty": (lambda path: path.write_bytes(b""), IndexCorrupt),
    "a trigger": (
        lambda path: with_database(
            path,
            lambda one: one.execute("CREATE TRIGGER t AFTER UPDATE ON files BEGIN DELETE FROM files; END"),
        ),
        IndexCorrupt,
    ),
    "a view": (
        lambda path: with_database(path, lambda one: one.execute("CREATE VIEW v AS SELECT 1")),
        IndexCorrupt,
    ),
    "another text": (lambda path: with_database(path, lie), IndexCorrupt),
    "no database": (
        lambda path: rewritten(
            path,
            lambda said: said.update(size=4, sha256=hashlib.sha256(b"none").hexdigest()),
            zlib.compress(b"none"),
        ),
        IndexCorrupt,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_and_leaves_nothing(name: str, archive: Path, tmp_path: Path) -> None:
    spoil, error = HOSTILE[name]
    spoil(archive)
    before = set(tmp_path.rglob("*"))
    with copy(tmp_path) as engine:
        with pytest.raises(error):
            engine.import_index(archive)
        assert not engine.store.exists()
        left = {path for path in tmp_path.rglob("*") if path not in before and "other" not in path.parts}
        assert left == set()
        assert not list((engine.root / "_ctx" / "refs").glob("**/*"))


def test_a_text_that_differs_from_its_file_is_refused_although_its_row_is_right(
    archive: Path, tmp_path: Path
) -> None:
    """An index of a tree that lies about its content: every row is as it was written."""
    with Engine.open(
        make_tree(tmp_path / "liar", {**SHOP, "src/money.py": "def add_money():\n    return 0\n"})
    ) as engine:
        engine.refresh()
        true = hashlib.sha256(str(SHOP["src/money.py"]).encode()).hexdigest()
        record = engine.snapshot().file("src/money.py")
        assert record is not None
        with copy(tmp_path) as other:
            given = _Lying(engine.snapshot(), record.file_hash, true)
            with pytest.raises(IndexCorrupt, match=r"another text of src/money\.py"):
                other._check_texts(given)  # type: ignore[arg-type]


class _Lying:
    """A snapshot that states another hash for one content."""

    def __init__(self, snapshot: object, old: str, new: str) -> None:
        self._snapshot, self._hashes = snapshot, {old: new}

    def files(self) -> list[object]:
        import msgspec

        records = self._snapshot.files()  # type: ignore[attr-defined]
        return [
            msgspec.structs.replace(one, file_hash=self._hashes.get(one.file_hash, one.file_hash))
            for one in records
        ]

    def text(self, path: str) -> str:
        return self._snapshot.text(path)  # type: ignore[attr-defined, no-any-return]


def test_what_cannot_be_exported_says_so(tmp_path: Path) -> None:
    with Engine.open(make_tree(tmp_path / "shop", SHOP), index_dir="memory:") as engine:
        engine.refresh()
        with pytest.raises(Unsupported):
            engine.export_index(tmp_path / "x")
        with pytest.raises((FileNotFound, Unsupported, InvalidRequest)):
            engine.import_index(tmp_path / "absent")


def test_the_limit_is_named() -> None:
    assert index_archive.MOST_BYTES == 16 << 30


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True)


def test_a_linked_work_tree_starts_from_the_index_of_another(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "main", SHOP)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    with Engine.open(root) as engine:
        engine.refresh()
        git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
        (tmp_path / "linked" / "src" / "money.py").write_text("def add_money():\n    return 1\n")
        with Engine.open(tmp_path / "linked") as linked:
            report = linked.refresh()
            assert (report.parsed, report.touched) == (1, len(SHOP) - 1)
            assert "return 1" in linked.snapshot().text("src/money.py")
        assert "return 1" not in engine.snapshot().text("src/money.py")
    with Engine.open(tmp_path / "linked" / "src") as part:
        assert part.refresh().parsed > 0  # another folder has no index to start from


def test_a_git_file_of_an_archive_leads_to_no_index(tmp_path: Path) -> None:
    """An unpacked folder claims to be a work tree of a repository that does not know it."""
    root = make_tree(tmp_path / "main", SHOP)
    git(root, "init", "-q")
    with Engine.open(root) as engine:
        engine.refresh()
    hostile = make_tree(tmp_path / "hostile", SHOP)
    (hostile / ".git").write_text(f"gitdir: {root}/.git\n")
    with Engine.open(hostile) as engine:
        report = engine.refresh()
        assert (report.parsed, report.touched) == (len(SHOP), 0)
