"""A running server answers the command lines of its folder: the same bytes, nothing heavy loaded, never stale."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from satchel.serving import local_client

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such sockets there")

SHOP = Path(__file__).parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "shop"
    shutil.copytree(SHOP, folder, ignore=shutil.ignore_patterns("_ctx"))
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    # A socket's path has at most 107 bytes, and pytest's folders are long.
    folder = Path("/tmp") / f"satchel-test-{os.getpid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return {**os.environ, "XDG_RUNTIME_DIR": str(folder)}


@pytest.fixture(scope="module")
def served(shop: Path, environment: dict[str, str]) -> Iterator[Path]:
    command = [sys.executable, "-m", "satchel", "watch", "--segment", str(shop)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield shop
        process.terminate()
    path = Path(environment["XDG_RUNTIME_DIR"]) / "satchel" / Path(local_client.socket_path(str(shop))).name
    assert not path.exists(), "the socket was left behind"
    shutil.rmtree(environment["XDG_RUNTIME_DIR"])


@contextmanager
def serving(words: list[str], root: Path, environment: dict[str, str]) -> Iterator[None]:
    """Run a server of a root, which answers command lines while the context lasts."""
    command = [sys.executable, "-m", "satchel", *words, "--segment", str(root)]
    path = Path(environment["XDG_RUNTIME_DIR"]) / "satchel" / Path(local_client.socket_path(str(root))).name
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            while not path.exists():
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


def run(words: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "satchel", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def loads_the_engine(words: list[str], folder: Path, environment: dict[str, str]) -> bool:
    command = [sys.executable, "-X", "importtime", "-m", "satchel", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True, timeout=60)
    return b"satchel.engine" in done.stderr


LINES = [
    ["search", "what happens when the bank is busy", "-k", "2"],
    ["search", "bank", "--json", "--explain"],
    ["search", ""],
    ["search", "bank", "--profile", "nonsense"],
    ["search", "bank", "--nonsense"],
    ["pack", "how is a payment retried", "--budget-tokens", "400"],
    ["pack", "how is a payment retried", "--budget-tokens", "5", "--format", "json"],
    ["refs", "pay"],
    ["get", "shop/payment.py:11:13", "nothing:0123456789"],
    ["map", "--json"],
    ["symbols", "shop/basket.py"],
    ["search", "bank", "--segment", "."],
]


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_the_server_gives_the_bytes_of_the_command_itself(
    words: list[str], served: Path, environment: dict[str, str]
) -> None:
    assert run(words, served, environment) == run([*words, "--no-server"], served, environment)


def test_a_served_question_loads_no_engine(served: Path, environment: dict[str, str]) -> None:
    assert not loads_the_engine(["search", "bank"], served, environment)
    assert not loads_the_engine(["search", "bank", "-s", str(served)], served.parent, environment)
    assert loads_the_engine(["search", "bank", "--no-server"], served, environment)


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["search", "bank"], {"SATCHEL_PROFILE": "fast"}),
        (["search", "bank"], {"NO_COLOR": "1"}),
        (["search", "bank", "--index-dir", "elsewhere"], {}),
        (["status"], {}),
        (["search", "bank", "--no-refresh"], {}),
        (["search", "bank", "--no-ref"], {}),
        (["search", "bank", "--no-serv"], {}),
        (["search", "bank", "--inde", "elsewhere"], {}),
    ],
)
def test_whatever_may_differ_is_answered_by_the_command_itself(
    words: list[str], changed: dict[str, str], served: Path, environment: dict[str, str]
) -> None:
    assert loads_the_engine(words, served, {**environment, **changed})


def test_an_edit_is_in_the_next_answer(served: Path, environment: dict[str, str]) -> None:
    file = served / "shop" / "payment.py"
    for number in range(5):
        file.write_text(file.read_text() + f"\ndef refund_{number}() -> None:\n    '''Give it back.'''\n")
        code, answer, _ = run(["search", f"refund_{number}", "-k", "1"], served, environment)
        assert code == 0 and f"def refund_{number}()".encode() in answer


def test_only_the_user_can_connect(served: Path, environment: dict[str, str]) -> None:
    folder = Path(environment["XDG_RUNTIME_DIR"]) / "satchel"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]


def test_a_folder_that_others_can_enter_is_not_believed(served: Path, environment: dict[str, str]) -> None:
    folder = Path(environment["XDG_RUNTIME_DIR"]) / "satchel"
    folder.chmod(0o755)
    try:
        assert loads_the_engine(["search", "bank"], served, environment)
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("junk", [b"", b"\0", b"\xff" * 8, b"\0\0\0\x05a\0b\0c", b"\0\0\0\x07a\0ff\x009\0"])
def test_a_broken_request_is_dropped(junk: bytes, served: Path, environment: dict[str, str]) -> None:
    (path,) = (Path(environment["XDG_RUNTIME_DIR"]) / "satchel").iterdir()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(path))
        connection.sendall(junk)
        connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):  # where bytes were left unread
            assert connection.recv(10) == b""
    assert not loads_the_engine(["search", "bank"], served, environment)


def test_a_server_that_says_nothing_is_not_waited_for(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def bank():\n    pass\n")
    monkeypatch.setenv("XDG_RUNTIME_DIR", environment["XDG_RUNTIME_DIR"])
    Path(local_client.socket_folder()).mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(local_client.socket_path(str(tmp_path)))
        silent.listen()
        started = time.monotonic()
        code, answer, _ = run(["search", "bank"], tmp_path, environment)
        assert code == 0 and b"a.py:1" in answer and time.monotonic() - started < 30
    os.unlink(local_client.socket_path(str(tmp_path)))


def test_a_folder_that_was_moved_is_not_answered_from_the_one_in_its_place(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    place, moved = tmp_path / "place", tmp_path / "moved"
    place.mkdir()
    (place / "a.py").write_text("def bank():\n    pass\n")
    with serving(["watch"], place, environment):
        place.rename(moved)
        place.mkdir()
        (place / "b.py").write_text("def basket():\n    pass\n")
        time.sleep(2)  # until the server has looked at the new folder
        _, answer, _ = run(["search", "bank"], moved, environment)
    assert b"a.py:1" in answer


def test_the_profile_of_the_server_is_not_that_of_the_command(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    shutil.copytree(SHOP, tmp_path / "shop", ignore=shutil.ignore_patterns("_ctx"))
    words = ["search", "what happens when the bank is busy", "--json", "--explain"]
    alone = run([*words, "--no-server"], tmp_path / "shop", environment)
    with serving(["serve", "http", "--port", "0", "--profile", "fast"], tmp_path / "shop", environment):
        assert run(words, tmp_path / "shop", environment) == alone
        assert not loads_the_engine(words, tmp_path / "shop", environment)


def test_settings_of_the_user_that_changed_since_are_not_ignored(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    shutil.copytree(SHOP, tmp_path / "shop", ignore=shutil.ignore_patterns("_ctx"))
    (tmp_path / "satchel").mkdir()
    environment = {**environment, "XDG_CONFIG_HOME": str(tmp_path)}
    with serving(["watch"], tmp_path / "shop", environment):
        (tmp_path / "satchel" / "config.toml").write_text("nonsense = 1\n")
        code, _, said = run(["search", "bank"], tmp_path / "shop", environment)
    assert code == 6 and b"nonsense" in said


@pytest.mark.parametrize("flag", ["--hel", "--h", "-h"])
def test_help_is_printed_by_the_command_and_not_by_the_server(
    flag: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "a.py").write_text("def bank():\n    pass\n")
    command = [sys.executable, "-m", "satchel", "watch", "--segment", str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        code, answer, _ = run(["search", "bank", flag], tmp_path, environment)
        process.terminate()
        assert b"usage" not in process.stdout.read()
    assert code == 0 and answer.startswith(b"usage: satchel search")


@pytest.mark.parametrize("end", [subprocess.Popen.terminate, subprocess.Popen.kill])
def test_when_a_newer_server_ends_the_older_one_answers_again(
    end: Callable[[subprocess.Popen[bytes]], None], served: Path, environment: dict[str, str]
) -> None:
    path = Path(environment["XDG_RUNTIME_DIR"]) / "satchel" / Path(local_client.socket_path(str(served))).name
    command = [sys.executable, "-m", "satchel", "watch", "--segment", str(served)]
    before = path.stat().st_ino
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as newer:
        while path.stat().st_ino == before:
            time.sleep(0.05)
        assert not loads_the_engine(["search", "bank"], served, environment)
        end(newer)
    deadline = time.monotonic() + 20
    while loads_the_engine(["search", "bank"], served, environment):
        assert time.monotonic() < deadline
