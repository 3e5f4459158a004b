"""How a client starts our server: which program, with which words, for which folder."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from satchel import plugins
from satchel.errors import InvalidRequest, ProjectNotFound, Unsupported
from satchel.serving.clients.client import FIXED, Client, Link, Machine, Scope

PROGRAM = "satchel"
HERE = "."  # what --segment is when nobody gave it


def machine(segment: str) -> Machine:
    """This machine, with a project."""
    project = Path(segment)
    if not project.is_dir():
        raise ProjectNotFound(
            f"{segment!r} is not a folder", hint="give the root of a repository or any folder"
        )
    return Machine(Path.home(), project.resolve(), dict(os.environ), sys.platform)


def clients() -> list[Client]:
    """Every client that is known."""
    return [plugins.load("client", name) for name in plugins.names("client")]


def named(name: str) -> Client:
    """A client by the name that people type."""
    known = {client.label: client for client in clients()}
    client = known.get(name.strip().lower().replace("_", "-"))
    if client is None:
        raise Unsupported(f"unknown client {name!r}", hint=f"known: {', '.join(known)}")
    return client


def is_found(client: Client, where: Machine) -> bool:
    """Whether the client is on this machine: one of its folders or programs is."""
    if any(folder.on(where).is_dir() for folder in client.marks):
        return True
    return any(on_path(name, where) for name in client.executables)


def found(where: Machine) -> list[Client]:
    """The clients of this machine; none is an error that says which there could be."""
    there = [client for client in clients() if is_found(client, where)]
    if not there:
        names = ", ".join(client.label for client in clients())
        raise InvalidRequest("no agent client was found on this machine", hint=f"name one: --client {names}")
    return there


def on_path(name: str, where: Machine) -> str | None:
    return shutil.which(name, path=where.environment.get("PATH", ""))


def executable() -> list[str]:
    """The program of this environment; without one, this Python with our package."""
    name = f"{PROGRAM}.exe" if sys.platform == "win32" else PROGRAM
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (folder / name).is_file():
            return [str(folder / name)]
    return [sys.executable, "-m", PROGRAM]


def is_shareable(where: Machine) -> bool:
    """Whether the bare name starts this very program, so that a file with it works for everybody."""
    there, own = on_path(PROGRAM, where), executable()
    return there is not None and len(own) == 1 and os.path.samefile(there, own[0])


def command(link: Link, scope: Scope, where: Machine, segment: str) -> list[str]:
    """The whole command line. A user's server follows the project that is open, unless a folder was named."""
    program = [PROGRAM] if scope is Scope.PROJECT and is_shareable(where) else executable()
    wanted = str(where.project) if link.segment == FIXED else link.segment
    if scope is Scope.USER and segment != HERE:
        wanted = str(where.project)
    return [*program, "serve", "mcp", *(["--segment", wanted] if wanted else [])]
