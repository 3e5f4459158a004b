"""Work trees share one file: each answers as an index of its own, and loses nothing with the others."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from builders import SHOP, clean_environment, dump, git, git_repo, make_tree

from satchel import Engine
from satchel.errors import IndexCorrupt, PathNotAllowed, SatchelError

pytestmark = pytest.mark.usefixtures("default_store")


@pytest.fixture
def trees(tmp_path: Path) -> list[Path]:
    """A repository and three linked work trees, each with its index."""
    found = [git_repo(tmp_path / "main", SHOP)]
    for name in ("one", "two", "three"):
        git(found[0], "worktree", "add", "-q", "--detach", str(tmp_path / name))
        found.append(tmp_path / name)
    for root in found:
        with Engine.open(root) as engine:
            engine.refresh()
    return found


def base(root: Path) -> Path:
    return root / "_ctx" / "context.db-base"


def everything(engine: Engine) -> object:
    """Return all that an index says and answers, without its numbers and times."""
    snapshot, found = engine.snapshot(), dump(engine)
    for values in found["files"].values():
        values["record"] = values["record"][2:]
    names = sorted({item.symbol.name for item in snapshot.all_symbols()})
    named = [snapshot.symbols_named(name) for name in (*names, "nowhere")]
    consulting = {path: snapshot.consulting([path]) for path in found["files"]}
    return found, named, consulting, snapshot.symbol_names("", 500), snapshot.extent().file_count


def alone(root: Path, folder: Path) -> Engine:
    """Return an engine over the same folder whose index takes nothing from another one."""
    shutil.rmtree(folder, ignore_errors=True)
    engine = Engine.open(root, index_dir=folder)
    engine.refresh(force=True)
    return engine


def test_work_trees_after_the_first_share_its_file_and_answer_alike(trees: list[Path]) -> None:
    main, one, two, three = trees
    assert not base(main).exists()
    assert base(one).samefile(base(two)) and base(two).samefile(base(three))
    with Engine.open(main) as first, Engine.open(three) as last:
        assert everything(first) == everything(last)
        assert last.store.size_bytes() == (three / "_ctx" / "context.db").stat().st_size


def test_edits_of_a_work_tree_are_its_own(trees: list[Path], tmp_path: Path) -> None:
    root, chance = trees[3], random.Random(3)
    written = base(root).read_bytes()
    with Engine.open(trees[2]) as other:
        before = everything(other)
    for step in range(12):
        path = root / chance.choice(sorted(SHOP))
        if step % 4 == 3:
            path.unlink(missing_ok=True)
        elif step % 4 == 2:
            (root / f"src/new{step}.py").write_text(f"class New{step}:\n    total = {step}\n")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(SHOP[path.relative_to(root).as_posix()] + f"\n# edit {step} of the basket\n")
        with Engine.open(root) as engine, alone(root, tmp_path / "alone") as fresh:
            engine.refresh()
            assert everything(engine) == everything(fresh)
    assert base(root).read_bytes() == written
    with Engine.open(trees[2]) as other:
        assert everything(other) == before


def test_many_edits_merge_the_runs_of_the_base_too(trees: list[Path], tmp_path: Path) -> None:
    root = trees[3]
    for step in range(14):
        (root / "src" / "money.py").write_text(f"def add_money():\n    return 'basket {step}'\n")
        with Engine.open(root) as engine:
            engine.refresh()
    with Engine.open(root) as engine, alone(root, tmp_path / "alone") as fresh:
        assert len(engine.snapshot().run_sizes()) < 10
        assert everything(engine) == everything(fresh)


def test_work_trees_that_go_take_nothing_from_the_others(trees: list[Path]) -> None:
    main, one, two, three = trees
    with Engine.open(three) as engine:
        before = everything(engine)
    for root in (one, two, main):
        shutil.rmtree(root)
    with Engine.open(three) as engine:
        assert everything(engine) == before
    assert base(three).stat().st_nlink == 1


def test_an_index_built_anew_leaves_the_shared_file(trees: list[Path]) -> None:
    root = trees[3]
    with Engine.open(root) as reader, Engine.open(root) as engine:
        before = everything(reader)
        engine.refresh(force=True)
        assert not base(root).exists() and base(trees[2]).stat().st_nlink == 2
        assert everything(engine) == before
        with reader.pinned():
            assert everything(reader) == before


@pytest.mark.parametrize("trouble", ["gone", "of another index", "cut off", "no database"])
def test_a_base_that_is_another_one_is_noticed_and_the_index_built_anew(
    trees: list[Path], tmp_path: Path, trouble: str
) -> None:
    root = trees[3]
    with Engine.open(root) as engine:
        before = everything(engine)
    data = base(root).read_bytes()
    base(root).unlink()
    if trouble == "of another index":
        with Engine.open(make_tree(tmp_path / "other", SHOP)) as other:
            other.refresh()
        shutil.copyfile(tmp_path / "other" / "_ctx" / "context.db", base(root))
    elif trouble != "gone":
        base(root).write_bytes(data[: len(data) // 2] if trouble == "cut off" else b"no database" * 999)
    with Engine.open(root) as engine, pytest.raises(IndexCorrupt):
        everything(engine)
    with Engine.open(root) as engine:
        engine.refresh()
        engine.snapshot()
        if trouble == "cut off":  # noticed by who reads what is missing
            engine.rebuild(IndexCorrupt("the index is damaged", hint=""))
        assert everything(engine) == before
    with Engine.open(trees[2]) as other:
        assert everything(other) == before


def test_no_flipped_bit_of_the_base_gives_a_wrong_answer(trees: list[Path]) -> None:
    root, chance = trees[3], random.Random(7)
    with Engine.open(root) as engine:
        good = everything(engine)
    data = base(root).read_bytes()
    base(root).unlink()
    noticed = 0
    for _ in range(30):
        flipped = bytearray(data)
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        base(root).write_bytes(flipped)
        with Engine.open(root) as engine:
            try:
                assert everything(engine) == good
            except SatchelError:
                noticed += 1
    assert noticed


def test_a_base_that_is_a_link_is_refused(trees: list[Path], tmp_path: Path) -> None:
    root = trees[3]
    os.replace(base(root), tmp_path / "elsewhere")
    base(root).symlink_to(tmp_path / "elsewhere")
    with Engine.open(root) as engine, pytest.raises(PathNotAllowed):
        engine.snapshot()


def test_an_index_that_rests_on_another_is_exported_whole(trees: list[Path], tmp_path: Path) -> None:
    root = trees[3]
    (root / "src" / "money.py").write_text("def add_money():\n    return 'changed'\n")
    with Engine.open(root) as engine:
        engine.refresh()
        engine.export_index(tmp_path / "index.satchel")
        files = {path: text for path in SHOP if (text := (root / path).read_text())}
        with Engine.open(make_tree(tmp_path / "other", files)) as other:
            assert other.import_index(tmp_path / "index.satchel").parsed == 0
            assert everything(engine) == everything(other)


_START = """
import sys
from satchel import Engine
with Engine.open(sys.argv[1]) as engine:
    engine.refresh()
"""


def test_a_start_that_is_killed_leaves_no_half_index(trees: list[Path]) -> None:
    root = trees[3]
    with Engine.open(root) as engine:
        before = everything(engine)
    for milliseconds in (120, 180, 240, 300, 360):
        shutil.rmtree(root / "_ctx")
        child = subprocess.Popen([sys.executable, "-c", _START, str(root)], env=clean_environment())
        time.sleep(milliseconds / 1000)
        child.send_signal(signal.SIGKILL)
        child.wait()
        with Engine.open(root) as engine:
            engine.refresh()
            assert everything(engine) == before
        names = {path.name for path in (root / "_ctx").iterdir()}
        assert not {name for name in names if ".new" in name or "unusable" in name}


def test_a_disk_without_links_gets_a_copy(trees: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    root = trees[3]
    with Engine.open(root) as engine:
        before = everything(engine)
    shutil.rmtree(root / "_ctx")
    monkeypatch.setattr(os, "link", refuse)
    with Engine.open(root) as engine:
        engine.refresh()
        assert everything(engine) == before
    assert base(root).stat().st_nlink == 1


def test_a_base_is_never_written(trees: list[Path]) -> None:
    with (
        closing(sqlite3.connect(base(trees[3]))) as connection,
        Engine.open(trees[3]) as engine,
    ):
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        (trees[3] / "src" / "money.py").write_text("def add_money():\n    return 2\n")
        engine.refresh()
    names = {path.name for path in (trees[3] / "_ctx").glob("context.db-base*")}
    assert names == {"context.db-base"}
