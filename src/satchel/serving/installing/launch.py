"""The clients of this machine, and the command line by which they start our server."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from satchel import plugins
from satchel.errors import InvalidRequest, ProjectNotFound, Unsupported
from satchel.serving.clients import FIXED, Client, InstallScope, Machine, Registration

PROGRAM = "satchel"
DEFAULT_SEGMENT = "."  # the value of --segment if it is not given


def current_machine(segment: str) -> Machine:
    """Return this machine, with `segment` as the project."""
    project = Path(segment)
    if not project.is_dir():
        raise ProjectNotFound(
            f"{segment!r} is not a folder", hint="give the root of a repository or any folder"
        )
    return Machine(Path.home(), project.resolve(), dict(os.environ), sys.platform)


def all_clients() -> list[Client]:
    """Return every client that Satchel knows."""
    return [plugins.load("client", name) for name in plugins.names("client")]


def find_client(name: str) -> Client:
    """Return a client by the name that people type."""
    known = {client.label: client for client in all_clients()}
    client = known.get(name.strip().lower().replace("_", "-"))
    if client is None:
        raise Unsupported(f"unknown client {name!r}", hint=f"known: {', '.join(known)}")
    return client


def is_installed(client: Client, machine: Machine) -> bool:
    """Return whether the client is on this machine: one of its folders or programs exists."""
    if any(folder.on(machine).is_dir() for folder in client.marks):
        return True
    return any(find_program(name, machine) for name in client.executables)


def installed_clients(machine: Machine) -> list[Client]:
    """Return the clients of this machine; raise if there is none."""
    found = [client for client in all_clients() if is_installed(client, machine)]
    if not found:
        names = ", ".join(client.label for client in all_clients())
        raise InvalidRequest("no agent client was found on this machine", hint=f"name one: --client {names}")
    return found


def find_program(name: str, machine: Machine) -> str | None:
    """Return the path of a program on PATH; None if it is not there."""
    return shutil.which(name, path=machine.environment.get("PATH", ""))


def executable() -> list[str]:
    """Return the command that starts Satchel: its script, or this Python with our package."""
    name = f"{PROGRAM}.exe" if sys.platform == "win32" else PROGRAM
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (folder / name).is_file():
            return [str(folder / name)]
    return [sys.executable, "-m", PROGRAM]


def is_shareable(machine: Machine) -> bool:
    """Return whether the bare name starts this very program, so that settings with it work for everybody."""
    found, own = find_program(PROGRAM, machine), executable()
    return found is not None and len(own) == 1 and os.path.samefile(found, own[0])


def hook_command(scope: InstallScope, machine: Machine) -> str:
    """Return the command line that a client's shell runs on every prompt."""
    program = [PROGRAM] if scope is InstallScope.PROJECT and is_shareable(machine) else executable()
    words = [*program, "hook"]
    return subprocess.list2cmdline(words) if machine.platform == "win32" else shlex.join(words)


def server_command(
    registration: Registration, scope: InstallScope, machine: Machine, segment: str
) -> list[str]:
    """Return the command line that starts our server.

    The server of a user answers for the project that is open, unless `segment` names a folder.
    """
    program = [PROGRAM] if scope is InstallScope.PROJECT and is_shareable(machine) else executable()
    wanted = str(machine.project) if registration.segment == FIXED else registration.segment
    if scope is InstallScope.USER and segment != DEFAULT_SEGMENT:
        wanted = str(machine.project)
    return [*program, "serve", "mcp", *(["--segment", wanted] if wanted else [])]
