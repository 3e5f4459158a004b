"""The checks of `doctor`: the installation, the index of a folder, and every client. They change nothing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from satchel import extras
from satchel._version import __version__
from satchel.embedding import LEXICAL, model_id
from satchel.errors import ConfigError, SatchelError
from satchel.plugins import late
from satchel.serving.clients import Client, InstallScope, Machine
from satchel.serving.installing import instructions, launch
from satchel.serving.installing.installer import Installer, RegisteredServer

if TYPE_CHECKING:
    from satchel import engine
else:
    engine = late("satchel.engine")


class CheckLevel(StrEnum):
    """The result of a check. Only a problem keeps Satchel from working."""

    OK = "ok"
    WARN = "warn"
    PROBLEM = "problem"


class DoctorCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one check; `next` is what to do about it."""

    topic: str
    level: CheckLevel
    detail: str
    next: str = ""


def check_installation(machine: Machine) -> Iterator[DoctorCheck]:
    """Check Python, Satchel and the programs and packages that they need."""
    version = ".".join(str(number) for number in sys.version_info[:3])
    yield DoctorCheck("python", CheckLevel.OK, f"{version} at {sys.executable}")
    yield DoctorCheck("satchel", CheckLevel.OK, f"{__version__} at {' '.join(launch.executable())}")
    if launch.is_shareable(machine):
        yield DoctorCheck("path", CheckLevel.OK, "`satchel` on PATH is this one")
    else:
        other = launch.find_program(launch.PROGRAM, machine)
        detail = f"`satchel` on PATH is another one: {other}" if other else "`satchel` is not on PATH"
        folder = Path(launch.executable()[0]).parent
        yield DoctorCheck(
            "path", CheckLevel.WARN, detail, f"put {folder} on PATH, to share a project's settings"
        )
    git = shutil.which("git", path=machine.environment.get("PATH", ""))
    if git:
        yield DoctorCheck("git", CheckLevel.OK, git)
    else:
        yield DoctorCheck(
            "git", CheckLevel.WARN, "not found", "install git: ignore rules and history come from it"
        )
    yield _check_servers()
    model = model_id()
    if model == LEXICAL:
        yield DoctorCheck(
            "model", CheckLevel.WARN, "no word vectors: ranking by words alone", "install Satchel again"
        )
    else:
        yield DoctorCheck("model", CheckLevel.OK, model)


def _check_servers() -> DoctorCheck:
    """Return which servers can be started with the packages that are installed."""
    able = [name for name in ("http", "grpc", "mcp") if extras.is_installed(name)]
    lacking = [name for name in ("http", "grpc", "mcp") if name not in able]
    if lacking:
        detail = f"{', '.join(lacking)} cannot be served: packages are not installed"
        return DoctorCheck("servers", CheckLevel.WARN, detail, extras.install_command("serve"))
    return DoctorCheck("servers", CheckLevel.OK, ", ".join(able))


def check_index(machine: Machine) -> Iterator[DoctorCheck]:
    """Check the index of the project."""
    try:
        with engine.Engine.open(machine.project) as opened:
            state, store, location = opened.state(), opened.store, opened.store.location
    except SatchelError as error:
        yield DoctorCheck("index", CheckLevel.PROBLEM, error.message, error.hint)
        return
    reasons = ", ".join(reason.value for reason in state.stale_reasons)
    if not state.exists:
        yield DoctorCheck(
            "index", CheckLevel.WARN, f"none yet for {machine.project}", "satchel index; or just ask"
        )
    elif not state.readable:
        yield DoctorCheck(
            "index", CheckLevel.PROBLEM, f"{location}: {reasons}", "satchel index builds a new one"
        )
    elif state.stale:
        yield DoctorCheck(
            "index", CheckLevel.WARN, f"{location}: stale, {reasons}", "the next question refreshes it"
        )
    else:
        yield DoctorCheck("index", CheckLevel.OK, f"{location}: fresh")
    if store.scratch is not None:
        yield _check_folder(store.scratch)
    if store.is_locked():
        yield DoctorCheck(
            "lock", CheckLevel.WARN, "another process is indexing now", "wait; answers come from before"
        )


def _check_folder(folder: Path) -> DoctorCheck:
    """Check that the folder of the index can be written, or created."""
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return DoctorCheck("folder", CheckLevel.OK, f"{folder} can be written")
    advice = "give yourself the right to, or keep indexes elsewhere: SATCHEL_HOME=DIR"
    return DoctorCheck("folder", CheckLevel.PROBLEM, f"{nearest} cannot be written", advice)


def check_client(client: Client, machine: Machine) -> Iterator[DoctorCheck]:
    """Check whether a client is installed, has our server, and could start it."""
    is_registered = False
    for scope in InstallScope:
        try:
            installer = Installer(machine, scope)
            server = installer.find_server(client)
            if server is not None:
                is_registered = True
                yield _check_server(client, scope, server, machine)
                yield from _check_instructions(client, scope, installer)
        except ConfigError as error:
            is_registered = True
            yield DoctorCheck(client.label, CheckLevel.PROBLEM, error.message, error.hint)
    if is_registered:
        return
    if launch.is_installed(client, machine):
        advice = f"satchel install --client {client.label}"
        yield DoctorCheck(client.label, CheckLevel.WARN, "found, not linked", advice)
    else:
        yield DoctorCheck(client.label, CheckLevel.OK, "not found on this machine")


def _check_server(
    client: Client, scope: InstallScope, server: RegisteredServer, machine: Machine
) -> DoctorCheck:
    """Check that the program of a server entry exists."""
    again = f"satchel install --client {client.label} --scope {scope}"
    program = launch.find_program(server.program, machine) if server.program else None
    if program is None:
        detail = f"{server.path} ({scope}) starts {server.program!r}, which is not there"
        return DoctorCheck(client.label, CheckLevel.PROBLEM, detail, again)
    return DoctorCheck(client.label, CheckLevel.OK, f"linked in {server.path} ({scope})")


def _check_instructions(client: Client, scope: InstallScope, installer: Installer) -> Iterator[DoctorCheck]:
    """Check that the instructions of a client are there and current."""
    found = installer.find_instructions(client)
    if found is None:
        return
    path, block = found
    again = f"satchel install --client {client.label} --scope {scope}"
    if block is None:
        yield DoctorCheck(client.label, CheckLevel.WARN, f"no instructions in {path}", again)
    elif not instructions.is_current(block):
        yield DoctorCheck(client.label, CheckLevel.WARN, f"instructions of another version in {path}", again)
    else:
        yield DoctorCheck(client.label, CheckLevel.OK, f"instructions in {path}")
