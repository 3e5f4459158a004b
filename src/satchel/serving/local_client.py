"""Let a running server of the same folder answer a command line: the client, and what both sides agree on.

`serve` and `watch` listen on a socket in a folder that only their user can enter. A command line that finds
one for its folder sends its words there and prints what comes back: the same bytes, without loading an index.
In every other case (no server, another version, other settings, a refusal) the command answers by itself.

A start of Python takes 15 ms, so this file imports nothing that a search would not be faster without.
"""

from __future__ import annotations

import os
import stat
import sys

from satchel._version import __version__

_PORTABLE = sys.platform != "win32"  # Python has no such sockets on Windows
_CONNECT_SECONDS = 0.3  # a listening server accepts at once
_ACCEPT_SECONDS = 1.0  # until the server says whether it answers; a busy machine included
_ANSWER_SECONDS = 120.0  # as long as servers give a call
_MAX_REQUEST = 1 << 20  # bytes: a question can be a long report
_MAX_ANSWER = 1 << 28

ACCEPTED = b"A"  # a server that declines closes the connection
NO_SERVER = "--no-server"
# Flags that lead to an index of another place, or to several.
_OTHER_INDEX = ("--repo-root", "-r", "--index-dir", "--library", NO_SERVER)
_SEGMENT = ("--segment", "-s")
# What may change an answer beside the words of the command line.
_DECIDING = ("SATCHEL_", "AGENT_", "GIT_", "XDG_CONFIG_HOME", "APPDATA", "HOME", "NO_COLOR")


def socket_folder() -> str:
    """Return the folder of this user's sockets; empty where there can be none."""
    if not _PORTABLE:
        return ""
    base = os.environ.get("XDG_RUNTIME_DIR")
    return os.path.join(base, "satchel") if base else f"/tmp/satchel-{os.getuid()}"


def is_private(folder: str) -> bool:
    """Return whether a folder is a real one that belongs to this user and that nobody else can enter."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def socket_path(root: str) -> str:
    """Return where a server of this root, by this version, listens; empty if the root is not there.

    The name holds the identity of the folder, so that every spelling of its path leads there.
    """
    try:
        found = os.stat(root)
    except (OSError, ValueError):
        return ""
    return os.path.join(socket_folder(), f"{found.st_dev:x}-{found.st_ino:x}-{__version__}")


def deciding_environment() -> dict[str, str]:
    """Return the environment variables that may change an answer."""
    return {name: value for name, value in os.environ.items() if name.startswith(_DECIDING)}


def ask_running_server(words: list[str]) -> int | None:
    """Have a running server answer a command line, print its answer and return its exit code; None if no
    server answered."""
    answer = fetch_answer(words)
    if answer is None:
        return None
    code, errors, output = answer
    _print(errors, output)
    return code


def fetch_answer(words: list[str], seconds: float = _ANSWER_SECONDS) -> tuple[int, bytes, bytes] | None:
    """Return the exit code, what was said beside and the answer of a running server to a command line; None
    if no server answered, or not within so many seconds."""
    root = _root_of(words)
    path = socket_path(root) if _PORTABLE and root else ""
    if not path or not os.path.exists(path) or not is_private(os.path.dirname(path)):
        return None
    import socket  # where no server runs, this would cost more than the look

    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_CONNECT_SECONDS)
            connection.connect(path)
            if peer_user(connection) != os.getuid():
                return None
            connection.sendall(encode_request(words))
            connection.settimeout(_ACCEPT_SECONDS)
            if receive(connection, 1) != ACCEPTED:
                return None
            connection.settimeout(seconds)
            code, errors, output = (receive_field(connection, _MAX_ANSWER) for _ in range(3))
            return int(code), errors, output
    except (OSError, ValueError):
        return None


def _root_of(words: list[str]) -> str:
    """Return the folder that a command line is about; empty if only the command itself can say it."""
    root = "."
    for index, word in enumerate(words):
        name, is_joined, value = word.partition("=")
        if name in _OTHER_INDEX or word.startswith(("-r", "--repo", "--index-", "--lib")):
            return ""
        if name in _SEGMENT:
            root = value if is_joined else "".join(words[index + 1 : index + 2])
        elif word.startswith(("-s", "--seg")):  # `-sDIR`, or a shortened flag
            return ""
    return root


def encode_request(words: list[str]) -> bytes:
    """Return a command line as bytes: where it was typed, for which streams, in which environment."""
    streams = "".join("t" if stream.isatty() else "f" for stream in (sys.stdout, sys.stderr))
    environment = [f"{name}={value}" for name, value in sorted(deciding_environment().items())]
    parts = [os.getcwd(), streams, str(len(environment)), *environment, *words]
    body = b"\0".join(os.fsencode(part) for part in parts)
    if len(body) > _MAX_REQUEST:
        raise ValueError("the command line is too long to be sent")
    return len(body).to_bytes(4, "big") + body


def receive_request(connection: object) -> tuple[str, str, dict[str, str], list[str]]:
    """Return the folder, the streams, the environment and the words of a request, as the server reads it."""
    folder, streams, count, *rest = (
        os.fsdecode(part) for part in receive_field(connection, _MAX_REQUEST).split(b"\0")
    )
    environment = dict(pair.split("=", 1) for pair in rest[: int(count)])
    return folder, streams, environment, rest[int(count) :]


def receive_field(connection: object, limit: int) -> bytes:
    """Return the next field, which has its length in front."""
    size = int.from_bytes(receive(connection, 4), "big")
    if size > limit:
        raise ValueError(f"a field has {size} bytes, the limit is {limit}")
    return receive(connection, size)


def receive(connection: object, size: int) -> bytes:
    """Return exactly so many bytes; raise if the other side ends before."""
    found = bytearray()
    while len(found) < size:
        part = connection.recv(min(size - len(found), 1 << 16))  # type: ignore[attr-defined]
        if not part:
            raise ValueError("the other side ended")
        found += part
    return bytes(found)


def peer_user(connection: object) -> int:
    """Return the user at the other end. Where the system does not tell, the private folder does: ours."""
    import socket

    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return os.getuid()
    found = connection.getsockopt(socket.SOL_SOCKET, option, 12)  # type: ignore[attr-defined]
    return int.from_bytes(found[4:8], sys.byteorder)  # process, user, group: three numbers of four bytes


def _print(errors: bytes, output: bytes) -> None:
    """Print what the command said and what it answered, as it would have itself."""
    if errors:
        sys.stderr.write(errors.decode("utf-8", "surrogateescape"))
        sys.stderr.flush()
    sys.stdout.flush()
    sys.stdout.buffer.write(output)
