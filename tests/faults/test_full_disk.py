"""A disk that is full or refuses: a typed error that says what to do, nothing half-written, the last good files whole."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders import age, clean_environment, make_tree, run_cli

from satchel.errors import ConfigError, InvalidRequest
from satchel.file_writing import cannot_write, disk_trouble, replace_file
from satchel.walking.own_output import GITIGNORE

DOCUMENTS = {
    f"docs/d{number}.md": f"# Doc {number}\n\nbasket total {number}\n\n" + f"{number} is a word. " * 400
    for number in range(12)
}
CONFIG_ERROR = 6
TEMPORARY = ("*.part", "*.new", "*.new-wal", "*.new-shm")
Done = subprocess.CompletedProcess[bytes]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root of a Linux can mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


def fill(disk: Path) -> None:
    """Leave no block of a disk free."""
    with open(disk / "filler", "wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(4096))
        except OSError as error:
            assert error.errno == errno.ENOSPC


def digests(folder: Path) -> dict[str, str]:
    """What the good files of an index folder hold."""
    names = ("context.db", "context_pack.json")
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def left_over(root: Path) -> list[Path]:
    return [path for pattern in TEMPORARY for path in root.rglob(pattern)]


def refused(done: Done, *said: str) -> None:
    """The command ended with the error of a disk that refuses, and not as a defect."""
    told = done.stderr.decode()
    assert done.returncode == CONFIG_ERROR, told
    assert "defect" not in told and "Traceback" not in told and "internal" not in told
    assert all(word in told for word in said), told


def test_a_full_disk_is_said_and_leaves_nothing(disk: Path) -> None:
    root = make_tree(disk / "repository", DOCUMENTS)
    fill(disk)
    for words in (("index",), ("build",), ("pack", "basket")):
        refused(run_cli(*words, "-s", root), "no space is left", "make room", "--index-dir")
    assert not left_over(root) and not (root / "_ctx" / "context.db").exists()
    ignored = root / "_ctx" / ".gitignore"
    assert not ignored.exists() or ignored.read_bytes() == GITIGNORE
    (disk / "filler").unlink()
    assert run_cli("build", "-s", root).returncode == 0
    assert ignored.read_bytes() == GITIGNORE


def test_the_last_good_index_and_pack_survive_a_full_disk(disk: Path) -> None:
    root = age(make_tree(disk / "repository", DOCUMENTS))
    assert run_cli("build", "-s", root).returncode == 0
    before = digests(root / "_ctx")
    fill(disk)
    (root / "docs" / "d1.md").write_bytes(b"# Another\n")  # it takes no more blocks than it had
    for words in (("build",), ("index", "--force")):
        refused(run_cli(*words, "-s", root), "no space is left")
    assert digests(root / "_ctx") == before and not left_over(root)
    assert b"basket" in run_cli("search", "basket", "-s", root, "--no-refresh").stdout
    (disk / "filler").unlink()
    assert run_cli("build", "-s", root).returncode == 0 and run_cli("validate", "-s", root).returncode == 0


def test_the_pack_alone_does_not_fit(disk: Path, tmp_path: Path) -> None:
    root = age(make_tree(tmp_path / "repository", DOCUMENTS))
    (disk / "pack.json").write_text("the last good one")
    fill(disk)
    done = run_cli("build", "-s", root, "--output", disk / "pack.json", "--json")
    error = json.loads(done.stdout)["error"]
    assert done.returncode == CONFIG_ERROR and error["code"] == "config_error"
    assert str(disk / "pack.json") in error["message"] and "no space is left" in error["message"]
    assert error["details"] == {"reason": "ENOSPC"} and "make room" in error["hint"]
    assert (disk / "pack.json").read_text() == "the last good one" and not left_over(disk)


def test_the_output_goes_to_a_full_disk(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")
    root = make_tree(tmp_path, DOCUMENTS)
    for words in (("pack", "basket"), ("prompt", "--json")):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "satchel", *words, "-s", root],
                env=clean_environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
        refused(done, "the output cannot be written: no space is left")


def limited(size: int) -> Callable[[], None]:
    """Let a process write no file longer than this."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.skipif(sys.platform == "win32", reason="processes have no limit of file sizes there")
@pytest.mark.parametrize("words", [("build",), ("index",), ("build", "--output", "out.json")])
def test_a_limit_of_file_sizes_is_said_and_leaves_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    root = age(make_tree(tmp_path, DOCUMENTS))
    if "--output" in words:  # the index is there, the pack is longer than the limit
        assert run_cli("index", "-s", root).returncode == 0
    done = subprocess.run(
        [sys.executable, "-m", "satchel", *words, "-s", root],
        env=clean_environment(),
        cwd=root,
        capture_output=True,
        check=False,
        preexec_fn=limited(30_000),
    )
    refused(done, "cannot be")
    assert not left_over(root) and not (root / "out.json").exists()


def test_a_read_only_disk_is_said(disk: Path) -> None:
    root = make_tree(disk / "repository", DOCUMENTS)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    refused(run_cli("build", "-s", root), "read-only", "--index-dir")
    elsewhere = run_cli(
        "build", "-s", root, "--index-dir", disk.parent / "index", "--output", disk / "p.json"
    )
    refused(elsewhere, "read-only", "p.json")


@pytest.mark.parametrize("name", ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM", "EIO"])
def test_what_a_disk_refuses_is_no_defect(name: str) -> None:
    error = OSError(getattr(errno, name), "as the system says")
    told = cannot_write("'pack.json'", error)
    assert isinstance(told, ConfigError) and told.details == {"reason": name} and told.hint
    assert told.message.startswith("'pack.json' cannot be written: ")
    assert disk_trouble(error) is not None and disk_trouble(BrokenPipeError(errno.EPIPE, "x")) is None


def test_a_name_that_cannot_be_a_file_is_a_wrong_request(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "x.json", tmp_path):
        with pytest.raises(InvalidRequest, match="cannot be written"):
            replace_file(path, b"x")
    assert not list(tmp_path.iterdir()) and not left_over(tmp_path.parent)
    done = run_cli("build", "-s", make_tree(tmp_path / "repository", DOCUMENTS), "--output", tmp_path)
    assert done.returncode == 2 and b"cannot be written" in done.stderr
