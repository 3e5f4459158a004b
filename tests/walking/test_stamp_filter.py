"""Looking at many paths at once finds exactly what a look at each of them finds."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_stat_cache import remembered, settle_early

from satchel.walking import stamp_filter, stat_cache
from satchel.walking.stamp_filter import FILE_NUMBER, SIZE

linux_only = pytest.mark.skipif(
    sys.platform != "linux" or sys.byteorder != "little", reason="elsewhere every path is looked at by itself"
)
_TICK_SECONDS = 0.02
FOLDERS, FILES_IN_EACH = 7, 40
EDITED = "d3/f7.py"  # neither in the first nor in the last batch


def _write_again(root: Path) -> None:
    """Change the content of a file, but neither its size nor its modification time."""
    before = os.stat(root / EDITED)
    (root / EDITED).write_text("x = 9\n")
    os.utime(root / EDITED, ns=(before.st_atime_ns, before.st_mtime_ns))


def _put_in_place(root: Path) -> None:
    """Put another file of the same size and modification time in the place of a file."""
    before = os.stat(root / EDITED)
    (root / "new").write_text("x = 9\n")
    os.utime(root / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    (root / "new").replace(root / EDITED)


CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda root: None,
    "same size and time": _write_again,
    "another file of the same size and time": _put_in_place,
    "longer": lambda root: (root / EDITED).write_text("x = 10\n"),
    "other rights": lambda root: (root / EDITED).chmod(0o600),
    "a link to the same content": lambda root: [
        (root / EDITED).rename(root / "d3/f0.py"),
        (root / EDITED).symlink_to("f0.py"),
    ],
    "a folder in its place": lambda root: [(root / EDITED).unlink(), (root / EDITED).mkdir()],
    "gone": lambda root: (root / EDITED).unlink(),
    "its folder gone": lambda root: shutil.rmtree(root / "d3"),
    "a file in the place of its folder": lambda root: [
        shutil.rmtree(root / "d3"),
        (root / "d3").write_text("x"),
    ],
    "a link in the place of its folder": lambda root: [
        (root / "d3").rename(root.parent / "away"),
        (root / "d3").symlink_to(root.parent / "away"),
    ],
    "its folder cannot be entered": lambda root: (root / "d3").chmod(0o000),
    "a new file": lambda root: (root / "d3/new.py").write_text("x = 1\n"),
    "the last file": lambda root: (root / f"d{FOLDERS - 1}/f9.py").write_text("x = 1\ny = 1\n"),
}


@pytest.fixture
def project(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with more files than are looked at together, all of one size."""
    settle_early(monkeypatch)
    names = (f"d{one}/f{other}.py" for one in range(FOLDERS) for other in range(FILES_IN_EACH))
    root = write(dict.fromkeys(names, "x = 1\n"))
    time.sleep(_TICK_SECONDS)
    yield root
    if (root / "d3").is_dir():
        (root / "d3").chmod(0o755)


def kept_stamps(root: Path, memory: Path) -> stat_cache.StatCache:
    tree = remembered(root, memory)
    kept = stat_cache.load(memory, tree.cache_key("k"))
    assert kept is not None
    return kept


@contextmanager
def many_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the filter for this small tree as well."""
    with monkeypatch.context() as patched:
        patched.setattr(stamp_filter, "_WORTHWHILE", 1)
        yield


@pytest.mark.parametrize("name", CHANGES)
def test_a_filtered_look_finds_what_a_look_at_each_path_finds(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "index").mkdir()
    time.sleep(_TICK_SECONDS)
    kept = kept_stamps(project, tmp_path / "index" / "context.walk")
    CHANGES[name](project)
    each = stat_cache.find_changes(project, kept)
    with many_at_once(monkeypatch):
        assert stat_cache.find_changes(project, kept) == each
    unchanged = stat_cache.Changes({}, {})
    may_be_readable = name == "its folder cannot be entered" and os.name == "posix" and os.geteuid() == 0
    assert (each == unchanged) == (name == "nothing") or may_be_readable


def columns(root: Path, paths: list[bytes]) -> tuple[array[int], dict[int, array[int]]]:
    found = [os.lstat(os.fsencode(root) + b"/" + path) for path in paths]
    exact = {SIZE: [one.st_size for one in found], FILE_NUMBER: [one.st_ino for one in found]}
    times = array("q", [one.st_ctime_ns for one in found])
    return times, {field: array("q", numbers) for field, numbers in exact.items()}


@pytest.fixture
def looked_at(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[int]]]:
    """Returns the suspects among all files of the project, whose stamps were kept before."""
    paths = [os.fsencode(file.relative_to(project)) for file in sorted(project.glob("*/*.py"))]
    changed_ns, exact = columns(project, paths)
    folder = os.open(project, os.O_RDONLY)
    with many_at_once(monkeypatch):
        yield lambda: list(stamp_filter.find_suspects(folder, paths, changed_ns, exact))
    os.close(folder)


EVERYTHING = list(range(FOLDERS * FILES_IN_EACH))


@linux_only
def test_what_did_not_move_is_no_suspect(project: Path, looked_at: Callable[[], list[int]]) -> None:
    assert looked_at() == []
    _write_again(project)
    found = looked_at()
    edited = sorted(file.relative_to(project).as_posix() for file in project.glob("*/*.py")).index(EDITED)
    assert edited in found and len(found) == stamp_filter._AT_ONCE


@pytest.mark.parametrize("answer", [None, lambda *_: -1])
def test_without_answers_every_path_is_a_suspect(
    looked_at: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    monkeypatch.setattr(stamp_filter, "_load_statx", lambda: answer)
    assert looked_at() == EVERYTHING


def test_without_a_second_thread_every_path_is_a_suspect(
    looked_at: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert looked_at() == EVERYTHING


@linux_only
def test_what_a_thread_did_not_come_to_is_a_suspect(
    looked_at: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    look = stamp_filter._Part.look

    def fail_beside(part: stamp_filter._Part) -> None:
        if threading.current_thread() is threading.main_thread():
            look(part)

    monkeypatch.setattr(stamp_filter._Part, "look", fail_beside)
    assert looked_at() == EVERYTHING[len(EVERYTHING) // 2 :]
