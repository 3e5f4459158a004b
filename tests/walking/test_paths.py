from __future__ import annotations

import os
from pathlib import Path

import pytest

from satchel.errors import FileNotFound, PathNotAllowed
from satchel.walking import paths
from satchel.walking.paths import check_relative, open_inside

ESCAPES = [
    "/etc/passwd",
    "..",
    "../x",
    "a/../../x",
    "\\\\server\\share",
    "C:\\x",
    "c:x",
    "a\0b",
    "..\\x",
    "//x",
]


@pytest.fixture(params=["by folders", "by path"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of Windows is exercised here as well."""
    monkeypatch.setattr(paths, "_HAS_DIR_FD", request.param == "by folders" and os.name == "posix")


@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_leaves_the_root_is_refused(path: str) -> None:
    with pytest.raises(PathNotAllowed):
        check_relative(path)


@pytest.mark.parametrize(
    ("path", "normal"),
    [("./a//b", "a/b"), ("a\\b.py", "a/b.py"), ("a/../b", "b"), ("a/./b/", "a/b"), ("", "")],
)
def test_other_spellings_become_posix(path: str, normal: str) -> None:
    assert check_relative(path) == normal


def test_a_file_inside_is_read_whole_or_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.txt").write_bytes(b"x" * 3_000_000)
    assert len(open_inside(tmp_path, "a/b.txt")) == 3_000_000
    assert open_inside(tmp_path, "a\\b.txt", 5) == b"xxxxx"


def test_the_root_may_itself_be_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/f").write_bytes(b"ok")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert open_inside(tmp_path / "link", "f") == b"ok"


@pytest.mark.parametrize("name", ["file-link", "folder-link/secret", "loop", "loop-folder/x"])
def test_no_component_may_be_a_symlink(tmp_path: Path, name: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (root / "file-link").symlink_to(outside / "secret")
    (root / "folder-link").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    (root / "loop-folder").symlink_to(".")
    with pytest.raises(PathNotAllowed):
        open_inside(root, name)


def test_a_folder_swapped_for_a_symlink_while_opening_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (root / "a/f").write_text("inside")
    (outside / "f").write_text("outside")
    real_open = os.open

    def swap_then_open(path: object, flags: int, *args: int, **kwargs: int) -> int:
        if os.fsencode(path).endswith(b"f") and not (root / "a").is_symlink():  # type: ignore[arg-type]
            (root / "a").rename(root / "moved")
            (root / "a").symlink_to(outside)
        return real_open(path, flags, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swap_then_open)
    try:
        assert open_inside(root, "a/f") == b"inside"
    except PathNotAllowed:
        assert not paths._HAS_DIR_FD


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PathNotAllowed):
        open_inside(tmp_path, "pipe")


def test_a_folder_and_a_device_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for root, path in [(tmp_path, "folder"), (tmp_path, "."), (Path("/dev"), "null")]:
        with pytest.raises(PathNotAllowed):
            open_inside(root, path)


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFound):
        open_inside(tmp_path, "nothing/here")


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "l").symlink_to("f")
    before = len(os.listdir("/proc/self/fd"))
    for name in ["f", "l", "none", "f/x"] * 10:
        try:
            open_inside(tmp_path, name)
        except (FileNotFound, PathNotAllowed):
            continue
    assert len(os.listdir("/proc/self/fd")) == before
