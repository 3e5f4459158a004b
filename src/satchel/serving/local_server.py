"""Answer the command lines of the same user and folder from a process that has loaded everything.

A server that keeps an index fresh listens on a private socket (`local_client` says where). It answers a
command line only if it gives the bytes that the command itself would: same version, same settings in the
environment, an index that is fresh now, no file of the machine named. Everything else it declines, and the
command answers by itself.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from satchel import plugins, settings
from satchel.commands.command import Command, Group
from satchel.commands.freshness import ReindexResult
from satchel.commands.session import Session, refuse_local_paths
from satchel.errors import PathNotAllowed
from satchel.plugins import late
from satchel.rendering.packs import PACK_FORMATS
from satchel.serving.cli_output import CapturedOutput, CliOutput
from satchel.serving.envelope import Call
from satchel.serving.local_client import (
    ACCEPTED,
    deciding_environment,
    is_private,
    peer_user,
    receive_request,
    socket_folder,
    socket_path,
)
from satchel.serving.served_project import KnownFreshener, KnownFreshness, ServedProject

if TYPE_CHECKING:
    from satchel.serving import cli_flags, cli_run
else:  # few servers are ever asked by a command line
    cli_flags, cli_run = late("satchel.serving.cli_flags"), late("satchel.serving.cli_run")

_BACKLOG = 16  # command lines that wait to be accepted; one more answers by itself
_LOOK_SECONDS = 1.0  # between two looks whether a newer server of the root is still there
_REQUEST_SECONDS = 2.0  # for a request to arrive, which is sent at once
_CALL_SECONDS = 120.0  # as over HTTP
_FRESH_MS = 15_000  # an index that takes longer is brought up to date by the command itself, with progress
_ANSWERED = (Group.ASK, Group.LOOK)  # the groups of commands that only read
_HELP = re.compile(r"--h|-[^-]*h")  # also shortened, and beside another letter: it would be printed here


class Declined(Exception):
    """This command line is better answered by its own process."""


class LocalServer:
    """Listens for the command lines of one served root, in a thread, until it is closed."""

    def __init__(self, project: ServedProject) -> None:
        self._project = project
        self._environment, self._user_stamp = deciding_environment(), settings.user_stamp()
        self._path = socket_path(str(project.root))
        self._socket: socket.socket | None = None
        self._inode = 0  # of the socket at the path
        self._moving = threading.Lock()  # held while the socket is replaced or closed
        self._is_closed = False

    def start(self) -> None:
        """Start to listen. Where that is impossible, command lines answer by themselves as ever."""
        with suppress(OSError, AttributeError):  # no such sockets here, or a folder that cannot be made
            folder = socket_folder()
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if not self._path or not is_private(folder):
                return
            self._take_path()
            threading.Thread(target=self._run, daemon=True, name="satchel-local").start()

    def close(self) -> None:
        """Stop listening and remove the socket, unless another server has taken its place."""
        with self._moving:
            self._is_closed = True
            if self._socket is None:
                return
            self._socket.close()
            with suppress(OSError):
                if os.stat(self._path).st_ino == self._inode:
                    os.unlink(self._path)

    def _take_path(self) -> None:
        """Listen at the path of the root."""
        self._socket = _listen(self._path)
        self._socket.settimeout(_LOOK_SECONDS)
        self._inode = os.stat(self._path).st_ino

    def _run(self) -> None:
        while not self._is_closed:
            assert self._socket is not None
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                self._take_path_again()
                continue
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _take_path_again(self) -> None:
        """Listen at the path of the root once more if the newer server that took it has ended."""
        with self._moving, suppress(OSError):
            if self._is_closed or not _is_deserted(self._path, self._inode):
                return
            old = self._socket
            self._take_path()
            if old is not None:
                old.close()

    def _serve(self, connection: socket.socket) -> None:
        """Answer one command line, or decline it."""
        # Whoever does not read on answers by itself, and a broken request is no reason to end.
        with connection, suppress(OSError, ValueError):
            connection.settimeout(_REQUEST_SECONDS)
            if peer_user(connection) != os.getuid():
                return
            folder, streams, environment, words = receive_request(connection)
            output = CapturedOutput(is_terminal=streams.startswith("t"))
            try:
                self._check(folder, environment, words)
                connection.sendall(ACCEPTED)
                code = cli_run.run_words(words, output, self._open)
            # Also after a defect: the command meets it by itself and reports it where it is seen.
            except Exception:
                return
            connection.settimeout(_CALL_SECONDS)
            for part in (str(code).encode(), bytes(output.beside), bytes(output.answer)):
                connection.sendall(len(part).to_bytes(4, "big") + part)

    def _check(self, folder: str, environment: dict[str, str], words: list[str]) -> None:
        """Raise Declined unless these words, typed in that folder, mean this root and only read its index."""
        if environment != self._environment or settings.user_stamp() != self._user_stamp:
            raise Declined
        if not words or any(_HELP.match(word) for word in words):
            raise Declined
        command = plugins.find("command", words[0])
        if not isinstance(command, Command) or command.group not in _ANSWERED or not command.fresh:
            raise Declined
        options = cli_flags.make_parser(command).parse_args(words[1:])
        # Flags may be shortened, so that only their values tell.
        if options.index_dir or options.no_server or cli_run.asks_many(options):
            raise Declined
        if getattr(options, "no_refresh", False):
            raise Declined
        # The served folder may have been moved, and another one be in its place by now.
        meant = {str(Path(folder) / cli_run.root_of(options)), str(self._project.root)}
        if {socket_path(root) for root in meant} != {self._path}:
            raise Declined
        try:
            refuse_local_paths(command, cli_flags.read_request(command, options, for_terminal=False))
        except PathNotAllowed:
            raise Declined from None

    @contextmanager
    def _open(self, options: argparse.Namespace, command: Command, output: CliOutput) -> Iterator[Session]:
        """Open the served index for one command, once it covers every change made before."""
        updater = self._project.updater
        assert updater is not None
        reindex = updater.wait_until_fresh(_FRESH_MS)
        is_current = reindex is None or reindex.result is ReindexResult.OK
        if not is_current or updater.state is None or updater.notes:
            raise Declined
        known = KnownFreshness(None, updater.state, None)
        profile = settings.chosen_profile(options.profile)  # not that of `serve --profile`
        with self._project.taken(Call(seconds=_CALL_SECONDS), profile) as engine:
            yield Session(
                engine, PACK_FORMATS, freshener=KnownFreshener(known), project=str(cli_run.root_of(options))
            )


def _is_deserted(path: str, own: int) -> bool:
    """Return whether nobody listens at a path: neither we, whose socket there has the number `own`, nor
    another server."""
    try:
        if os.stat(path).st_ino == own:
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
            trial.settimeout(_REQUEST_SECONDS)
            trial.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return True
    except OSError:  # somebody is there and busy
        return False
    return False


def _listen(path: str) -> socket.socket:
    """Return a socket that listens at a path; the newest server of a root takes it."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            os.unlink(path)
        bound.bind(path)
        os.chmod(path, 0o600)  # nobody else can enter the folder, before as after
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound
